#pragma once

#include "model/meta.h"

#include <cstddef>
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

// Letters that stand for a text, at most 13: the same on every machine.
std::string letters_of(std::string_view text, std::size_t count);

// Copies of Secrets beside an AppWrapper: for its checkout, and for the S3 data of its input
// `index` when the DataSet lies in another namespace.
std::string repo_secret_copy(const std::string& wrapper);
std::string data_secret_copy(const std::string& wrapper, std::size_t index);

}  // namespace codeflare::platform
