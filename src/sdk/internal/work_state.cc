#include "sdk/internal/work_state.h"

#include "model/condition.h"
#include "queue/status_words.h"

#include <algorithm>
#include <array>
#include <utility>

namespace codeflare::sdk::internal {

using model::AppWrapper;
using model::AppWrapperCondition;

namespace {

bool is_image_reason(std::string_view reason) {
  constexpr std::array<std::string_view, 6> kReasons = {"ImagePullBackOff",  "ErrImagePull",
                                                        "InvalidImageName",  "ErrImageNeverPull",
                                                        "ImageInspectError", "RegistryUnavailable"};
  return std::ranges::find(kReasons, reason) != kReasons.end();
}

// A shell's exit code for a program that it did not find: mostly the image is not the one that was
// meant, or `codeflare up` has no mapping for it.
constexpr int kNotFoundExitCode = 127;

std::string image_hint(const model::Pod& pod, const model::ContainerStatus& container) {
  const auto& ended = container.last_state.terminated;
  if (!ended || ended->exit_code != kNotFoundExitCode) {
    return "";
  }
  const auto found =
      std::ranges::find(pod.spec.containers, container.name, &model::Container::name);
  const std::string image = found == pod.spec.containers.end() ? container.image : found->image;
  return "; the image " + image + " lacks the program; on 'codeflare up' map it: codeflare image " +
         "add '" + image + "' --python-venv DIR";
}

std::optional<Trouble> container_trouble(const model::Pod& pod,
                                         const model::ContainerStatus& container) {
  const std::string where = "pod " + pod.metadata.name + ", container " + container.name;
  if (const auto& waiting = container.state.waiting) {
    const std::string text = waiting->message.empty() ? waiting->reason : waiting->message;
    if (is_image_reason(waiting->reason) || waiting->reason.starts_with("CreateContainer")) {
      return Trouble{3, waiting->reason, where + ": " + text, true};
    }
    if (waiting->reason == "CrashLoopBackOff") {
      return Trouble{2, waiting->reason,
                     where + " keeps failing" + last_words(container) + image_hint(pod, container),
                     true};
    }
  }
  if (container.state.terminated && container.state.terminated->exit_code != 0) {
    return Trouble{1, "ContainerFailed", where + " failed" + last_words(container), false};
  }
  return std::nullopt;
}

std::optional<Trouble> pod_trouble(const model::Pod& pod) {
  std::optional<Trouble> worst;
  const auto take = [&](std::optional<Trouble> trouble) {
    if (trouble && (!worst || trouble->rank > worst->rank)) {
      worst = std::move(trouble);
    }
  };
  for (const model::ContainerStatus& container : pod.status.init_container_statuses) {
    take(container_trouble(pod, container));
  }
  for (const model::ContainerStatus& container : pod.status.container_statuses) {
    take(container_trouble(pod, container));
  }
  if (const model::Condition* scheduled =
          model::find_condition(pod.status.conditions, "PodScheduled");
      scheduled != nullptr && scheduled->status == "False") {
    take(Trouble{1, scheduled->reason, "pod " + pod.metadata.name + ": " + scheduled->message,
                 false});
  }
  return worst;
}

}  // namespace

const AppWrapperCondition* newest(const AppWrapper& wrapper, std::string_view type) {
  const auto& conditions = wrapper.status.conditions;
  const auto found = std::find_if(conditions.rbegin(), conditions.rend(),
                                  [&](const AppWrapperCondition& c) { return c.type == type; });
  return found == conditions.rend() ? nullptr : &*found;
}

bool is_lasting_reason(std::string_view word) {
  return word == queue::word(queue::Reason::unknown_quota) ||
         word == queue::word(queue::Reason::user_unknown);
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
  return ended->message.empty() ? text : text + ": " + ended->message;
}

std::optional<Trouble> worst_trouble(const std::vector<model::Pod>& pods) {
  std::optional<Trouble> worst;
  for (const model::Pod& pod : pods) {
    if (pod.metadata.deleting()) {
      continue;
    }
    std::optional<Trouble> trouble = pod_trouble(pod);
    if (trouble && (!worst || trouble->rank > worst->rank)) {
      worst = std::move(trouble);
    }
  }
  return worst;
}

}  // namespace codeflare::sdk::internal
