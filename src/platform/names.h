#pragma once

#include "model/meta.h"

#include <string>
#include <string_view>

namespace codeflare::platform {

// On everything that a Run compiles to.
inline constexpr std::string_view kRunLabel = "codeflare.dev/run";
inline constexpr std::string_view kApplicationLabel = "codeflare.dev/application";
// Of pods that are not all alike: those of a RayJob.
inline constexpr std::string_view kRoleLabel = "codeflare.dev/role";
inline constexpr std::string_view kHeadRole = "head";
inline constexpr std::string_view kWorkerRole = "worker";
inline constexpr std::string_view kSubmitterRole = "submitter";
// On a Run that its user wants to end.
inline constexpr std::string_view kCancelAnnotation = "codeflare.dev/cancel";

// "train-kqzbd": the Run's name and five letters made from its UID, at most 47 characters, because
// a RayJob allows no more; a DNS label that begins with a letter. Without a UID the letters are
// "xxxxx".
std::string wrapper_name(const model::ObjectMeta& run);

}  // namespace codeflare::platform
