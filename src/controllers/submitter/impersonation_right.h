#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "kube/client.h"

#include <string>
#include <vector>

namespace codeflare::controllers {

// Of what we need to act in the name of submitters ("users", "uids.authentication.k8s.io"), what we
// may not impersonate at will: better said at the start than with every AppWrapper. Rights to
// certain names only are not seen by this.
Task<Result<std::vector<std::string>>> missing_impersonation_rights(kube::Client& client);

}  // namespace codeflare::controllers
