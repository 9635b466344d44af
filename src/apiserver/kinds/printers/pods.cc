#include "apiserver/kinds/printers/row.h"

#include <algorithm>

namespace codeflare::apiserver::printing {
namespace {

// Set on the pods of a node that nobody hears from.
constexpr std::string_view kNodeLost = "NodeLost";

bool has(const json::Value& parent, std::string_view key) {
  const json::Value* value = parent.find(key);
  return value != nullptr && value->is_object();
}

// Walks through the containers of a pod and finds what the Ready, Status and Restarts columns say:
// the status is that of the first init container that holds the pod up, or else of the first
// container that has something to say.
class PodSummary {
 public:
  explicit PodSummary(const Row& row) : row_(row) {
    phase_ = text_at(row.status, "phase");
    reason_ = text_at(row.status, "reason");
    if (reason_.empty()) {
      reason_ = phase_;
    }
    const json::Value* scheduled = condition(row.status, "PodScheduled");
    if (scheduled != nullptr && text_at(*scheduled, "reason") == "SchedulingGated") {
      reason_ = "SchedulingGated";
    }
    total_ = items_at(row.spec, "containers").size();
    total_ += static_cast<std::size_t>(
        std::ranges::count_if(items_at(row.spec, "initContainers"), is_sidecar));
    const bool initializing = look_at_init_containers();
    if (!initializing || condition_is_true(row.status, "Initialized")) {
      look_at_containers();
    }
    if (row.deleting() && text_at(row.status, "reason") == kNodeLost) {
      reason_ = "Unknown";
    } else if (row.deleting() && phase_ != "Failed" && phase_ != "Succeeded") {
      reason_ = "Terminating";
    }
  }

  std::string ready() const { return std::to_string(ready_) + "/" + std::to_string(total_); }
  const std::string& reason() const { return reason_; }
  std::string restarts() const {
    std::string out = std::to_string(all_.count);
    if (all_.count != 0 && all_.last) {
      out += " (" + row_.since(*all_.last, "finishedAt") + " ago)";
    }
    return out;
  }

 private:
  // How often containers began anew, and the last of their ends.
  struct Restarts {
    std::int64_t count = 0;
    const json::Value* last = nullptr;  // the terminated state

    void add(const json::Value& container) {
      count += count_at(container, "restartCount");
      const json::Value& ended = object_at(container, {"lastState", "terminated"});
      std::optional<WallTime> end = time_at(ended, "finishedAt");
      if (end && (last == nullptr || *time_at(*last, "finishedAt") < *end)) {
        last = &ended;
      }
    }
  };

  static bool is_sidecar(const json::Value& container) {
    return text_at(container, "restartPolicy") == "Always";
  }
  bool is_sidecar_named(std::string_view name) const {
    bool sidecar = false;
    for (const json::Value& container : items_at(row_.spec, "initContainers")) {
      if (text_at(container, "name") == name) {
        sidecar = is_sidecar(container);
      }
    }
    return sidecar;
  }

  // "Error", or what is known when the end has no reason: "Signal:9", "ExitCode:1".
  static std::string end_of(const json::Value& terminated) {
    if (std::string_view reason = text_at(terminated, "reason"); !reason.empty()) {
      return std::string(reason);
    }
    if (std::int64_t signal = count_at(terminated, "signal"); signal != 0) {
      return "Signal:" + std::to_string(signal);
    }
    return "ExitCode:" + std::to_string(count_at(terminated, "exitCode"));
  }

  // True when one of them holds the pod up.
  bool look_at_init_containers() {
    std::span<const json::Value> statuses = items_at(row_.status, "initContainerStatuses");
    for (std::size_t i = 0; i < statuses.size(); ++i) {
      const json::Value& container = statuses[i];
      const json::Value& state = object_at(container, "state");
      const json::Value& terminated = object_at(state, "terminated");
      const bool sidecar = is_sidecar_named(text_at(container, "name"));
      all_.add(container);
      if (sidecar) {
        sidecars_.add(container);
      }
      if (has(state, "terminated") && count_at(terminated, "exitCode") == 0) {
        continue;
      }
      if (sidecar && true_at(container, "started")) {
        ready_ += true_at(container, "ready") ? 1 : 0;
        continue;
      }
      std::string_view waiting = text_at(object_at(state, "waiting"), "reason");
      if (has(state, "terminated")) {
        reason_ = "Init:" + end_of(terminated);
      } else if (!waiting.empty() && waiting != "PodInitializing") {
        reason_ = "Init:" + std::string(waiting);
      } else {
        reason_ = "Init:" + std::to_string(i) + "/" +
                  std::to_string(items_at(row_.spec, "initContainers").size());
      }
      return true;
    }
    return false;
  }

  void look_at_containers() {
    all_ = sidecars_;  // finished init containers do not count any more
    bool running = false;
    std::span<const json::Value> statuses = items_at(row_.status, "containerStatuses");
    for (std::size_t i = statuses.size(); i-- > 0;) {  // backwards: the first one has the last word
      const json::Value& container = statuses[i];
      const json::Value& state = object_at(container, "state");
      all_.add(container);
      if (std::string_view waiting = text_at(object_at(state, "waiting"), "reason");
          !waiting.empty()) {
        reason_ = waiting;
      } else if (has(state, "terminated")) {
        reason_ = end_of(object_at(state, "terminated"));
      } else if (true_at(container, "ready") && has(state, "running")) {
        running = true;
        ++ready_;
      }
    }
    if (reason_ == "Completed" && running) {
      reason_ = condition_is_true(row_.status, "Ready") ? "Running" : "NotReady";
    }
  }

  const Row& row_;
  std::string_view phase_;
  std::string reason_;
  std::size_t total_ = 0;
  std::size_t ready_ = 0;
  Restarts all_;
  Restarts sidecars_;
};

std::string_view first_ip(const json::Value& status) {
  if (std::string_view ip = text_at(status, "podIP"); !ip.empty()) {
    return ip;
  }
  std::span<const json::Value> ips = items_at(status, "podIPs");
  return ips.empty() ? std::string_view() : text_at(ips.front(), "ip");
}

std::string readiness_gates(const Row& row) {
  std::span<const json::Value> gates = items_at(row.spec, "readinessGates");
  if (gates.empty()) {
    return std::string(kNone);
  }
  auto open = std::ranges::count_if(gates, [&](const json::Value& gate) {
    return condition_is_true(row.status, text_at(gate, "conditionType"));
  });
  return std::to_string(open) + "/" + std::to_string(gates.size());
}

void print_pod(Row& row) {
  PodSummary summary(row);
  row.name().text(summary.ready()).text(summary.reason()).text(summary.restarts()).age();
  row.text_or(first_ip(row.status), kNone)
      .text_or(text_at(row.spec, "nodeName"), kNone)
      .text_or(text_at(row.status, "nominatedNodeName"), kNone)
      .text(readiness_gates(row));
}

void print_pod_template(Row& row) {
  const json::Value& pod = object_at(row.object, {"template", "spec"});
  row.name()
      .text(join_field(pod, "containers", "name"))
      .text(join_field(pod, "containers", "image"))
      .text(labels_text(object_at(row.object, {"template", "metadata", "labels"})));
}

}  // namespace

std::vector<KindPrinter> pod_printers() {
  return {
      {.group = "",
       .plural = "pods",
       .columns = {name_column(), text_column("Ready"), text_column("Status"),
                   text_column("Restarts"), age_column(), wide_column("IP"), wide_column("Node"),
                   wide_column("Nominated Node"), wide_column("Readiness Gates")},
       .print = print_pod},
      {.group = "",
       .plural = "podtemplates",
       .columns = {name_column(), text_column("Containers"), text_column("Images"),
                   text_column("Pod Labels")},
       .print = print_pod_template},
  };
}

}  // namespace codeflare::apiserver::printing
