#pragma once

#include "base/time.h"
#include "kube/object.h"
#include "model/gvk.h"
#include "model/meta.h"
#include "runtime/informer.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::controllers::apps {

// What the workload controllers need to know of a pod.
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

WorkloadPod workload_pod_of(const kube::Object& pod);

// Pods by which workload controls them, kept in step with an informer, so that a set of a thousand
// pods need not read a thousand texts after each change of one of them. Pods of others, such as
// Jobs, are not read at all.
class WorkloadPods {
 public:
  explicit WorkloadPods(runtime::Informer& pods);

  // The pods that the workload with this UID controls, in the order of their names.
  std::vector<WorkloadPod> of(std::string_view owner_uid) const;
  // The pods of the namespace that nobody controls.
  std::vector<WorkloadPod> orphans(std::string_view ns) const;

 private:
  // Orphans are kept under their namespace: no UID has a slash.
  static std::string bucket(std::string_view ns, const WorkloadPod& pod);
  std::vector<WorkloadPod> bucket_of(const std::string& name) const;
  void change(const runtime::ObjectChange& change);

  std::map<std::string, std::map<std::string, WorkloadPod>> buckets_;
  std::map<model::ObjectKey, std::string> bucket_of_pod_;
};

// The soonest moment at which one more of the pods becomes available without anything else
// happening; zero when there is none.
Duration until_next_available(const std::vector<WorkloadPod>& pods, std::int32_t min_ready_seconds,
                              WallTime now);

}  // namespace codeflare::controllers::apps
