#include "node/stream/container_choice.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace codeflare::node {

namespace {

constexpr std::string_view kDefaultContainer = "kubectl.kubernetes.io/default-container";

std::string names_of(const model::PodSpec& spec) {
  std::string text = "[";
  for (const model::Container& container : spec.containers) {
    text += (text.size() > 1 ? " " : "") + container.name;
  }
  return text + "]";
}

bool has_container(const model::PodSpec& spec, const std::string& name) {
  const auto in = [&](const std::vector<model::Container>& list) {
    return std::ranges::find(list, name, &model::Container::name) != list.end();
  };
  return in(spec.containers) || in(spec.init_containers);
}

}  // namespace

Result<std::string> choose_container(const model::Pod& pod, const std::string& asked) {
  if (asked.empty()) {
    if (pod.spec.containers.size() == 1) {
      return pod.spec.containers.front().name;
    }
    const auto named = model::find_or_empty(pod.metadata.annotations, kDefaultContainer);
    if (!named.empty()) {
      return std::string(named);
    }
    return fail(invalid_argument("a container name must be specified for pod " + pod.metadata.name +
                                 ", choose one of: " + names_of(pod.spec)));
  }
  if (!has_container(pod.spec, asked)) {
    return fail(
        invalid_argument("container " + asked + " is not valid for pod " + pod.metadata.name));
  }
  return asked;
}

}  // namespace codeflare::node
