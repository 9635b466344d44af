#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "node/agent/eviction.h"
#include "node/agent/pod_sync.h"
#include "node/agent/pod_use.h"
#include "node/agent/volume_plan.h"
#include "node/stream/sandbox_view.h"
#include "node/system/limits.h"
#include "node/wire/keeper_protocol.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::node {

// A small file that every container of a pod sees in /etc.
struct EtcFile {
  std::string name;
  std::string content;
};

struct NewSandbox {
  SandboxSpec spec;
  std::vector<VolumePlan> volumes;
  std::vector<EtcFile> etc;
  ResourceBounds bounds{};  // of the pod as a whole
};

// Runs the processes of pods: what the agent asks of the machine. One implementation has keepers,
// another is scripted for tests. Pods are named by UID. Loop-bound.
class PodRuntime : public SandboxViews {
 public:
  // Finds what an earlier agent left, running or not; once, before anything else.
  struct Found {
    SandboxSpec spec;
    bool alive = false;
  };
  virtual Task<Result<std::vector<Found>>> adopt() = 0;
  // Those of which it could not find out what they are: nobody may take away what they have.
  virtual std::vector<std::string> left_alone() const { return {}; }

  // Called on the loop whenever the view of a pod has changed: each that listens, until it stops.
  using OnChange = std::function<void(const std::string& uid)>;
  void listen(const void* who, OnChange handler) { on_change_[who] = std::move(handler); }
  void stop_listening(const void* who) { on_change_.erase(who); }

  // Also over what is left of an earlier one: its runs stay known.
  virtual Task<Result<void>> make(NewSandbox sandbox) = 0;
  // `unavailable` when the keeper is gone; the view tells then.
  virtual Task<Result<void>> start(std::string uid, ContainerSpec spec) = 0;
  virtual Task<Result<void>> ask_to_end(std::string uid, std::string container) = 0;
  virtual Task<Result<void>> kill(std::string uid, std::string container) = 0;
  // The node ends: what the run comes to from now on is not its own doing. It is asked to end as
  // well, unless something else does that before: a hook.
  enum class Ask : std::uint8_t { now, later };
  virtual Task<Result<void>> cut_off(std::string uid, std::string container, Ask ask) = 0;
  // Puts other content into volumes of files, for its containers to see.
  virtual Task<Result<void>> write_volumes(std::string uid, std::vector<VolumePlan> volumes) = 0;
  // Its bytes on disk.
  virtual Task<Result<PodUsage>> usage(std::string uid) = 0;
  // Processor time and memory of the containers that run, by UID of the pod.
  virtual Task<Result<PodUses>> measure(std::vector<std::string> /*uids*/) { co_return PodUses(); }
  // Ends all that still runs in it; files and logs stay.
  virtual Task<Result<void>> close(std::string uid) = 0;
  // The same, and nothing stays. Fine when there is nothing.
  virtual Task<Result<void>> remove(std::string uid) = 0;

  // Where the logs of a container lie.
  virtual std::string log_directory(const std::string& uid, const std::string& container) const = 0;

 protected:
  void tell(const std::string& uid) const {
    for (const auto& [who, handler] : on_change_) {
      handler(uid);
    }
  }

 private:
  // Several nodes may share a machine. A pod concerns one of them, so their order does not matter.
  std::map<const void*, OnChange> on_change_;
};

}  // namespace codeflare::node
