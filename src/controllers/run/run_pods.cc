#include "controllers/run/run_pods.h"

#include "model/codec/pod.h"
#include "model/meta.h"
#include "model/pod_facts.h"
#include "platform/names.h"

#include <array>
#include <string_view>

namespace codeflare::controllers::runs {

namespace {

constexpr std::string_view kIndexLabel = "batch.kubernetes.io/job-completion-index";

std::string last_line(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t end = text.find_last_not_of(kBlank);
  if (end == std::string_view::npos) {
    return {};
  }
  text = text.substr(0, end + 1);
  const std::size_t begin = text.find_last_of("\r\n");
  return std::string(begin == std::string_view::npos ? text : text.substr(begin + 1));
}

// The reason that containers of our own end with: "AccessDenied: ...".
std::string own_reason(std::string_view container, const std::string& line) {
  constexpr std::array<std::string_view, 6> kReasons = {
      "NotFound", "AccessDenied", "Network", "NoSuchPath", "CheckoutFailed", "DataFailed"};
  if (container != "checkout" && !container.starts_with("data-")) {
    return {};
  }
  for (const std::string_view reason : kReasons) {
    if (line.starts_with(std::string(reason) + ":")) {
      return std::string(reason);
    }
  }
  return {};
}

bool is_trouble(std::string_view waiting) {
  return waiting != "ContainerCreating" && waiting != "PodInitializing" && !waiting.empty();
}

void look_at(const model::ContainerStatus& status, RunPod& digest) {
  if (!digest.trouble.empty()) {
    return;
  }
  if (status.state.waiting && is_trouble(status.state.waiting->reason)) {
    digest.trouble = status.state.waiting->reason;
    digest.message =
        "container " + status.name + ": " + digest.trouble +
        (status.state.waiting->message.empty() ? "" : ": " + status.state.waiting->message);
    return;
  }
  if (!status.state.terminated || status.state.terminated->exit_code == 0) {
    return;
  }
  const model::ContainerStateTerminated& end = *status.state.terminated;
  const std::string line = last_line(end.message);
  const std::string own = own_reason(status.name, line);
  digest.trouble = !own.empty() ? own : end.reason.empty() ? "Error" : end.reason;
  digest.message = "container " + status.name + " exited with code " +
                   std::to_string(end.exit_code) +
                   (end.reason.empty() || end.reason == "Error" ? "" : " (" + end.reason + ")") +
                   (line.empty() ? "" : ": " + line);
}

}  // namespace

RunPod run_pod_of(const model::Pod& pod) {
  const model::PodFacts facts = model::facts_of(pod);
  const model::StringMap& labels = pod.metadata.labels;
  RunPod digest{.name = pod.metadata.name,
                .uid = pod.metadata.uid,
                .phase = pod.status.phase,
                .role = std::string(model::find_or_empty(labels, platform::kRoleLabel)),
                .index = std::string(model::find_or_empty(labels, kIndexLabel)),
                .deleting = facts.deleting,
                .ready = facts.ready};
  for (const model::ContainerStatus& status : pod.status.init_container_statuses) {
    look_at(status, digest);
  }
  for (const model::ContainerStatus& status : pod.status.container_statuses) {
    look_at(status, digest);
  }
  if (digest.trouble.empty() && digest.phase == "Failed") {
    digest.trouble = pod.status.reason.empty() ? "PodFailed" : pod.status.reason;
    digest.message = pod.status.message;
  }
  return digest;
}

std::optional<RunPods::Entry> read_run_pod(const runtime::ObjectChange& change,
                                           const RunPod* /*before*/) {
  const Result<model::Pod>& pod = change.as<model::Pod>();
  if (!pod) {
    return std::nullopt;
  }
  const std::string_view run = model::find_or_empty(pod->metadata.labels, platform::kRunLabel);
  if (run.empty()) {
    return std::nullopt;
  }
  return RunPods::Entry{{pod->metadata.ns, std::string(run)}, run_pod_of(*pod)};
}

}  // namespace codeflare::controllers::runs
