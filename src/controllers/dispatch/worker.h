#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "base/log.h"
#include "kube/client.h"
#include "kube/connect.h"
#include "model/key_map.h"
#include "queue/market.h"
#include "queue/work.h"
#include "runtime/informer.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace codeflare::controllers::dispatch {

// How to reach the server of a kubeconfig; `origin` names it in errors. Another one in tests.
using Connector = std::function<Result<std::unique_ptr<kube::Connection>>(
    Env env, const std::string& kubeconfig, const std::string& origin)>;

// Everything must be in the text itself: files and programs of this machine are not for whoever may
// write the Secret.
Result<std::unique_ptr<kube::Connection>> connect_worker(Env env, const std::string& kubeconfig,
                                                         const std::string& origin);

struct WorkerTimes {
  Duration probe_every = std::chrono::seconds(5);
  Duration probe_timeout = std::chrono::seconds(10);
  Duration request_timeout = std::chrono::seconds(20);
};

// Whether the worker can be used, as the condition Connected has it.
struct LinkState {
  bool connected = false;
  std::string reason{};
  std::string message{};
  friend bool operator==(const LinkState&, const LinkState&) = default;
};
// The meaning of an error of the worker's server.
LinkState link_state(const Error& error);

// The link to one worker by one kubeconfig: probes, and caches of its nodes, pods and copies. Knows
// no queue. Decides nothing.
class Worker {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    // `state` or `synced` is another one.
    virtual void link_changed(Worker& worker) = 0;
    // After the first lists, which are in the stores then.
    virtual void node_changed(Worker& worker, const runtime::ObjectChange& change) = 0;
    virtual void pod_changed(Worker& worker, const runtime::ObjectChange& change) = 0;
    virtual void copy_changed(Worker& worker, queue::WorkKind kind,
                              const runtime::ObjectChange& change) = 0;
    // MachineTypes or MachineRequests.
    virtual void machines_changed(Worker& worker) = 0;
  };
  struct Options {
    std::string name;
    std::string hub;
    std::string kubeconfig;  // text
    // The identity that it had before; another one is an error.
    std::string expected_id{};
    WorkerTimes times{};
    bool training_jobs = false;  // TrainingJobs have copies too
    Logger logger{};
  };

  // `connection` is null where the kubeconfig is of no use; `state` says why.
  Worker(Env env, Listener& listener, std::unique_ptr<kube::Connection> connection, LinkState state,
         Options options);
  ~Worker();

  // Until stopped.
  Task<void> run();

  const std::string& name() const { return options_.name; }
  const std::string& kubeconfig() const { return options_.kubeconfig; }
  const LinkState& state() const { return state_; }
  bool synced() const { return synced_; }
  bool usable() const { return state_.connected && synced_; }
  // The UID of its namespace kube-system; empty before the first answer.
  const std::string& id() const { return id_; }
  const std::string& version() const { return version_; }
  std::string server() const;
  std::optional<WallTime> last_seen() const { return last_seen_; }
  // Somebody else found out.
  void refuse(LinkState state);
  void expect(std::string id) { options_.expected_id = std::move(id); }

  // The hub's Lease there is renewed after each probe that the server answered, from now on or no
  // more. A worker that does not answer is not tried: the last try is what a fence counts from.
  void keep_lease(bool keep) { keeps_lease_ = keep; }
  // The last try ended then, whatever came of it; the last one that succeeded began then.
  std::optional<Instant> lease_tried() const { return lease_tried_; }
  std::optional<Instant> lease_renewed() const { return lease_renewed_; }
  const std::string& lease_problem() const { return lease_problem_; }  // of the last try
  // Of the last probe that the server answered.
  Duration round_trip() const { return round_trip_; }

  std::shared_ptr<kube::Client> client() const { return client_; }
  const runtime::Store& nodes() const { return nodes_->store(); }
  const runtime::Store& pods() const { return pods_->store(); }
  // Null as long as those are not known: TrainingJobs, where the worker does not serve them.
  runtime::Informer* copies(queue::WorkKind kind) const;
  // Why no TrainingJob can be sent there; empty: one can.
  const std::string& training_problem() const { return training_problem_; }
  // MachineTypes and MachineRequests; nothing where the worker does not serve or show them.
  std::optional<queue::ClusterMachines> machines() const;
  // Index of pods(): the UID of the copy that they belong to.
  static constexpr std::string_view kByOwner = "owner";

 private:
  Task<LinkState> probe();
  Task<Result<void>> look();
  Task<void> look_at_training();
  Task<void> follow();
  Task<void> follow_training();
  std::unique_ptr<runtime::Informer> copies_of(queue::WorkKind kind, const bool& known);
  Task<void> renew_lease();
  Task<Result<kube::ObjectRef>> write_lease();
  void set_state(LinkState state);

  Env env_;
  Listener& listener_;
  Options options_;
  std::shared_ptr<kube::Client> client_;
  const kube::Connection* connection_ = nullptr;  // the client owns it
  std::unique_ptr<runtime::Informer> nodes_;
  std::unique_ptr<runtime::Informer> pods_;
  std::unique_ptr<runtime::Informer> copies_;
  std::unique_ptr<runtime::Informer> machine_types_;
  std::unique_ptr<runtime::Informer> machine_requests_;
  std::unique_ptr<runtime::Informer> training_;
  LinkState state_;
  bool synced_ = false;
  bool serves_training_ = false;
  bool training_synced_ = false;
  std::string training_problem_;
  bool refused_ = false;
  std::string id_;
  std::string version_;
  std::optional<WallTime> last_seen_;
  bool keeps_lease_ = false;
  std::string lease_version_;  // as we wrote it; empty: look first
  std::optional<Instant> lease_tried_;
  std::optional<Instant> lease_renewed_;
  std::string lease_problem_;
  Duration round_trip_{};
};

}  // namespace codeflare::controllers::dispatch
