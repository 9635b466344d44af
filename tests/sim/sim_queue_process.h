#pragma once

#include "base/async/stop_token.h"
#include "base/async/task.h"
#include "base/async/task_group.h"
#include "base/env/env.h"
#include "base/log.h"
#include "kube/client.h"
#include "model/gvk.h"
#include "net/sim_link.h"
#include "runtime/manager.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace codeflare::sim {

// Of the one queue that leads.
inline const model::ObjectKey kLease{"default", "codeflare-queue"};

// A program that is killed and comes back, each time with a way to the server of its own: what a
// dead one still tries to say reaches nobody.
class SimProcess {
 public:
  struct Options {
    std::string name;
    net::HttpService* server = nullptr;
    bool election = false;   // only the leader works
    bool exclusive = false;  // nobody else can take the Lease, as in `codeflare up`
    // Puts its controllers in.
    std::function<void(runtime::Manager&)> equip{};
    // How bad its network is this time.
    std::function<net::LinkFaults()> faults{};
    std::function<void(const std::string&)> say{};
    Logger logger{};
  };
  SimProcess(Env env, TaskGroup& group, Options options);
  ~SimProcess();
  SimProcess(const SimProcess&) = delete;
  SimProcess& operator=(const SimProcess&) = delete;

  void start();
  void kill();
  bool alive() const { return current_ != nullptr; }
  // Nothing gets through, until the network is `faults` again.
  void cut_off();
  void reconnect();
  // A good network for what remains.
  void heal();

  std::uint64_t faults() const;
  std::uint64_t leaderships_lost() const { return leaderships_lost_; }

 private:
  struct Life;
  Task<void> run(Life* life);

  Env env_;
  TaskGroup& group_;
  Options options_;
  bool healed_ = false;
  std::vector<std::unique_ptr<Life>> lives_;
  Life* current_ = nullptr;
  std::uint64_t leaderships_lost_ = 0;
};

}  // namespace codeflare::sim
