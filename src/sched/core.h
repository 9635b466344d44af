#pragma once

#include "base/result.h"
#include "sched/decision.h"
#include "sched/explanation.h"
#include "sched/spec.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::sched {

struct State;
struct MachineQuestion;
struct MachineAnswer;

// The scheduling core: decides which gangs start where, and why the others wait. Pure: events in,
// decisions out, the same events give the same decisions. Incremental: an event costs what it
// changes, not what waits (docs/decisions/0001-scheduling-core.md).
//   core.upsert_node(...); core.submit(...); for (auto& a : core.step(now).admitted) ...
class Core {
 public:
  explicit Core(Options options = {});
  ~Core();
  Core(Core&&) noexcept;
  Core& operator=(Core&&) noexcept;
  // A copy goes its own way: estimates replay the future in one.
  Core clone() const;

  // --- the world ---
  // Adds the node or takes over its new labels, taints and allocatable amounts, by name.
  Result<NodeId> upsert_node(const NodeSpec& spec);
  // Returns the gangs that lost places or pods; nominated ones are back in line.
  std::vector<GangId> remove_node(NodeId node);
  // The sum of pods of nobody here on the node.
  Result<void> set_foreign(NodeId node, const Resources& usage);

  // Replaces the tree; what runs is charged to it at once, even over its limits. Returns problems:
  // duplicates, parents that do not exist, cycles; the nodes concerned cannot be charged. With a
  // namespace the tree concerns its gangs only.
  std::vector<std::string> set_quota_tree(const std::string& tree, std::vector<QuotaNode> nodes,
                                          const std::string& only_ns = {});
  void remove_quota_tree(const std::string& tree);
  // The sum that nobody's gangs use of the quota node. Parents are not charged.
  Result<void> set_quota_foreign(const std::string& tree, const std::string& node,
                                 const Resources& usage);
  // While paused no gang starts, loose ones apart.
  void set_paused(bool paused);
  bool paused() const;

  // --- gangs ---
  Result<GangId> submit(GangSpec spec);
  // Work that was dispatched before: charged even over quota or capacity, never placed anew.
  Result<GangId> adopt(GangSpec spec, Time started, const Placement& placement);
  // One of fixed size in line starts where the caller says, over capacity and quota if need be. Its
  // pods without a place here have no node yet.
  Result<void> start(GangId gang, Time now, const Placement& placement);
  // It ended or was deleted, and its pods are gone: forgets it and frees all it held.
  Result<void> remove(GangId gang);
  // The caller begins to stop it: what it holds is about to be free.
  Result<void> drain(GangId gang);
  // Its pods are gone: back in line with its old submission time, running time counted as consumed.
  Result<void> requeue(GangId gang, Time now);
  Result<void> set_priority(GangId gang, std::int32_t priority);
  Result<void> set_held(GangId gang, bool held);
  // It charges other quota nodes from now on; one that runs does so even over their limits.
  Result<void> set_quota(GangId gang, std::vector<Designation> quota);
  // Other constraints for the pods of one that waits: the same pods, other nodes. Not for gangs of
  // several sizes.
  Result<void> set_pods(GangId gang, const std::vector<PodSet>& pod_sets, const Within& within);

  // --- elastic gangs ---
  // Other bounds for its elastic pod set. One in line waits for its new minimum; one that runs
  // grows or shrinks with the next step.
  Result<void> set_bounds(GangId gang, Sizes sizes);
  Result<void> set_progress(GangId gang, Progress progress);
  // Of several queues the growth is shared by weight (ElasticPolicy::fair); 1 unless set.
  void set_queue_weight(const std::string& queue, double weight);
  // Pods of the elastic set. `planned` is what it keeps: those that leave are not counted, those
  // that wait for their place are.
  struct Size {
    std::int64_t planned = 0;
    std::int64_t coming = 0;   // of these, nominated on places that others are leaving
    std::int64_t leaving = 0;  // beside them, until told gone
    Sizes sizes{};
    std::optional<Time> grows_from{};  // after a resize: when its cooldown is over
  };
  // Nothing for a gang of fixed size.
  std::optional<Size> size(GangId gang) const;

  // --- pods of running gangs ---
  // A pod got its node: what it really takes there replaces one reserved place of its pod set, one
  // on that node if there is one. Pods beyond the plan are counted in addition. Quota is charged
  // `charge`, or the requests without one. Returns whether it was planned.
  Result<bool> pod_bound(GangId gang, const std::string& pod, std::uint32_t pod_set, NodeId node,
                         const Resources& requests,
                         const std::optional<Resources>& charge = std::nullopt);
  // The pod is gone. With `replaced` its place on the node is reserved again for a successor.
  Result<void> pod_ended(GangId gang, const std::string& pod, bool replaced);
  // One pod of the set will not come any more: gives up a place that none has taken yet, on that
  // node if there is one, else one that lost its node. Returns whether there was one.
  Result<bool> drop_place(GangId gang, std::uint32_t pod_set,
                          std::optional<NodeId> node = std::nullopt);
  // Planned pods whose node is gone get places anew: where they fit, all of `counts` (by pod set)
  // or none; or where told, over capacity if need be and no more than are without a place.
  Result<bool> find_places(GangId gang, const std::vector<std::int64_t>& counts);
  Result<void> give_places(GangId gang, const Placement& placement);
  // A reserved place of the set on this node goes to another node where it fits. Without one the
  // place stays: false.
  Result<bool> move_place(GangId gang, std::uint32_t pod_set, NodeId from);

  // --- decisions ---
  // Decides all that can be decided now; at most `admissions_max` admissions, for short steps.
  StepResult step(Time now, std::size_t admissions_max = std::numeric_limits<std::size_t>::max());

  // Free amounts have changed since review() last looked at everybody in line.
  bool reasons_stale() const;
  // Sleeping gangs are not tried until that can help, but may wait for another reason meanwhile: of
  // all that are alike the first in line is reported. Costs half a millisecond at most: what is
  // left over is the next call's. Changes no decision; meant to be called about once a second.
  std::vector<Refusal> review(Time now);

  // --- questions ---
  // Reason and numbers. None of these changes a decision.
  Result<Explanation> explain(GangId gang, Time now, Detail detail = Detail::full);
  Result<Advice> advise(GangId gang, Time now);
  // The holders of what it is short of, on nodes that it may use or of the quota node without room;
  // for a nominated gang, the leaving gangs that still hold its place. The largest first.
  Result<std::vector<Holder>> holders(GangId gang, Time now, std::size_t most) const;
  // Replays expected ends through a copy of this core.
  Result<Estimate> estimate(GangId gang, Time now) const;
  // Which new machines would let those in line start that only nodes keep waiting (machines.h).
  // Trials on the core itself, undone.
  MachineAnswer machines(const MachineQuestion& question, Time now);
  // The line as it stands, head first.
  std::vector<GangId> queue(Time now, std::size_t most) const;

  // The gang that keeps its place from those behind it, if any.
  std::optional<ReservationReport> reservation() const;

  std::optional<GangId> find(std::string_view name) const;
  std::optional<NodeId> find_node(std::string_view name) const;
  const std::string& name(GangId gang) const;
  const std::string& node_name(NodeId node) const;
  // Gangs that hold something there.
  std::vector<GangId> residents(NodeId node) const;
  Result<GangState> state(GangId gang) const;
  // Why it waits, without numbers: cheap enough to ask for every gang.
  Result<Reason> why(GangId gang) const;
  // Of a nominated gang: quota is what those who leave still hold of its place.
  bool awaits_quota(GangId gang) const;
  // The places that are reserved and not yet taken by pods.
  Result<Placement> reserved(GangId gang) const;
  // All places of one pod set: nothing for a gang that waits.
  struct Held {
    std::int64_t reserved = 0;
    std::int64_t bound = 0;     // pods in their planned place
    std::int64_t unplaced = 0;  // planned pods without a node
  };
  Held held(GangId gang, std::uint32_t pod_set) const;
  Resources free(NodeId node) const;
  // Charged amounts, limited resources first come first; empty when there is no such node.
  Resources quota_used(const std::string& tree, const std::string& node) const;
  std::size_t waiting() const;
  std::size_t running() const;
  // Bytes held for gangs, nodes and indexes, names of gangs left out.
  std::size_t memory_bytes() const;

  // Recomputes every derived number from the records and reports the first that differs.
  Result<void> check_invariants() const;

 private:
  explicit Core(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace codeflare::sched
