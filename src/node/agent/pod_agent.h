#pragma once

#include "base/async/task.h"
#include "base/async/wait_list.h"
#include "base/env/env.h"
#include "base/log.h"
#include "base/result.h"
#include "node/agent/device_pool.h"
#include "node/agent/image_table.h"
#include "node/agent/pod_ending.h"
#include "node/agent/pod_health.h"
#include "node/agent/pod_runtime.h"
#include "node/agent/pod_sync.h"
#include "node/agent/probe_check.h"
#include "node/agent/token_cache.h"
#include "runtime/manager.h"
#include "runtime/reconciler.h"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace codeflare::node {

class PodNetwork;

struct AgentOptions {
  std::string controller = "node";  // its name among those of the manager
  std::string node;                 // the Node whose pods these are
  std::string address;              // of the node; of pods too that share its network
  // Where pods have addresses of their own; null: nowhere. Outlives the agent.
  PodNetwork* network = nullptr;
  // Where those find the API server; asked at each start.
  std::function<std::pair<std::string, std::string>()> api_in_network{};
  std::int32_t gpus = 0;
  ImageTable images{};
  // Awaited before each sandbox is made: use_images() with what has changed since.
  std::function<Task<void>()> look_for_images{};
  model::ResourceList allocatable{};
  std::string resolv_conf{};
  // Outlives the agent. Null: whatever runs is well, and hooks are not run.
  ProbeCheck* probes = nullptr;
  std::string claims_directory{};  // where the volumes of claims lie; empty: none are offered
  std::vector<std::string> host_paths{};      // directories that hostPath may name
  std::vector<std::string> private_places{};  // with our own data: hidden from all pods
  // Whether pods may ask for the machine's network where others have their own.
  bool allow_host_network = false;
  // The default limit of a pod's bytes on disk.
  model::Quantity storage_limit = model::Quantity(10ll << 30, model::Quantity::Format::binary_si);
  // Where pods find the API server; asked at each start.
  std::function<std::pair<std::string, std::string>()> api_server{};
  Logger logger{};
};

// Brings the pods of one node to where they should be: looks at the pod and its processes, lets
// decide() judge, does what it says.
class PodAgent final : public runtime::Reconciler {
 public:
  PodAgent(const runtime::ControllerContext& context, PodRuntime& pods, AgentOptions options);
  ~PodAgent() override;

  // Before the controllers run: finds the pods of an earlier run.
  Task<Result<void>> adopt();
  // Likewise, where several nodes share what was found; networks are the caller's then.
  void adopt(const std::vector<PodRuntime::Found>& found);
  // Beside the controllers: looks at those once more that may be gone from the API server.
  Task<void> check_adopted();
  // Beside the controllers: looks at what pods have on disk.
  Task<void> watch_storage();
  // Beside the controllers: probes and hooks end with them.
  Task<void> end_health();

  Task<Result<runtime::Next>> reconcile(runtime::ObjectKey key) override;

  // From now on these stand for images; pods that waited for one try again.
  Task<void> use_images(ImageTable images);

  // Nothing is started any more; what runs is ended with its grace. Objects stay as they are: the
  // next start goes on with them. An error names the pods that did not end.
  Task<Result<void>> stop_pods();
  // Ends the grace of all pods that stop_pods() waits for, or will.
  void skip_grace() { grace_skipped_ = true; }

  std::size_t pods() const { return known_.size(); }

 private:
  struct Known {
    runtime::ObjectKey key;
    WallTime seen{};
    Duration grace = std::chrono::seconds(kUsualGraceSeconds);
    std::vector<std::string> sidecars{};
    std::map<std::string, StartFailure> start_failures{};
    std::optional<StartProblem> rejected{};
    std::optional<StartProblem> evicted{};
    bool admitted = false;  // there was room for it
    std::vector<DeviceGrant> devices{};
    bool gave_back = false;                    // its devices: nothing of it will run any more
    std::vector<runtime::EventNote> events{};  // not yet told
    // Runs that were begun: whether they came about is not yet told.
    std::map<std::string, std::int32_t> begun{};
    std::map<std::string, WallTime> unheard{};      // since when containers could not be reached
    std::map<std::string, std::int32_t> cut_off{};  // runs that ended with their keeper
    bool looked_at = false;                         // what it has on disk, just now
    std::map<std::string, std::uint64_t> fingerprints{};  // of volumes as they were written
    Instant refresh_at{};                                 // when they are looked at again
  };

  Task<Result<runtime::Next>> sync(runtime::ObjectKey key);
  Known& know(const std::string& uid, const runtime::ObjectKey& key);
  Task<Result<void>> forget_others(runtime::ObjectKey key, std::string uid);
  void take_devices(Known& known, const model::Pod& pod);
  // Nothing of the pod uses them any more: others may have them from now on.
  void give_back_devices(const std::string& uid);
  // Whether somebody else has devices who is about to give them back.
  bool devices_will_come(const std::string& uid) const;
  // Notes runs that ended with their node while nobody watched: a sandbox found without a keeper
  // shows them. A keeper that is lost under our eyes may have been lost by what it ran.
  static void note_cut_off(Known& known, const SandboxView& view);
  // Before it is begun: whether the node has room for one more pod.
  void look_for_room(Known& known, const model::Pod& pod);
  // Likewise, whether it may be here at all.
  void look_for_leave(Known& known, const model::Pod& pod);

  Task<Result<void>> act(model::Pod pod, PodDecision decision);
  Task<Result<void>> carry_out(model::Pod pod, Step step, std::vector<runtime::EventNote>& events);
  // After a word that did not reach the keeper: whether it had all the time that it may have.
  bool is_past_patience(const std::string& uid, const Step& step);
  // Null for pods that have the machine's network.
  PodNetwork* network_of(const model::Pod& pod) const;
  std::string address_of(const model::Pod& pod) const;
  Task<Result<void>> detach(std::string uid);
  // Events of the runs that were begun, once it is known what became of them.
  static void tell_starts(Known& known, const SandboxView* view);
  Task<Result<void>> make_sandbox(model::Pod pod, std::vector<runtime::EventNote>& events);
  Task<Result<void>> start(model::Pod pod, Step step, std::vector<runtime::EventNote>& events);
  Task<Result<PodInputs>> inputs_of(model::Pod pod);
  std::map<std::string, ContainerHealth> health_of(const model::Pod& pod, const SandboxView* view);
  Task<std::optional<Duration>> refresh_volumes(model::Pod pod);
  Task<void> look_at_storage(std::string uid, runtime::ObjectKey key);
  Task<void> judge_storage(std::string uid, runtime::ObjectKey key);
  void note_volumes(const std::string& uid, const std::vector<VolumePlan>& volumes);
  void hinder(const std::string& uid, const std::string& what, StartProblem problem,
              Duration retry);
  Task<void> stop_pod(std::string uid, Duration grace, std::vector<std::string> sidecars);
  // So that nobody wonders why it takes so long.
  Task<void> tell_who_is_waited_for();

  Env env_;
  kube::Client& client_;
  runtime::Actor& actor_;
  runtime::Informer& informer_;
  runtime::Waker waker_;
  PodRuntime& pods_;
  AgentOptions options_;
  DevicePool gpus_;
  TokenCache tokens_;
  std::unique_ptr<PodHealth> health_;   // null: nobody probes
  std::map<std::string, Known> known_;  // by UID
  bool stopping_ = false;
  bool grace_skipped_ = false;
  std::map<std::string, std::string> ending_;  // pods that are being stopped, by UID
  std::vector<std::string> stayed_;            // pods that did not end
  std::size_t active_ = 0;                     // reconciles under way
  WaitList idle_;
};

// Networks of pods that went while nobody looked are gone: those that were found, or left alone,
// are all that are left. One that cannot be released is logged, and keeps nobody from starting.
Task<void> keep_networks(PodNetwork& network, const PodRuntime& pods,
                         const std::vector<PodRuntime::Found>& found, Logger logger);

// Wires the agent into a manager. `pods` outlives it.
PodAgent& add_pod_agent(runtime::Manager& manager, PodRuntime& pods, AgentOptions options);

}  // namespace codeflare::node
