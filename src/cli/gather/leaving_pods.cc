#include "cli/gather/leaving_pods.h"

#include "cli/gather/work.h"
#include "model/pod.h"

#include <algorithm>
#include <utility>

namespace codeflare::cli {

namespace {

std::string pod_text(const model::Pod& pod) {
  std::string text = "pod " + pod.metadata.name;
  if (!pod.spec.node_name.empty()) {
    text += " on " + pod.spec.node_name;
  }
  std::string finalizers;
  for (const std::string& each : pod.metadata.finalizers) {
    finalizers += (finalizers.empty() ? " (finalizers " : ", ") + each;
  }
  return text + finalizers + (finalizers.empty() ? "" : ")");
}

}  // namespace

Task<Result<std::vector<std::string>>> leaving_pods(Session& session, GroupedWrapper wrapper) {
  CO_TRY_ASSIGN(const std::vector<model::Pod> pods,
                co_await list_pods(session, std::move(wrapper)));
  std::vector<std::string> found;
  for (const model::Pod& pod : pods) {
    found.push_back(pod_text(pod));
  }
  co_return found;
}

std::string leaving_text(const std::vector<std::string>& pods) {
  constexpr std::size_t kShown = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(pods.size(), kShown); ++i) {
    text += (i == 0 ? "" : ", ") + pods[i];
  }
  return pods.size() <= kShown ? text
                               : text + " and " + std::to_string(pods.size() - kShown) + " more";
}

}  // namespace codeflare::cli
