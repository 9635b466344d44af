#pragma once

#include "base/time.h"
#include "model/gvk.h"
#include "model/pod_facts.h"
#include "runtime/index.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace codeflare::controllers::trainingjob {

using Phase = model::PodPhase;

// The facts about a worker that decisions need.
struct WorkerPod {
  std::string name{};
  std::string uid{};
  std::string owner_uid{};
  std::int64_t index = -1;
  std::string node{};  // empty: not bound
  Phase phase = Phase::pending;
  bool deleting = false;
  bool ready = false;
  WallTime created{};
  std::int64_t exit_code = 0;  // of the container `trainingjob`
  std::string reason{};        // of the pod, or why a container waits or ended
  std::string message{};       // the last words of the container
  // Its node has not been ready for so long; nothing: it is.
  std::optional<Duration> stranded{};

  bool over() const { return phase == Phase::succeeded || phase == Phase::failed; }
  bool alive() const { return !over() && !deleting; }
};

WorkerPod worker_of(const model::Pod& pod);

// The workers of each TrainingJob.
class TrainingPods {
 public:
  TrainingPods(runtime::Informer& pods, std::function<void(const model::ObjectKey& job)> changed);

  // Of the job with this UID, by name.
  std::vector<WorkerPod> of(const model::ObjectKey& job, const std::string& uid) const;
  // Jobs with a worker on that node.
  std::vector<model::ObjectKey> jobs_on(const std::string& node) const;

 private:
  runtime::Index<model::ObjectKey, WorkerPod> pods_;  // by TrainingJob
};

}  // namespace codeflare::controllers::trainingjob
