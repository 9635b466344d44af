#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "cli/gather/manifest.h"
#include "cli/session/session.h"
#include "kube/discovery.h"
#include "model/gvk.h"

#include <string>

namespace codeflare::cli {

// Where the object of a manifest lives on the server.
struct Target {
  kube::ApiResource resource;
  model::ObjectKey key;  // without a name when the server makes one
};

// Asks the server which kind is meant, and settles the namespace: the object's own, else the
// session's. They must agree when one was asked for.
Task<Result<Target>> find_target(Session& session, Manifest manifest);

}  // namespace codeflare::cli
