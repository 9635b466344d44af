#pragma once

#include "apiserver/identity/rbac_policy.h"
#include "apiserver/store/store.h"
#include "base/async/task.h"
#include "base/env/env.h"
#include "base/result.h"
#include "json/value.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::apiserver {

// The name under which a store keeps the kind.
std::string_view collection_of(RbacKind kind);

// The roles and bindings that v1.34 makes at its first start, without uid and creation time.
struct BootstrapObject {
  RbacKind kind = RbacKind::cluster_role;
  json::Value object{};
};
std::vector<BootstrapObject> bootstrap_objects(json::Arena& arena);

// Makes those that are missing and completes the others, as upstream does at each start: rules,
// subjects, labels and annotations that have been taken away come back, what was added stays;
// whoever wants otherwise sets the annotation rbac.authorization.kubernetes.io/autoupdate to
// "false". One transaction; returns the number of objects written.
Task<Result<std::size_t>> reconcile_bootstrap_objects(Env env, Store& store);

}  // namespace codeflare::apiserver
