#include "queue/pod_trouble.h"

#include "model/condition.h"

#include <algorithm>
#include <array>
#include <utility>

namespace codeflare::queue {

namespace {

using Kind = PodTrouble::Kind;
using model::Container;
using model::ContainerStateTerminated;
using model::ContainerStatus;
using model::Pod;

constexpr std::string_view kDisruptionTarget = "DisruptionTarget";
constexpr std::size_t kLineMax = 300;
constexpr std::int32_t kSignalBase = 128;
constexpr std::int32_t kSigKill = 9;
constexpr std::int32_t kSigTerm = 15;
constexpr std::int32_t kNotExecutable = 126;
constexpr std::int32_t kNotFound = 127;

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

bool is_image_reason(std::string_view reason) {
  return is_one_of(reason, {"ImagePullBackOff", "ErrImagePull", "InvalidImageName",
                            "ErrImageNeverPull", "ImageInspectError", "RegistryUnavailable"});
}

bool is_start_reason(std::string_view reason) {
  return reason.starts_with("CreateContainer") ||
         is_one_of(reason, {"RunContainerError", "PostStartHookError", "PreCreateHookError"});
}

std::string joined(std::string_view reason, std::string_view message) {
  return std::string(reason) + (reason.empty() || message.empty() ? "" : ": ") +
         std::string(message);
}

const Container* spec_of(const Pod& pod, std::string_view container) {
  for (const auto* list : {&pod.spec.containers, &pod.spec.init_containers}) {
    if (const auto found = std::ranges::find(*list, container, &Container::name);
        found != list->end()) {
      return &*found;
    }
  }
  return nullptr;
}

// The runtime's message about a program that it cannot run, without the prefixes of other layers:
// `exec: "trainn": executable file not found in $PATH`. Empty: something else is wrong.
std::string exec_failure(std::string_view message) {
  const std::size_t at = message.find("exec: \"");
  if (at == std::string_view::npos) {
    return {};
  }
  std::string rest = last_line(message.substr(at));
  constexpr std::string_view kUnknown = ": unknown";
  if (rest.ends_with(kUnknown)) {
    rest.resize(rest.size() - kUnknown.size());
  }
  const bool missing = rest.contains("not found") || rest.contains("no such file");
  return (missing ? "command not found: " : "command cannot run: ") + rest;
}

std::string oom_text(const Pod& pod, const ContainerStatus& status) {
  const Container* spec = spec_of(pod, status.name);
  const model::Quantity* limit = spec == nullptr ? nullptr : spec->resources.limits.find("memory");
  if (limit == nullptr && pod.spec.resources) {
    limit = pod.spec.resources->limits.find("memory");
  }
  return limit != nullptr ? "limit " + limit->to_string()
                          : "without a limit: the node ran out of memory";
}

std::string code_text(std::int32_t code) {
  const std::string number = std::to_string(code);
  if (const std::string_view name = signal_name(code - kSignalBase); !name.empty()) {
    return "killed by " + std::string(name) + " (" + number + ")";
  }
  return "exit code " + number +
         (code == kNotFound        ? " (command not found)"
          : code == kNotExecutable ? " (command not executable)"
                                   : "");
}

// A shell ends so when it does not find a program: mostly the image is not the one that was meant.
std::string image_hint(const Pod& pod, const ContainerStatus& status, std::int32_t code) {
  const Container* spec = spec_of(pod, status.name);
  if (code != kNotFound || spec == nullptr || spec->image.empty()) {
    return {};
  }
  return "; image " + spec->image + " lacks the program (on 'codeflare up': codeflare image add '" +
         spec->image + "' --python-venv DIR)";
}

PodTrouble of_end(const Pod& pod, const ContainerStatus& status,
                  const ContainerStateTerminated& end) {
  PodTrouble trouble{
      .kind = Kind::exit_code,
      .pod = pod.metadata.name,
      .reason = end.reason.empty() || end.reason == "Error" ? "ContainerFailed" : end.reason,
      .exit_code = end.exit_code,
      .log = end.message,
      .since = end.finished_at};
  const std::string code = "(" + std::to_string(end.exit_code) + ")";
  const std::string exec = exec_failure(end.message);
  if (end.reason == "OOMKilled") {
    trouble.kind = Kind::out_of_memory;
    trouble.what = "OOMKilled " + code + ", " + oom_text(pod, status);
    return trouble;
  }
  if (!exec.empty() || end.reason == "StartError" || end.reason == "ContainerCannotRun") {
    trouble.kind = Kind::cannot_start;
    trouble.what = exec.empty() ? "cannot start: " + last_line(end.message) : exec;
    trouble.log.clear();
    trouble.lasting = true;
    return trouble;
  }
  if (end.reason == "ContainerStatusUnknown") {
    trouble.kind = Kind::node_lost;
    trouble.what = joined("lost with its node", last_line(end.message));
    trouble.log.clear();
    return trouble;
  }
  if (end.exit_code == kSignalBase + kSigKill || end.exit_code == kSignalBase + kSigTerm) {
    trouble.kind = Kind::stopped;
  }
  trouble.what = joined(code_text(end.exit_code), last_line(end.message)) +
                 image_hint(pod, status, end.exit_code);
  return trouble;
}

PodTrouble of_image(const Pod& pod, const ContainerStatus& status) {
  const model::ContainerStateWaiting& waiting = *status.state.waiting;
  const Container* spec = spec_of(pod, status.name);
  const std::string image = spec == nullptr ? status.image : spec->image;
  return {.kind = Kind::image,
          .pod = pod.metadata.name,
          .reason = waiting.reason,
          .what = joined("image " + image + " is missing (" + waiting.reason + ")",
                         last_line(waiting.message)),
          .lasting = true};
}

PodTrouble of_crash_loop(const Pod& pod, const ContainerStatus& status) {
  PodTrouble trouble{.pod = pod.metadata.name};
  if (status.last_state.terminated) {
    trouble = of_end(pod, status, *status.last_state.terminated);
  }
  const std::string restarts =
      std::to_string(status.restart_count) + (status.restart_count == 1 ? " restart" : " restarts");
  trouble.what = "crash loop, " + restarts + (trouble.what.empty() ? "" : ", last " + trouble.what);
  trouble.kind = Kind::crash_loop;
  trouble.reason = status.state.waiting->reason;
  trouble.lasting = true;
  return trouble;
}

std::optional<PodTrouble> of_container(const Pod& pod, const ContainerStatus& status) {
  if (const auto& waiting = status.state.waiting) {
    if (is_image_reason(waiting->reason)) {
      return of_image(pod, status);
    }
    if (waiting->reason == "CrashLoopBackOff") {
      return of_crash_loop(pod, status);
    }
    if (is_start_reason(waiting->reason)) {
      const std::string exec = exec_failure(waiting->message);
      return PodTrouble{
          .kind = Kind::cannot_start,
          .pod = pod.metadata.name,
          .reason = waiting->reason,
          .what = exec.empty() ? joined(waiting->reason, last_line(waiting->message)) : exec,
          .lasting = true};
    }
  }
  if (status.state.terminated && status.state.terminated->exit_code != 0) {
    return of_end(pod, status, *status.state.terminated);
  }
  return std::nullopt;
}

std::string at_node(const Pod& pod) {
  return pod.spec.node_name.empty() ? "" : " on node " + pod.spec.node_name;
}

// An action against the pod as a whole, whatever its containers report about their ends.
std::optional<PodTrouble> of_pod(const Pod& pod) {
  const bool failed = pod.status.phase == "Failed";
  std::string reason = failed ? pod.status.reason : "";
  std::string message = failed ? pod.status.message : "";
  if (reason.empty() && is_disrupted(pod) && pod.status.phase != "Succeeded") {
    const model::Condition* disrupted =
        model::find_condition(pod.status.conditions, kDisruptionTarget);
    reason = disrupted->reason;
    message = disrupted->message;
  }
  if (reason.empty()) {
    return std::nullopt;
  }
  PodTrouble trouble{.kind = Kind::rejected, .pod = pod.metadata.name, .reason = reason};
  message = last_line(message);
  if (is_one_of(reason, {"NodeLost", "DeletionByTaintManager", "DeletionByPodGC"})) {
    trouble.kind = Kind::node_lost;
    trouble.what = joined("lost with node " + pod.spec.node_name, message);
  } else if (is_one_of(reason, {"Evicted", "EvictionByEvictionAPI", "TerminationByKubelet",
                                "PreemptionByScheduler", "Preempting"})) {
    trouble.kind = Kind::evicted;
    trouble.what = joined("evicted" + at_node(pod), message);
  } else if (reason == "DeadlineExceeded") {
    trouble.kind = Kind::deadline;
    trouble.what = joined("activeDeadlineSeconds exceeded", message);
  } else {
    trouble.what = joined(reason + at_node(pod), message);
  }
  return trouble;
}

std::optional<PodTrouble> of_scheduling(const Pod& pod) {
  const model::Condition* scheduled = model::find_condition(pod.status.conditions, "PodScheduled");
  if (scheduled == nullptr || scheduled->status != "False") {
    return std::nullopt;
  }
  return PodTrouble{.kind = Kind::unschedulable,
                    .pod = pod.metadata.name,
                    .reason = scheduled->reason,
                    .what = joined(scheduled->reason, last_line(scheduled->message)),
                    .since = scheduled->last_transition_time};
}

// Since when a pod has not been ready.
std::optional<WallTime> unready_since(const Pod& pod) {
  const model::Condition* ready = model::find_condition(pod.status.conditions, "Ready");
  if (ready != nullptr && ready->last_transition_time) {
    return ready->last_transition_time;
  }
  return pod.status.start_time ? pod.status.start_time : pod.metadata.creation_timestamp;
}

// Of a pod that has no trouble yet: "container main: ContainerCreating".
std::string progress_of(const Pod& pod) {
  if (pod.spec.node_name.empty()) {
    return "waits for a node";
  }
  for (const auto* list : {&pod.status.init_container_statuses, &pod.status.container_statuses}) {
    for (const ContainerStatus& status : *list) {
      if (status.state.waiting && !status.state.waiting->reason.empty()) {
        return "container " + status.name + ": " + status.state.waiting->reason;
      }
    }
  }
  for (const ContainerStatus& status : pod.status.container_statuses) {
    if (!status.ready) {
      return "container " + status.name +
             (status.state.running ? ": runs and is not ready" : ": starts");
    }
  }
  return "starts on node " + pod.spec.node_name;
}

}  // namespace

std::string PodTrouble::text() const {
  std::string place = "pod " + pod;
  if (!container.empty()) {
    place +=
        container.starts_with("init container ") ? ", " + container : ", container " + container;
  }
  return place + ": " + what;
}

bool is_worse(const PodTrouble& a, const PodTrouble& b) {
  if (a.kind != b.kind) {
    return a.kind > b.kind;
  }
  return a.since && (!b.since || *a.since < *b.since);
}

std::optional<PodTrouble> trouble_of(const Pod& pod) {
  std::optional<PodTrouble> worst = of_pod(pod);
  if (worst) {
    return worst;
  }
  const auto take = [&](std::optional<PodTrouble> found) {
    if (found && (!worst || is_worse(*found, *worst))) {
      worst = std::move(found);
    }
  };
  for (const auto& [list, prefix] :
       {std::pair(&pod.status.init_container_statuses, "init container "),
        std::pair(&pod.status.container_statuses, "")}) {
    for (const ContainerStatus& status : *list) {
      std::optional<PodTrouble> found = of_container(pod, status);
      if (found) {
        found->container = prefix + status.name;
        found->restarts = status.restart_count;
        found->since = found->since ? found->since : unready_since(pod);
      }
      take(std::move(found));
    }
  }
  take(of_scheduling(pod));
  return worst;
}

bool is_disrupted(const Pod& pod) {
  const model::Condition* found = model::find_condition(pod.status.conditions, kDisruptionTarget);
  return found != nullptr && found->status == "True";
}

std::optional<PodTrouble> worst_trouble(std::span<const Pod> pods) {
  std::optional<PodTrouble> worst;
  for (const Pod& pod : pods) {
    if (pod.metadata.deleting() && !is_disrupted(pod)) {
      continue;
    }
    std::optional<PodTrouble> found = trouble_of(pod);
    if (found && (!worst || is_worse(*found, *worst))) {
      worst = std::move(found);
    }
  }
  return worst;
}

std::vector<UnreadyPod> unready_pods(std::span<const Pod> pods) {
  std::vector<UnreadyPod> unready;
  for (const Pod& pod : pods) {
    const bool over = pod.status.phase == "Succeeded" || pod.status.phase == "Failed";
    if (over || pod.metadata.deleting() ||
        model::is_condition_true(pod.status.conditions, "Ready")) {
      continue;
    }
    const std::optional<PodTrouble> trouble = trouble_of(pod);
    std::string why = progress_of(pod);
    if (trouble) {
      const std::string text = trouble->text();
      // The pod has a column of its own.
      why = text.substr(
          std::min(text.size(), std::string_view("pod , ").size() + trouble->pod.size()));
    }
    unready.push_back({.pod = pod.metadata.name,
                       .node = pod.spec.node_name,
                       .why = std::move(why),
                       .since = unready_since(pod)});
  }
  return unready;
}

std::string_view signal_name(std::int32_t number) {
  switch (number) {
    case 1:
      return "SIGHUP";
    case 2:
      return "SIGINT";
    case 3:
      return "SIGQUIT";
    case 4:
      return "SIGILL";
    case 5:
      return "SIGTRAP";
    case 6:
      return "SIGABRT";
    case 7:
      return "SIGBUS";
    case 8:
      return "SIGFPE";
    case kSigKill:
      return "SIGKILL";
    case 10:
      return "SIGUSR1";
    case 11:
      return "SIGSEGV";
    case 12:
      return "SIGUSR2";
    case 13:
      return "SIGPIPE";
    case 14:
      return "SIGALRM";
    case kSigTerm:
      return "SIGTERM";
    case 24:
      return "SIGXCPU";
    case 25:
      return "SIGXFSZ";
    case 31:
      return "SIGSYS";
    default:
      return "";
  }
}

std::string last_line(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t end = text.find_last_not_of(kBlank);
  if (end == std::string_view::npos) {
    return {};
  }
  text = text.substr(0, end + 1);
  const std::size_t begin = text.find_last_of('\n');
  std::string line(begin == std::string_view::npos ? text : text.substr(begin + 1));
  line.erase(0, std::min(line.find_first_not_of(kBlank), line.size()));
  if (line.size() > kLineMax) {
    std::size_t cut = kLineMax;
    while (cut > 0 && (static_cast<unsigned char>(line[cut]) & 0xC0) == 0x80) {
      --cut;  // not within a character of UTF-8
    }
    line = line.substr(0, cut) + "...";
  }
  std::ranges::replace_if(line, [](unsigned char c) { return c < 0x20 || c == 0x7F; }, ' ');
  return line;
}

}  // namespace codeflare::queue
