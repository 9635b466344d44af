#include "sdk/internal/work_state.h"

#include "queue/pod_trouble.h"
#include "queue/status_words.h"

#include <algorithm>

namespace codeflare::sdk::internal {

using model::AppWrapper;
using model::AppWrapperCondition;

const AppWrapperCondition* newest(const AppWrapper& wrapper, std::string_view type) {
  const auto& conditions = wrapper.status.conditions;
  const auto found = std::find_if(conditions.rbegin(), conditions.rend(),
                                  [&](const AppWrapperCondition& c) { return c.type == type; });
  return found == conditions.rend() ? nullptr : &*found;
}

bool is_lasting_reason(std::string_view word) {
  return word == queue::word(queue::Reason::unknown_quota) ||
         word == queue::word(queue::Reason::user_unknown) ||
         word == queue::word(queue::Reason::definition_outdated);
}

std::string last_words(const model::ContainerStatus& container) {
  const auto& ended = container.last_state.terminated ? container.last_state.terminated
                                                      : container.state.terminated;
  if (!ended) {
    return "";
  }
  std::string text = ", exit code " + std::to_string(ended->exit_code);
  if (!ended->reason.empty() && ended->reason != "Error") {
    text += " (" + ended->reason + ")";
  }
  // The message may be the end of the log.
  const std::string line = queue::last_line(ended->message);
  return line.empty() ? text : text + ": " + line;
}

}  // namespace codeflare::sdk::internal
