#pragma once

#include "apiserver/registry/resource.h"
#include "base/time.h"

#include <memory>
#include <string>
#include <string_view>

namespace codeflare::apiserver {

// How `kubectl get` shows a built-in resource: the columns and cells of Kubernetes v1.34, with the
// wide ones. Null where upstream shows name and age only. Objects come in the served version.
std::shared_ptr<const TablePrinter> builtin_printer(std::string_view group,
                                                    std::string_view version,
                                                    std::string_view plural);

// A time span with two or three digits of precision, as kubectl's users know it: 45s, 5m30s, 3h7m,
// 2d3h, 3y12d. Up to two seconds of clock skew count as none, more is "<invalid>".
std::string human_duration(Duration duration);

}  // namespace codeflare::apiserver
