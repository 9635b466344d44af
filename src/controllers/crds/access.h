#pragma once

#include "runtime/access.h"

namespace codeflare::controllers {

// `--install-crds` and `codeflare crds apply`.
inline constexpr runtime::Right kCrdRights[] = {
    {"get create patch", "apiextensions.k8s.io", "customresourcedefinitions",
     "definitions of our kinds"},
    {"get create patch", "admissionregistration.k8s.io",
     "validatingadmissionpolicies validatingadmissionpolicybindings",
     "policy that keeps the spec of AppWrappers from being changed"},
};

}  // namespace codeflare::controllers
