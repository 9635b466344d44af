#pragma once

#include "base/result.h"
#include "model/app_wrapper.h"
#include "model/gvk.h"
#include "model/node.h"
#include "model/pod.h"
#include "model/quota_subtree.h"
#include "queue/demand.h"
#include "sched/core.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
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

struct QueueOptions {
  sched::Options core{};
  Binds binds = Binds::nothing;
  // Without a recorded user an AppWrapper is not dispatched.
  bool user_check = true;
};

// An AppWrapper by UID: names may be taken again, and two API groups may hold the same name.
struct WrapperId {
  std::string uid;
  model::ObjectKey key;
  bool legacy = false;  // of mcad.ibm.com
};

// What the queue wants of an AppWrapper. Levels, not events: ask again at any time.
struct Standing {
  enum class Kind : std::uint8_t {
    unknown,   // not (or no longer) in the queue
    waiting,   // `reason` and `message` say for what
    started,   // it has its places: `plan`
    stopping,  // take back what was created; `reason` and `message` say for whom
  };
  Kind kind = Kind::unknown;
  std::vector<model::PlannedPlace> plan{};
  sched::Why why = sched::Why::nothing;
  bool quota = false;     // it waits for quota rather than for nodes
  std::string reason{};   // CamelCase, for the Queued condition: "InsufficientResources"
  std::string message{};  // one sentence with the numbers and what would help
};

// Bind this pod there now; tell with pod events whether it happened.
struct Binding {
  model::ObjectKey pod;
  std::string uid;
  std::string node;
};

struct StepOutcome {
  std::vector<WrapperId> changed;  // their standing is another one now
  std::vector<Binding> bindings;
  std::optional<Time> wake_at;  // time alone may change a decision then
  bool more = false;            // step again soon
};

// The queue of one cluster: API objects in, decisions out. It feeds the scheduling core and says
// its answers in words. Pure and incremental: no I/O and no clock, so the controller, `explain`,
// the simulator and tests all run this very code.
//   queue.upsert_node(node); queue.upsert(wrapper, now); for (auto& id :
//   queue.step(now).changed)...
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
  void remove_pod(const model::ObjectKey& key, std::string_view uid);
  void upsert_quota(const model::QuotaSubtree& subtree);
  void remove_quota(const model::ObjectKey& key);
  // spec.hard of a ResourceQuota without scopes; pods of others in the namespace count against it.
  void set_resource_quota(const model::ObjectKey& key, const model::ResourceList& hard);
  void remove_resource_quota(const model::ObjectKey& key);
  // Nothing new starts while paused.
  void set_paused(bool paused);

  // --- AppWrappers ---
  // First sight decides from the status: with a plan it holds its places (also over quota), work
  // that MCAD dispatched is adopted, the rest waits. Later only priority, suspend and labels are
  // taken over: what a known one holds changes by the calls below alone, because the caller's
  // view may lag behind its own writes. Fails when it cannot be understood; it is not queued then.
  Result<void> upsert(const model::AppWrapper& wrapper, bool legacy, Time now);
  // Its objects are being taken back: what it holds is about to be free.
  void stopping(std::string_view uid);
  // They are gone, and its status says so: back in line from its old place.
  void withdrawn(std::string_view uid, Time now);
  // It holds nothing and wants nothing any more (finished, deleted, refused).
  void remove(std::string_view uid);

  // --- decisions ---
  StepOutcome step(Time now);
  Standing standing(std::string_view uid, Time now) const;
  const Demand* demand(std::string_view uid) const;  // null when unknown

  // --- questions ---
  struct Unplanned {
    std::string pod;
    std::string node;
  };
  // Pods of it beyond the plan (autoscalers, surges): counted, and told in its status.
  std::vector<Unplanned> unplanned(std::string_view uid) const;
  std::vector<WrapperId> line(Time now, std::size_t most) const;  // head first
  std::optional<WrapperId> find(const model::ObjectKey& key) const;
  // The status of a QuotaSubtree as it should be now.
  model::QuotaSubtreeStatus quota_status(const model::QuotaSubtree& subtree) const;
  std::size_t waiting() const;
  std::size_t running() const;
  // For explanations beyond a sentence (report.h).
  sched::Core& core();
  std::optional<sched::GangId> gang(std::string_view uid) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace codeflare::queue
