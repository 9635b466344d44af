#pragma once

#include "base/async/stop_token.h"
#include "base/async/task_group.h"
#include "base/env/env.h"
#include "model/pod.h"
#include "node/agent/container_health.h"
#include "node/agent/pod_sync.h"
#include "node/agent/probe_check.h"
#include "runtime/reconciler.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace codeflare::node {

// Probes the containers of all pods of a node and runs their hooks. Says through `changed` which
// pod has to be looked at again. Its knowledge is forgotten with the agent: probing begins anew
// then, from what the pod's status says. Loop-bound.
class PodHealth {
 public:
  using Changed = std::function<void(const std::string& uid)>;
  PodHealth(Env env, ProbeCheck& check, Changed changed);
  ~PodHealth();

  struct Network {
    std::string address;
    bool own_network = false;  // false: the pod is on the machine's
  };
  // Begins to probe what runs now and ends what does not any more. `view` may be null.
  void follow(const model::Pod& pod, const SandboxView* view, const Network& network);
  // Before the run is looked at for the first time: its postStart hook is to run.
  void expect_post_start(const std::string& uid, const std::string& container,
                         std::int32_t attempt);
  // Runs the preStop hook of the container that runs, for as long as its grace; false when it has
  // none.
  bool begin_pre_stop(const std::string& uid, const std::string& container, Duration grace);
  // Whether some preStop hook of the pod has begun and not ended.
  bool pre_stop_pending(const std::string& uid) const;

  std::map<std::string, ContainerHealth> view(const std::string& uid) const;
  // The events since the last call.
  std::vector<runtime::EventNote> take_events(const std::string& uid);
  void forget(const std::string& uid);
  // Has to be awaited before destruction.
  Task<void> stop();

 private:
  struct Run;
  struct Known;
  std::shared_ptr<Run> begin(const model::Pod& pod, const model::Container& container,
                             const RunRecord& record, const Network& network);
  void note(const std::string& uid, runtime::EventNote event);
  Task<void> probe(std::shared_ptr<Run> run, ProbeKind kind);
  Task<void> post_start(std::shared_ptr<Run> run, model::LifecycleHandler hook);
  Task<void> pre_stop(std::shared_ptr<Run> run, model::LifecycleHandler hook, Duration grace);

  Env env_;
  ProbeCheck& check_;
  Changed changed_;
  std::map<std::string, Known> pods_;  // by UID
  TaskGroup group_;
};

}  // namespace codeflare::node
