#pragma once

#include "base/result.h"
#include "model/app_wrapper.h"
#include "model/gvk.h"
#include "model/node.h"
#include "model/pod.h"
#include "model/quota_subtree.h"
#include "model/reason.h"
#include "queue/clusters.h"
#include "queue/demand.h"
#include "queue/training_work.h"
#include "queue/work.h"
#include "sched/core.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::queue {

using sched::Time;

enum class Binds : std::uint8_t {
  nothing,  // another scheduler binds; the plan is the admission test
  gangs,    // pods of AppWrappers that ask for our scheduler are bound as planned
  all,      // and every other pod too, whatever scheduler it names
};

using model::Reason;

struct QueueOptions {
  sched::Options core{};
  Binds binds = Binds::nothing;
  // Without a recorded user an AppWrapper is not dispatched.
  bool user_check = true;
  TrainingOptions training{};
};

// The queue's decision about an AppWrapper. Levels, not events: ask again at any time.
struct Standing {
  enum class Kind : std::uint8_t {
    unknown,   // not (or no longer) in the queue
    waiting,   // `reason` says for what
    started,   // it has its places: `plan`
    stopping,  // delete the created objects, then withdrawn(); `reason` says why
  };
  Kind kind = Kind::unknown;
  // Waiting: as the Queued condition has it. Stopping: preempted, suspended, place_lost, or
  // stopping when the caller decided. Started: none, or place_lost while another scheduler may
  // still find a place for the pods that lost theirs (`pods_lost`).
  Reason reason = Reason::none;
  // Started and stopping: for whom or what; one clause. Waiting: empty, see Queue::sentence.
  std::string message{};
  Reason why = Reason::none;  // waiting: as the core has it
  bool quota = false;         // it waits for quota rather than for nodes
  // Started and stopping: goes into status.plan as it is. It changes while started only when lost
  // places were found anew; `changed` tells so, and the new one is to be written.
  std::vector<model::PlannedPlace> plan{};
  std::optional<Time> since{};  // when it was started: plan.started
  std::int64_t pods_lost = 0;   // planned pods whose node is gone
  // Of a TrainingJob that shrinks: pods beside the plan that have to go, and for whom.
  std::vector<model::PlannedPlace> leaving{};
  std::string shrinks_for{};
};

// Bind this pod there now; tell with pod events whether it happened, or with binding_failed().
struct Binding {
  model::ObjectKey pod;
  std::string uid;
  std::string node;
};

struct StepOutcome {
  // Their standing (kind, reason or plan) is another one than when last told here. Of many alike
  // that wait for the same thing only the first in line reports another reason; every AppWrapper
  // reports its first reason.
  std::vector<WorkId> changed;
  std::vector<Binding> bindings;
  // UIDs of pods of no AppWrapper, or beyond the plan of theirs, that were tried and have no place,
  // once for each reason.
  std::vector<std::string> unplaced;
  std::optional<Time> wake_at;  // time alone may change a decision or a reason then
  bool more = false;            // step again soon
};

struct QueueState;
struct MachineAsk;
struct MachineMarket;
struct MachineNote;
struct MachinePlan;

// The queue of one cluster: API objects in, decisions out. It feeds the scheduling core and says
// its answers in words. Pure and incremental: no I/O and no clock, so the controller, `explain`,
// the simulator and tests all run this very code. Objects may come in any order, but all that
// exist must have been given before the first step: who is not known to hold anything is not
// spared.
//   queue.upsert_node(node); queue.upsert(wrapper, now);
//   for (const WorkId& id : queue.step(now).changed) act(queue.standing(id.uid));
class Queue {
 public:
  explicit Queue(QueueOptions options = {});
  ~Queue();
  Queue(Queue&&) noexcept;
  Queue& operator=(Queue&&) noexcept;

  // --- the cluster ---
  void upsert_node(const model::Node& node);
  void remove_node(std::string_view name);
  // Pods of AppWrappers are known by their UID label, whichever is seen first.
  void upsert_pod(const model::Pod& pod);
  // With an empty uid: whatever pod has this name.
  void remove_pod(const model::ObjectKey& key, std::string_view uid);
  void upsert_quota(const model::QuotaSubtree& subtree);
  void remove_quota(const model::ObjectKey& key);
  // A ResourceQuota (quota_scope.h); pods of others in the namespace count against it.
  void set_resource_quota(const model::ObjectKey& key, const QuotaRule& rule);
  void remove_resource_quota(const model::ObjectKey& key);
  // No AppWrapper starts while paused; loose pods are still bound.
  void set_paused(bool paused);
  bool paused() const;
  // Nothing starts or grows for this reason, beside paused; running work is left alone. Without a
  // sentence the block is over.
  void block(Reason why, std::string sentence);
  std::string blocked() const;  // the sentence of a block, if there is one
  // Several clusters, `local` among them: an AppWrapper is placed within one, and nodes of the
  // others are named CLUSTER/NODE. AppWrappers with places stay where they are. Empty: one cluster,
  // local. Pods of workers are named CLUSTER/POD, those of nobody here also in CLUSTER/NAMESPACE;
  // only bound ones are given.
  void set_clusters(std::vector<ClusterInfo> clusters);
  const std::vector<ClusterInfo>& clusters() const;
  // Notes about clusters for one AppWrapper that waits, or will.
  void set_cluster_notes(std::string_view uid, ClusterNotes notes);
  // Nodes that TrainingJobs may use, and the unit that they are counted in.
  void set_training(TrainingOptions training);

  // --- work ---
  // First sight decides from the status: with a plan it holds its places (also over quota; with
  // canrun false it is stopping), work that MCAD dispatched is adopted, finished or deleted ones
  // without a plan are not queued, the rest waits. Later only priority, suspend, the user, labels
  // and deletion are taken over (a deleted one leaves the line, what it holds stays): what a
  // known one holds changes by the calls below alone, because the caller's view may lag behind its
  // own writes. Fails when it cannot be understood; it is not queued then.
  Result<void> upsert(const model::AppWrapper& wrapper, Time now,
                      model::WrapperApi api = model::WrapperApi::workload_v1beta1);
  // A TrainingJob: one gang between its bounds. Bounds, priority and suspend of a known one are
  // taken over at any time, its pod template while it waits. A TrainingJob inside an AppWrapper has
  // no gang of its own: the bounds of the AppWrapper's gang follow it.
  Result<void> upsert(const model::TrainingJob& job, Time now);
  // The caller begins to take its objects back, before its first write that says so: what it
  // holds is about to be free, and it will not become `started` again without withdrawn().
  void stopping(std::string_view uid);
  // They are gone, and its status says so without a plan: back in line from its old place. Also for
  // one that is `stopping` whose start never reached its status. With `not_before` (status_words.h)
  // it is not tried until then, or until a ResourceQuota of its namespace changes.
  void withdrawn(std::string_view uid, Time now, std::optional<Time> not_before = std::nullopt);
  // It holds nothing and wants nothing any more (finished, rejected, being deleted and cleaned up).
  // Remembered: later upserts of this uid do nothing, as they may be older than what led to this.
  void remove(std::string_view uid);
  // The object is gone from the API: remove(), and no memory of it.
  void forget(std::string_view uid);

  // A wrapped object of it as it is now. One that was scaled down since it was dispatched wants
  // fewer pods: their places are given up. Returns whether any is free now.
  bool item_seen(std::string_view uid, const json::Value& object);

  // Its status has these places now. After a change of the plan no pod of it is bound before. False
  // when that changes nothing.
  bool plan_written(std::string_view uid, const std::vector<model::PlannedPlace>& places);

  // --- decisions ---
  StepOutcome step(Time now);
  // The Binding was rejected: the pod goes back to its place in the plan (a loose one back in line)
  // and a later step hands it out again. The caller waits as long as it sees fit before.
  void binding_failed(std::string_view pod_uid);

  // --- machines (machines.h) ---
  // Which to ask for, for whom, over the line in its order. Changes nothing.
  MachinePlan plan_machines(const MachineMarket& market, Time now) const;
  // One that waits starts in the ask's cluster, whose own controller asks for the machines: its
  // places on them are for nobody else, and follow its pods. False when it may not start so.
  bool start_on_machines(const MachineAsk& ask, Time now);
  // Machine notes for waiting AppWrappers, until the next call. Returns whether it is news.
  bool set_machine_notes(std::map<std::string, MachineNote> notes);
  // MachineRequests that are complete: their nodes are for everybody, at once. Returns whether any
  // node is for everybody that was not before.
  bool set_arrived(std::set<std::string> requests);
  // Whether anybody waits for machines of this incomplete MachineRequest.
  bool awaits_request(const std::string& request) const;
  // When the machines that were asked for one that waits usually are ready, if anybody knows.
  std::optional<Time> machines_ready(std::string_view uid) const;
  struct NodeUse {
    bool planned = false;                // work has, or will have, places there
    std::vector<model::ObjectKey> pods;  // that are there and not finished, whoever's
  };
  NodeUse node_use(std::string_view node) const;
  bool knows_node(std::string_view node) const;

  // --- questions ---
  // Cheap, but for the copy of the plan.
  Standing standing(std::string_view uid) const;
  Standing::Kind kind(std::string_view uid) const;
  // Why it waits: one sentence with numbers and what would help. Looks at every node, so ask when
  // it is to be written or shown. For others than waiting ones the message of the standing.
  std::string sentence(std::string_view uid, Time now) const;
  std::optional<WorkId> id(std::string_view uid) const;
  const Demand* demand(std::string_view uid) const;  // null when unknown
  struct Unplanned {
    std::string pod;
    std::string node;  // empty: none yet
  };
  // Pods of it beyond the plan (autoscalers, surges): counted once they have a node, and told in
  // its status from the beginning.
  std::vector<Unplanned> unplanned(std::string_view uid) const;
  struct Unplaced {
    model::ObjectKey pod;
    std::string why;  // one sentence with numbers; looks at every node
  };
  // Of a pod that step() told; nothing when it has a place by now, or is gone.
  std::optional<Unplaced> unplaced(std::string_view pod_uid, Time now) const;
  std::vector<WorkId> line(Time now, std::size_t most) const;  // head first, held ones left out
  std::vector<WorkId> known() const;  // all that wait or hold something, by name
  // Every AppWrapper of this name: more than one while an older one still holds something, or with
  // two API groups. Those whose uid the API does not have any more are the caller's to forget().
  std::vector<WorkId> find_all(const model::ObjectKey& key) const;
  // The one seen last.
  std::optional<WorkId> find(const model::ObjectKey& key,
                             WorkKind kind = WorkKind::app_wrapper) const;
  // The status of a QuotaSubtree as it should be now.
  model::QuotaSubtreeStatus quota_status(const model::QuotaSubtree& subtree) const;
  // The sum of pods on nodes that no gang here accounts for; sorted by name.
  sched::Resources outside() const;
  std::size_t waiting() const;  // AppWrappers
  std::size_t running() const;  // those that hold something
  // Objects that hold places in the cluster, by UID.
  std::vector<std::string> held_in(std::string_view cluster) const;
  struct NodeTotals {
    std::int64_t nodes = 0;  // ready ones
    sched::Resources capacity{};
    sched::Resources free{};
  };
  // Of the nodes of the cluster that are ready and not cordoned.
  NodeTotals totals(std::string_view cluster) const;
  // For explanations beyond a sentence (report.h).
  sched::Core& core();
  std::optional<sched::GangId> gang(std::string_view uid) const;
  // Of a TrainingJob; nothing for others.
  std::optional<sched::Core::Size> size(std::string_view uid) const;
  // Why a TrainingJob that runs is not larger: one sentence with numbers; looks at every node.
  std::string growth_sentence(std::string_view uid, Time now) const;
  // "team-a/train", "team-a/train of mcad.ibm.com" or "pod team-a/x" for a gang of the core.
  std::string name_of(sched::GangId gang) const;

 private:
  std::unique_ptr<QueueState> state_;
};

// Of the AppWrapper that wraps the job, with the places of its pods alone; unknown when the
// AppWrapper has no such item.
Standing standing_in_wrapper(const Queue& queue, const model::TrainingJob& job);

}  // namespace codeflare::queue
