#include "controllers/run/run_pods.h"

#include "json/parse.h"
#include "model/codec/pod.h"
#include "model/condition.h"
#include "model/meta.h"
#include "platform/names.h"

#include <array>
#include <string_view>
#include <utility>

namespace codeflare::controllers::runs {

namespace {

constexpr std::string_view kIndexLabel = "batch.kubernetes.io/job-completion-index";

// Cheap, because every pod of the cluster passes here.
std::string run_of(const kube::Object& pod) {
  if (!pod.labels_json().contains(platform::kRunLabel)) {
    return {};
  }
  const auto labels = json::parse_in_place(pod.labels_json());
  return labels ? std::string(labels->root.string_or_empty(platform::kRunLabel)) : std::string();
}

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

// The reason that the checkout container ends with: "AccessDenied: ...".
std::string checkout_reason(const std::string& line) {
  constexpr std::array<std::string_view, 5> kReasons = {"NotFound", "AccessDenied", "Network",
                                                        "NoSuchPath", "CheckoutFailed"};
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
  const std::string checkout = status.name == "checkout" ? checkout_reason(line) : "";
  digest.trouble = !checkout.empty() ? checkout : end.reason.empty() ? "Error" : end.reason;
  digest.message = "container " + status.name + " exited with code " +
                   std::to_string(end.exit_code) +
                   (end.reason.empty() || end.reason == "Error" ? "" : " (" + end.reason + ")") +
                   (line.empty() ? "" : ": " + line);
}

}  // namespace

RunPod run_pod_of(const kube::Object& object) {
  RunPod digest{.name = std::string(object.name()), .uid = std::string(object.uid())};
  const Result<model::Pod> pod = object.as<model::Pod>();
  if (!pod) {
    return digest;
  }
  digest.role = model::find_or_empty(pod->metadata.labels, platform::kRoleLabel);
  digest.index = model::find_or_empty(pod->metadata.labels, kIndexLabel);
  digest.phase = pod->status.phase;
  digest.deleting = pod->metadata.deleting();
  digest.ready = model::is_condition_true(pod->status.conditions, "Ready");
  for (const model::ContainerStatus& status : pod->status.init_container_statuses) {
    look_at(status, digest);
  }
  for (const model::ContainerStatus& status : pod->status.container_statuses) {
    look_at(status, digest);
  }
  if (digest.trouble.empty() && digest.phase == "Failed") {
    digest.trouble = pod->status.reason.empty() ? "PodFailed" : pod->status.reason;
    digest.message = pod->status.message;
  }
  return digest;
}

RunPods::RunPods(runtime::Informer& pods) {
  pods.add_handler([this](const runtime::ObjectChange& what) { change(what); });
}

std::vector<RunPod> RunPods::of(const model::ObjectKey& run) const {
  std::vector<RunPod> pods;
  if (auto found = by_run_.find(run); found != by_run_.end()) {
    for (const auto& [name, pod] : found->second) {
      pods.push_back(pod);
    }
  }
  return pods;
}

void RunPods::change(const runtime::ObjectChange& change) {
  if (change.old != nullptr) {
    const std::string before = run_of(*change.old);
    auto found = by_run_.find({std::string(change.old->ns()), before});
    if (!before.empty() && found != by_run_.end()) {
      found->second.erase(std::string(change.old->name()));
      if (found->second.empty()) {
        by_run_.erase(found);
      }
    }
  }
  if (change.now != nullptr) {
    std::string run = run_of(*change.now);
    if (!run.empty()) {
      by_run_[{std::string(change.now->ns()), std::move(run)}].insert_or_assign(
          std::string(change.now->name()), run_pod_of(*change.now));
    }
  }
}

}  // namespace codeflare::controllers::runs
