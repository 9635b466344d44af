#pragma once

#include "runtime/access.h"

namespace codeflare::admission {

inline constexpr std::string_view kWebhookName = "codeflare-appwrappers";

// Answers to reviews.
inline constexpr runtime::Right kReviewRights[] = {
    {"create", "authorization.k8s.io", "subjectaccessreviews",
     "check that submitters may create what they wrap"},
    {"list", "quota.codeflare.dev", "quotasubtrees", "quota labels of AppWrappers"},
};

// The controller makes the webhook configurations itself.
inline constexpr runtime::Right kRegisterRights[] = {
    {"create", "admissionregistration.k8s.io",
     "mutatingwebhookconfigurations validatingwebhookconfigurations",
     "registration of the webhook"},
    {"patch", "admissionregistration.k8s.io",
     "mutatingwebhookconfigurations validatingwebhookconfigurations", "registration of the webhook",
     kWebhookName},
};

// A chart owns the configurations: the controller fills in caBundle alone.
inline constexpr runtime::Right kCaBundleRights[] = {
    {"get patch", "admissionregistration.k8s.io",
     "mutatingwebhookconfigurations validatingwebhookconfigurations",
     "certificate authority of the webhook", kWebhookName},
};

// In the namespace of the Secret alone. The name is an option.
inline constexpr runtime::Right kKeySecretRights[] = {
    {"get create", "", "secrets", "keys of the webhook, made once"},
};

}  // namespace codeflare::admission
