#pragma once

#include "apiserver/registry/resource.h"

#include <memory>
#include <string_view>

namespace codeflare::apiserver {

// How `kubectl get` shows a built-in resource: the columns and cells of Kubernetes v1.34, with the
// wide ones. Null where upstream shows name and age only. Objects come in the served version.
std::shared_ptr<const TablePrinter> builtin_printer(std::string_view group,
                                                    std::string_view version,
                                                    std::string_view plural);

}  // namespace codeflare::apiserver
