#pragma once

#include "apiserver/identity/rbac_policy.h"
#include "json/value.h"

#include <string>
#include <string_view>

namespace codeflare::apiserver::internal {

// "ClusterRole"
std::string_view kind_name(RbacKind kind);

// The text of an object that goes into the store past the pipeline, in the form the pipeline would
// have given it: otherwise the first write that changes nothing would count as a change.
std::string stored_text(RbacKind kind, const json::Value& object, json::Arena& arena);

}  // namespace codeflare::apiserver::internal
