#pragma once

#include "runtime/access.h"

namespace codeflare::controllers::view {

inline constexpr runtime::Right kRights[] = {
    {"get", "workload.codeflare.dev", "appwrappers", "AppWrappers whose logs are read"},
    {"list", "", "pods", "pods of AppWrappers"},
    {"get", "", "pods/log", "logs through the view API"},
};

// Where the API is aggregated.
inline constexpr runtime::Right kRegisterRights[] = {
    {"create", "apiregistration.k8s.io", "apiservices", "registration of the view API"},
    {"get patch", "apiregistration.k8s.io", "apiservices", "registration of the view API",
     "v1alpha1.view.codeflare.dev"},
    {"create", "authorization.k8s.io", "subjectaccessreviews", "permissions of callers"},
};
// In the namespace kube-system only.
inline constexpr runtime::Right kFrontProxyRights[] = {
    {"get", "", "configmaps", "certificate authority of the aggregating API server",
     "extension-apiserver-authentication"},
};

}  // namespace codeflare::controllers::view
