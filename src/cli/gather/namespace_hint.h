#pragma once

#include "base/error.h"
#include "cli/session/session.h"

#include <string>

namespace codeflare::cli {

// A missing right to list in the namespace, with what -n may say instead: the namespaces that
// contexts of the kubeconfig name. Other errors stay as they are.
Error with_namespace_hint(Session& session, Error error, const std::string& ns);

}  // namespace codeflare::cli
