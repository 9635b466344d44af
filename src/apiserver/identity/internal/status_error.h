#pragma once

#include "apiserver/request/admission.h"
#include "base/error.h"

#include <string>
#include <string_view>

namespace codeflare::apiserver::internal {

// Which object an answer is about.
struct About {
  std::string_view group{};
  std::string_view resource{};  // "pods"
  std::string_view name{};
};

// `roles.rbac.authorization.k8s.io "x" is forbidden: why`
Error forbidden(About about, std::string_view why);
// `pods "x" not found`
Error object_not_found(About about);
// `Operation cannot be fulfilled on pods "x": why`
Error object_conflict(About about, std::string_view why);
Error wrong_request(std::string message);

// The name that refusals of admission show, also while the final one is not made yet.
std::string_view shown_name(const AdmissionRequest& request);

}  // namespace codeflare::apiserver::internal
