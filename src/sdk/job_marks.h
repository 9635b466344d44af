#pragma once

#include <string_view>

// Labels and annotations of jobs that are AppWrappers.
namespace codeflare::sdk {

// Labels of the AppWrapper, its pods and its Secrets: the job's name, and who runs it.
inline constexpr std::string_view kJobLabel = "codeflare.dev/job";
inline constexpr std::string_view kBackendLabel = "codeflare.dev/backend";

// Annotations of the AppWrapper.
inline constexpr std::string_view kCommandAnnotation = "codeflare.dev/command";  // for people
// A digest of what is submitted, until all of it is there; the AppWrapper is suspended meanwhile.
inline constexpr std::string_view kSubmittingAnnotation = "codeflare.dev/submitting";
// When somebody cancelled the job; counts while the AppWrapper is suspended.
inline constexpr std::string_view kStoppedAnnotation = "codeflare.dev/stopped";
// Of Secrets: a digest of all code of the job.
inline constexpr std::string_view kCodeAnnotation = "codeflare.dev/code";

}  // namespace codeflare::sdk
