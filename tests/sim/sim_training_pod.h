#pragma once

#include "base/async/channel.h"
#include "base/async/task_group.h"
#include "base/env/sim_children.h"
#include "elastic/agent.h"
#include "elastic/kubernetes_store.h"
#include "net/memory_pair.h"
#include "net/sim_link.h"
#include "tests/sim/sim_training_group.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace codeflare::sim {

// The scene that all pods of the job share.
struct TrainingScene {
  Env env;
  net::HttpService& service;  // with the rights of agents
  TrainingJudge& judge;
  TrainingJudge::Say say;
  std::int64_t steps = 200;  // the training is complete then
  bool library = true;
  net::LinkFaults faults{};
  SavedSteps saved{};
  std::int64_t save_every = 25;  // steps
  // Another round than the agents agreed on: for planted bugs.
  std::function<std::string(std::string)> tamper_round{};
  std::map<std::string, std::shared_ptr<TrainingGroup>> groups{};  // by generation and address

  std::shared_ptr<TrainingGroup> group(const std::string& key, std::int64_t generation,
                                       std::int32_t size, std::int32_t source);
};

// A pod with a real agent and scripted workers. It ends by itself with the agent, or is killed.
class TrainingPod {
 public:
  TrainingPod(TrainingScene& scene, std::int32_t index, std::string uid);
  ~TrainingPod();

  Task<void> run();
  void kill();           // the pod with all its processes
  void restart_agent();  // the agent dies and its workers with it; the container starts again
  void terminate();      // SIGTERM
  void signal_worker(int number);
  net::SimLink& link() { return link_; }

  std::int32_t index() const { return index_; }
  const std::string& uid() const { return uid_; }
  bool ended() const { return ended_; }
  std::optional<int> exit_code() const { return exit_code_; }
  const PodState& state() const { return *state_; }

 private:
  class Door;
  class TamperedStore;
  Task<ChildExit> library_worker(std::shared_ptr<SimProcess> process);
  Task<ChildExit> plain_worker(std::shared_ptr<SimProcess> process);
  Task<void> live_once();

  TrainingScene& scene_;
  std::int32_t index_;
  std::string uid_;
  net::SimLink link_;
  std::shared_ptr<PodState> state_ = std::make_shared<PodState>();
  std::unique_ptr<SimChildren> children_;
  std::unique_ptr<Door> door_;
  elastic::Agent* agent_ = nullptr;
  StopSource crash_;
  bool killed_ = false;
  bool ended_ = false;
  int lives_ = 0;
  std::optional<int> exit_code_;
};

}  // namespace codeflare::sim
