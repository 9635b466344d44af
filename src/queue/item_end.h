#pragma once

#include "json/value.h"

#include <string>
#include <string_view>

// How a wrapped object has ended, as it reports itself. Its kind says where (queue/kinds).
namespace codeflare::queue {

// Whether a condition that is True, the phase or the job status contains one of the words.
bool is_complete(const json::Value& object, std::string_view words);
// Why it failed, for people: "Reason: message"; empty when it did not.
std::string failure_of(const json::Value& object);
// It has ended, well or not: no more pods will come.
bool is_finished(const json::Value& object);

}  // namespace codeflare::queue
