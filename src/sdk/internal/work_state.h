#pragma once

#include "model/app_wrapper.h"
#include "model/pod.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Reasons of work that waits or fails, from AppWrappers and pods; pure.
namespace codeflare::sdk::internal {

// The newest condition of a type, or null.
const model::AppWrapperCondition* newest(const model::AppWrapper& wrapper, std::string_view type);

// Reasons for waiting that no waiting ends.
bool is_lasting_reason(std::string_view word);

// The reason that keeps a pod from running, worst first.
struct Trouble {
  int rank = 0;
  std::string reason;
  std::string message;
  bool lasting = false;
};

// Of pods that are not being deleted.
std::optional<Trouble> worst_trouble(const std::vector<model::Pod>& pods);

// ", exit code 137 (OOMKilled): its last words"; empty while the container never ended.
std::string last_words(const model::ContainerStatus& container);

}  // namespace codeflare::sdk::internal
