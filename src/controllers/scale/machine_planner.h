#pragma once

#include "base/async/task.h"
#include "base/async/wait_list.h"
#include "base/env/env.h"
#include "base/log.h"
#include "controllers/appwrapper/queue_driver.h"
#include "controllers/scale/provider.h"
#include "model/machine_request.h"
#include "queue/machines.h"
#include "queue/market.h"
#include "runtime/manager.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace codeflare::controllers::scale {

struct PlannerOptions {
  std::optional<std::int64_t> max_scaleout{};    // machines in all
  std::optional<double> budget{};                // cost per hour in all
  std::optional<double> namespace_budget{};      // cost per hour of each namespace
  std::vector<std::string> config_namespaces{};  // where `instascale-config` may be
  // Machines of worker clusters, as they are now; null: there are none.
  std::function<std::vector<queue::ClusterMachines>()> clusters{};
  Logger logger{};
};

// Asks for machines: after each round of the queue it looks which would help those who wait, and
// writes a MachineRequest for each gang that needs new ones. Requests that are being written count
// as on order, so nothing is asked for twice. Work for which machines of a worker cluster cost
// least starts there instead, and the worker's own controller asks.
class MachinePlanner {
 public:
  MachinePlanner(runtime::Manager& manager, QueueDriver& driver, Providers providers,
                 PlannerOptions options);
  MachinePlanner(const MachinePlanner&) = delete;
  MachinePlanner& operator=(const MachinePlanner&) = delete;
  ~MachinePlanner();

  // Until stopped: writes requests.
  Task<void> write();
  // Until stopped: reads InstaScale's ConfigMap now and then.
  Task<void> follow_config();

 private:
  bool plan(queue::Queue& queue, WallTime now);
  Task<Result<std::optional<std::int64_t>>> read_config();
  bool knows_limits() const;
  bool due();
  std::vector<model::MachineRequest> requests() const;
  queue::MachineMarket market(const std::vector<model::MachineRequest>& requests) const;
  void add_clusters(queue::MachineMarket& market) const;
  bool send(const queue::MachineAsk& ask, queue::Queue& queue, WallTime now);
  void ask(const queue::MachineAsk& ask, const queue::MachineMarket& market, WallTime now);
  std::string free_name(const std::string& uid) const;
  void name_strangers();
  // Of pods of the work with this UID, if the node is a machine that was asked for it.
  model::StringMap pod_annotations(const std::string& uid, const std::string& node) const;
  Task<Result<void>> create(model::MachineRequest request);
  void report(const model::MachineRequest& request);

  Env env_;
  kube::Client& client_;
  runtime::EventRecorder& events_;
  runtime::Informer& types_;
  runtime::Informer& requests_;
  runtime::Informer& nodes_;
  QueueDriver& driver_;
  Providers providers_;
  PlannerOptions options_;
  bool config_known_ = false;                               // it was looked for
  std::optional<std::int64_t> config_max_;                  // of InstaScale's ConfigMap
  std::map<std::string, model::MachineRequest> in_flight_;  // not in the cache yet
  std::deque<std::string> to_write_;
  // Work that was sent to a worker cluster. Its machines count as in use until the worker has a
  // MachineRequest for it, or has had the time to write one.
  struct Sent {
    queue::MachineAsk ask;
    Instant until;
  };
  std::map<std::string, Sent> sent_;  // by UID
  WaitList changed_;
  std::optional<Instant> rest_until_;
  std::optional<TimerId> timer_;
  std::set<std::string> machines_;   // Nodes with a request's label
  std::set<std::string> strangers_;  // of these, named already
};

}  // namespace codeflare::controllers::scale
