#pragma once

#include "base/time.h"
#include "model/gvk.h"
#include "model/meta.h"
#include "model/pod.h"
#include "runtime/index.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::controllers::apps {

// The facts about a pod that the workload controllers need.
struct WorkloadPod {
  std::string name;
  std::string uid;
  std::string owner_uid;  // of whoever controls it; empty: nobody does
  model::StringMap labels;
  std::string node;
  bool running = false;
  bool over = false;  // succeeded or failed
  bool failed = false;
  bool deleting = false;
  bool ready = false;
  WallTime ready_since{};
  WallTime created{};
  std::int32_t restarts = 0;
  std::int32_t deletion_cost = 0;  // controller.kubernetes.io/pod-deletion-cost

  // Counts as a replica.
  bool active() const { return !over && !deleting; }
  // Ready for at least that long.
  bool available(std::int32_t min_ready_seconds, WallTime now) const;
};

WorkloadPod workload_pod_of(const model::Pod& pod);

// Pods by which workload controls them. Pods of others, such as Jobs, are not kept.
class WorkloadPods {
 public:
  explicit WorkloadPods(runtime::Informer& pods);

  // The pods that the workload with this UID controls, in the order of their names.
  std::vector<WorkloadPod> of(std::string_view owner_uid) const;
  // The pods of the namespace that nobody controls.
  std::vector<WorkloadPod> orphans(std::string_view ns) const;

 private:
  // By UID of the workload. Orphans are kept under "/" and their namespace: no UID has a slash.
  runtime::Index<std::string, WorkloadPod> pods_;
};

// The soonest moment at which one more of the pods becomes available without anything else
// happening; zero when there is none.
Duration until_next_available(const std::vector<WorkloadPod>& pods, std::int32_t min_ready_seconds,
                              WallTime now);

}  // namespace codeflare::controllers::apps
