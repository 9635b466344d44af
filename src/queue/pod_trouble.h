#pragma once

#include "base/time.h"
#include "model/pod.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Problems of pods, in one line for people: from the statuses of pods and containers to a cause.
// Pure; the controller, the command line and the SDK call it.
namespace codeflare::queue {

struct PodTrouble {
  enum class Kind : std::uint8_t {
    unschedulable,  // no node for it
    stopped,        // ended by SIGTERM or SIGKILL: mostly because others of its gang had ended
    exit_code,      // a container ended with another code than 0, or by a signal of its own
    rejected,       // the node did not take it, or another rule ended it
    deadline,       // activeDeadlineSeconds
    node_lost,
    evicted,
    crash_loop,
    out_of_memory,
    cannot_start,  // a command that is not found, a missing Secret
    image,         // cannot be pulled
  };
  Kind kind = Kind::exit_code;
  std::string pod;
  std::string container{};  // "main", "init container prep"; empty: the pod as a whole
  std::string reason{};     // Kubernetes' word: "OOMKilled", "ErrImagePull", "ContainerFailed"
  // What happened: "OOMKilled (137), limit 64Mi", "exit code 1: ModuleNotFoundError: ...".
  std::string what{};
  std::optional<std::int32_t> exit_code{};
  std::int32_t restarts = 0;
  std::string log{};  // the last lines that the container wrote, when its status has them
  std::optional<WallTime> since{};
  bool lasting = false;  // it will hardly heal by waiting

  // "pod oom-zknp2, container main: OOMKilled (137), limit 64Mi"
  std::string text() const;
  friend bool operator==(const PodTrouble&, const PodTrouble&) = default;
};

// The worst of one pod; nothing when it runs, starts or ended well.
std::optional<PodTrouble> trouble_of(const model::Pod& pod);

// Whether the first explains more than the second: the worse kind, then the earlier one, because in
// a gang the others fail for the loss of the first.
bool is_worse(const PodTrouble& a, const PodTrouble& b);

// Whether the cluster ends the pod, which runs until then: its node is drained or lost.
bool is_disrupted(const model::Pod& pod);

// The worst of all pods but those that somebody deletes.
std::optional<PodTrouble> worst_trouble(std::span<const model::Pod> pods);

// A pod that should run and is not ready.
struct UnreadyPod {
  std::string pod;
  std::string node{};  // empty: it has none yet
  std::string why{};   // "container main: ContainerCreating"
  std::optional<WallTime> since{};
};
std::vector<UnreadyPod> unready_pods(std::span<const model::Pod> pods);

// "SIGSEGV"; empty: no signal that has a name.
std::string_view signal_name(std::int32_t number);

// The last line that is not empty, without control characters, cut to a length that fits a line.
std::string last_line(std::string_view text);

}  // namespace codeflare::queue
