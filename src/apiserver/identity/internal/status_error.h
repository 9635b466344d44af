#pragma once

#include "apiserver/request/admission.h"
#include "apiserver/request/forbidden.h"
#include "base/error.h"

#include <string>
#include <string_view>

namespace codeflare::apiserver::internal {

// `pods "x" not found`
Error object_not_found(About about);
// `Operation cannot be fulfilled on pods "x": why`
Error object_conflict(About about, std::string_view why);
Error wrong_request(std::string message);

// The name that admission errors show, also while the final one is not made yet.
std::string_view shown_name(const AdmissionRequest& request);

}  // namespace codeflare::apiserver::internal
