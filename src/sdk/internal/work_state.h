#pragma once

#include "model/app_wrapper.h"
#include "model/pod.h"

#include <string>
#include <string_view>

// Reasons of work that waits or fails, from AppWrappers and pods; pure.
namespace codeflare::sdk::internal {

// The newest condition of a type, or null.
const model::AppWrapperCondition* newest(const model::AppWrapper& wrapper, std::string_view type);

// Reasons for waiting that no waiting ends.
bool is_lasting_reason(std::string_view word);

// ", exit code 137 (OOMKilled): its last words"; empty while the container never ended.
std::string last_words(const model::ContainerStatus& container);

}  // namespace codeflare::sdk::internal
