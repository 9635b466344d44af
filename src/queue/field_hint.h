#pragma once

#include <string>
#include <string_view>

// Suggestions for misspelt fields and resources.
namespace codeflare::queue {

// The field of an AppWrapper, a pod or a usual wrapped kind that is spelt most like it:
// "completionstatus" for "completionStatus". Empty: none is near.
std::string_view meant_field(std::string_view word);

// "cpu" for "cpus", "nvidia.com/gpu" for "gpu". Empty: none is near.
std::string_view meant_resource(std::string_view word);

// "; did you mean cpu?", or empty.
std::string did_you_mean(std::string_view meant);

// A path such as spec.containers[0].restartpolicy with a suggestion for its last word:
// `unknown field "spec...": did you mean "restartPolicy"?`.
std::string unknown_field_text(std::string_view path);

// The message with a suggestion behind each `unknown field "..."` in it.
std::string with_field_hints(std::string_view message);

}  // namespace codeflare::queue
