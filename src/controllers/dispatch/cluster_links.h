#pragma once

#include "base/async/task.h"
#include "base/async/task_group.h"
#include "base/async/wait_list.h"
#include "base/log.h"
#include "controllers/appwrapper/queue_driver.h"
#include "controllers/appwrapper/remote_copies.h"
#include "controllers/dispatch/call_slots.h"
#include "controllers/dispatch/cluster_metrics.h"
#include "controllers/dispatch/copy_object.h"
#include "controllers/dispatch/fence.h"
#include "controllers/dispatch/worker.h"
#include "controllers/dispatch/worker_clients.h"
#include "controllers/submitter/submitter.h"
#include "kube/config.h"
#include "model/managed_cluster.h"
#include "queue/marks.h"
#include "runtime/finalizer.h"
#include "runtime/manager.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::controllers::dispatch {

struct LinkOptions {
  bool local = true;  // AppWrappers may run in the hub's own cluster
  bool legacy_group = false;
  bool training_jobs = false;  // they are dispatched too; their CRD is installed
  std::string secret_ns{queue::kControllerNamespace};
  // Copies are created in the name of whoever submitted the AppWrapper; nothing: in our own. Of
  // TrainingJobs nobody is recorded: they go only to clusters with `submitter: Fixed` then.
  std::optional<SubmitterTrust> submitters{};
  Connector connect = connect_worker;
  WorkerTimes times{};
  // A cluster that rejected an AppWrapper is tried again after so long.
  Duration out_for = std::chrono::minutes(5);
  // Status of ManagedClusters, and a look for stray copies.
  Duration status_every = std::chrono::seconds(5);
  Duration collect_every = std::chrono::seconds(30);
  Logger logger{};
  MetricsRegistry* metrics = nullptr;
};

// The hub's side of many clusters: a Worker for each ManagedCluster, whose nodes and pods it gives
// to the queue; copies of AppWrappers and TrainingJobs, for their reconcilers; the status of
// ManagedClusters. Without any ManagedCluster it watches nothing else. Lives as long as the
// manager.
class ClusterLinks final : public RemoteCopies, public WorkerClients, private Worker::Listener {
 public:
  ClusterLinks(runtime::Manager& manager, LinkOptions options);
  ~ClusterLinks() override;

  // Before run().
  void attach(QueueDriver& driver) { driver_ = &driver; }
  Task<void> run();

  // Of the workers that can be used and show them.
  std::vector<queue::ClusterMachines> machines() const;

  std::shared_ptr<kube::Client> client(std::string_view cluster) const override;
  std::vector<WorkerSeen> clusters() const override;

  Task<Result<Creation>> create(std::string cluster, RemoteWork work,
                                kube::ObjectRef object) override;
  Task<Result<CopySeen>> look(std::string cluster, RemoteWork work) override;
  Task<Result<CopyRemoval>> take_back(std::string cluster, RemoteWork work) override;
  Task<Result<std::string>> remove_all(RemoteWork work) override;
  void avoid(const std::string& uid, const std::string& cluster) override;
  void forget(const std::string& uid) override;

 private:
  struct Copy {
    model::ObjectKey key;
    std::string hub_uid;
    bool waiting = false;
    bool over = false;  // it has ended, or its worker stopped it
    std::optional<Fence> fence{};
  };
  struct Record {
    std::optional<model::ManagedCluster> object{};  // nothing: it is gone, and work is left there
    std::unique_ptr<Worker> worker{};
    std::unique_ptr<TaskGroup> group{};
    bool busy = false;        // an errand is under way
    bool fed = false;         // the queue knows what this worker has
    bool was_usable = false;  // when last told
    std::string twice{};      // it is managed under this name already
    std::optional<WallTime> lost_since{};
    std::set<std::string> nodes{};         // as the queue knows them
    std::set<std::string> pods{};          // UIDs
    std::map<std::string, Copy> copies{};  // by UID on the worker
    // Fences (fence_keeping.cc).
    bool met = false;                     // `fence` is what the status said
    std::optional<Duration> fence{};      // every copy that may run has this one or a shorter
    std::optional<Duration> refencing{};  // copies are given this one
    Instant refencing_since{};
    Instant silent_from{};  // no process before us renewed the Lease after this
    std::optional<WallTime> redispatch_at{};
    bool fallen = false;  // when last looked
  };
  using Records = std::map<std::string, Record, std::less<>>;
  struct Notes {
    queue::ClusterNotes about{};
    std::map<std::string, Instant, std::less<>> until{};  // of those that are out
    std::map<std::string, Instant, std::less<>> no_machines_until{};
  };

  void link_changed(Worker& worker) override;
  void node_changed(Worker& worker, const runtime::ObjectChange& change) override;
  void pod_changed(Worker& worker, const runtime::ObjectChange& change) override;
  void copy_changed(Worker& worker, WorkKind kind, const runtime::ObjectChange& change) override;
  void machines_changed(Worker& worker) override;

  void touch();
  Task<Result<void>> change_or_time(Duration most);
  Task<bool> learn_hub();
  void watch_secrets(TaskGroup& group);
  Task<void> bring_up_to_date();
  Task<void> bring_worker(std::string name, model::ManagedCluster object);
  void take_object(Record& record, model::ManagedCluster object);
  Task<void> drop(std::string name);
  Task<void> end_worker(std::string name);
  // The loop of run() waits for no worker: what takes calls there is done in the worker's own
  // group, one errand at a time. False: another one is under way.
  bool start_errand(const std::string& name, Task<void> errand);
  Task<void> run_errand(std::string name, Task<void> errand);
  struct Source {
    std::string kubeconfig{};  // text; empty: there is none, because of `problem`
    LinkState problem{};
  };
  Source source_of(const model::ManagedCluster& object) const;
  std::unique_ptr<Worker> make_worker(const model::ManagedCluster& object, Source source);
  void check_twice(Worker& worker);
  void feed(Record& record);
  void give_node(queue::Queue& queue, Record& record, const kube::Object& object);
  void give_pod(queue::Queue& queue, Record& record, const kube::Object& object);
  void take_pod(queue::Queue& queue, Record& record, const std::string& uid);
  void read_copy(Record& record, const kube::Object& object, WorkKind kind);
  void tell_clusters();
  void wake_work(const std::string& cluster);
  bool is_registered(const Record& record) const;
  std::string why_closed(const Record& record) const;
  std::string why_closed_to_training(const Record& record) const;
  std::string why_lost(const std::string& cluster) const;

  Task<void> keep_status();
  Task<Result<void>> write_status(std::string name);
  model::ManagedClusterStatus status_of(const Record& record) const;
  Task<Result<void>> keep_finalizer(std::string name);
  bool note_object(const std::string& name, const kube::Object& object);
  void warn_of(const std::string& name, const Result<void>& done);

  void keep_fences();
  void keep_fence(const std::string& name);
  Task<void> refence(std::string name, std::optional<Duration> wanted, std::optional<Instant> due);
  Task<Result<bool>> refence_copies(std::string name);
  Task<Result<bool>> refence_copies_of(std::string name, WorkKind kind);
  // A TrainingJob has a plan there.
  bool has_training(const std::string& cluster) const;
  std::optional<Fence> fence_for(const std::string& cluster) const;
  bool is_lease_fresh(const Record& record) const;
  bool has_fallen(const Record& record) const;
  void look_at_silence(const std::string& name, Record& record);
  // Work of the cluster may start elsewhere without an answer: why; empty: it may not.
  std::string why_given_up(std::string_view cluster) const;

  struct Stray {
    WorkKind kind = WorkKind::app_wrapper;
    model::AppWrapper copy{};
  };
  void collect();
  Task<void> remove_strays(std::string cluster, std::vector<Stray> strays);
  Task<Result<bool>> is_stray_for_sure(std::string cluster, Stray stray);
  // As the hub may have it.
  std::vector<model::ResourceType> hub_types(WorkKind kind) const;
  std::optional<model::AppWrapper> hub_object(const Stray& stray) const;
  bool is_ours(const model::AppWrapper& copy, const std::string& uid) const;
  bool is_usable(std::string_view cluster) const;
  bool is_declared_lost(std::string_view cluster) const;
  bool is_evicting(std::string_view cluster) const;

  Result<kube::Impersonation> creator(const RemoteWork& work,
                                      const model::ManagedClusterSpec& spec) const;
  // To the server of a worker that can be used. Kept for one call, or for a few in turn.
  struct Way {
    std::shared_ptr<kube::Client> client;
    CallSlots::Slot slot;
  };
  Task<Result<Way>> way_to(std::string cluster);
  Task<Result<std::optional<CopyObject>>> get_copy(std::shared_ptr<kube::Client> client,
                                                   WorkKind kind, model::ObjectKey key);
  Task<Result<void>> change_copy(std::string cluster, const CopyObject& copy, RemoteWork work);
  Task<Result<std::optional<Creation>>> make_copy(std::shared_ptr<kube::Client> client,
                                                  std::string cluster, RemoteWork work,
                                                  kube::ObjectRef object);
  Creation rule_out(const std::string& uid, const std::string& cluster, std::string why);
  void tell_notes(const std::string& uid);
  void end_notes();

  runtime::Manager& manager_;
  Env env_;
  LinkOptions options_;
  Logger logger_;
  QueueDriver* driver_ = nullptr;
  runtime::Informer& managed_;
  runtime::Finalizer finalizer_;
  std::unique_ptr<runtime::Informer> secrets_;
  std::string hub_;  // identity
  Records records_;
  std::map<std::string, CallSlots> slots_;           // by name of the worker
  std::map<std::string, Notes, std::less<>> notes_;  // by UID of the hub's object
  std::unique_ptr<ClusterMetrics> metrics_;          // null: nobody counts
  bool dirty_ = true;
  bool begun_ = false;  // ManagedClusters are known
  WaitList changed_;
};

// Adds dispatch to a manager whose cluster serves ManagedClusters: before the queue's controllers,
// which get the links as QueueControllersOptions::copies.
std::shared_ptr<ClusterLinks> add_links(runtime::Manager& manager, LinkOptions options);
// After them.
void start_links(runtime::Manager& manager, const std::shared_ptr<ClusterLinks>& links,
                 const std::shared_ptr<QueueDriver>& driver);

// Whether the copy has no business on the cluster, by the hub's object (nothing: there is none).
bool is_stray(const std::optional<model::AppWrapper>& hub, std::string_view cluster,
              const model::AppWrapper& copy);

}  // namespace codeflare::controllers::dispatch
