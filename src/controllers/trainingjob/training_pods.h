#pragma once

#include "base/time.h"
#include "kube/object.h"
#include "model/gvk.h"
#include "runtime/informer.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace codeflare::controllers::trainingjob {

enum class Phase : std::uint8_t { pending, running, succeeded, failed };

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

  bool over() const { return phase == Phase::succeeded || phase == Phase::failed; }
  bool alive() const { return !over() && !deleting; }
};

WorkerPod worker_of(const kube::Object& pod);

// The workers of each TrainingJob, kept in step with an informer.
class TrainingPods {
 public:
  TrainingPods(runtime::Informer& pods, std::function<void(const model::ObjectKey& job)> changed);

  // Of the job with this UID, by name.
  std::vector<WorkerPod> of(const model::ObjectKey& job, const std::string& uid) const;

 private:
  void change(const runtime::ObjectChange& change);

  std::function<void(const model::ObjectKey& job)> changed_;
  std::map<model::ObjectKey, std::map<std::string, WorkerPod>> by_job_;
};

}  // namespace codeflare::controllers::trainingjob
