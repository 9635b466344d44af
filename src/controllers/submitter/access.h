#pragma once

#include "runtime/access.h"

namespace codeflare::controllers {

// To create wrapped objects as their submitters.
inline constexpr runtime::Right kSubmitterRights[] = {
    {"impersonate", "", "users groups serviceaccounts",
     "creation of wrapped objects in the name of their submitters"},
    {"impersonate", "authentication.k8s.io", "*", "their UIDs and extra attributes"},
};
inline constexpr runtime::Right kSubmitterCheckRights[] = {
    {"create", "authorization.k8s.io", "selfsubjectaccessreviews",
     "check at the start that it may impersonate"},
};

}  // namespace codeflare::controllers
