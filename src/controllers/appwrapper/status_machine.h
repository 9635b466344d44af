#pragma once

#include "base/time.h"
#include "model/app_wrapper.h"
#include "model/training_job.h"
#include "queue/pod_trouble.h"
#include "queue/queue.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The life of an AppWrapper, without I/O: all that is known of it goes in, the one next thing to do
// comes out. The order of the steps is that of docs/decisions/0003-the-queue.md: intent with the
// plan, items, Dispatched; and backwards `canrun: false`, items and pods gone, plan dropped.
namespace codeflare::controllers {

struct MachineOptions {
  // Pod counts and reasons that change all the time are written at most this often.
  Duration counts_every = std::chrono::seconds(5);
  // Items are complete, pods do not show it yet: the pods' cache usually lags a moment behind.
  Duration hold_completion_after = std::chrono::seconds(1);
  Duration item_failure_after = std::chrono::seconds(10);
  // Items that never say that they are done (clusters, services) are, once no pod of them was there
  // for this long: one that is being replaced comes back sooner.
  Duration quiet_before_end = std::chrono::seconds(30);
  // Objects that remain are deleted without grace, but only `ask_before_force` after the request.
  Duration force_deletion_after = std::chrono::minutes(10);
  Duration ask_before_force = std::chrono::minutes(1);
  // Objects that remain by then are named in the status.
  Duration name_what_stays_after = std::chrono::minutes(1);
  // A copy that the queue of its cluster does not start for so long is deleted.
  Duration dispatch_patience = std::chrono::seconds(30);
};

// One wrapped object as the caches show it.
struct ItemSeen {
  std::string name;     // "jobs.batch ns/name", for messages
  bool counts = false;  // has a completionstatus
  bool complete = false;
  std::string failure{};  // it says that it has failed: how; empty otherwise
  bool lost = false;      // it is gone for sure, and we did not remove it
  std::int64_t pods = 0;  // over its life, as far as its demand tells
  bool finished = false;  // it said that it has ended, well or not
  bool watched = true;    // its changes wake us
};

struct PodsSeen {
  std::int32_t pending = 0;
  std::int32_t running = 0;
  std::int32_t succeeded = 0;
  std::int32_t failed = 0;
  std::int64_t cpu = 0;     // millicores of running and succeeded ones
  std::int64_t memory = 0;  // bytes
  std::int64_t gpu = 0;
  std::int32_t unschedulable = 0;
  std::vector<model::PendingPodConditions> unschedulable_pods{};  // the first few
  // The worst that any of them has, or had when it went; nothing when all is well.
  std::optional<queue::PodTrouble> trouble{};
};

// The outcome of creating the items in this pass.
struct Creation {
  enum class Kind : std::uint8_t {
    done,       // all are there
    refused,    // for good; `message` says why
    quota,      // by a ResourceQuota: to be tried again later
    later,      // something stands in the way now, and may pass
    elsewhere,  // its cluster will not take it, another may
  };
  Kind kind = Kind::done;
  std::string message{};
};

// The copy of an AppWrapper, or of a TrainingJob, on the cluster that its plan names.
struct CopySeen {
  std::string cluster;
  bool unknown = false;    // it was not looked at yet
  std::string lost{};      // the cluster does not answer: since when; then nothing else is known
  bool gone = false;       // its server says that there is none
  std::string given_up{};  // it may start elsewhere without an answer of the cluster: why
  bool fenced = false;     // its cluster stopped it, because this hub was silent for too long
  bool evicted = false;    // its cluster is drained, and what runs there is to leave
  bool outdated = false;   // priority or size could not be written; no watch brings the next try
  model::AppWrapperStatus status{};
  std::optional<model::TrainingJobStatus> training{};  // of a copy of a TrainingJob
};

struct Observed {
  const model::AppWrapper* wrapper = nullptr;
  queue::Standing standing{};
  // Why it waits, in a sentence; expensive, so it is asked for only when it is to be written.
  std::function<std::string()> sentence{};
  std::string problem{};  // why the queue cannot understand it
  std::vector<ItemSeen> items{};
  PodsSeen pods{};
  std::string surplus{};             // pods beyond the plan and ignored fields, in words; or empty
  std::int64_t surplus_waiting = 0;  // of these pods, those without a node
  // Of an elastic one: the fewest pods that it runs with.
  std::optional<std::int64_t> smallest{};
  std::optional<Creation> creation{};
  // Of one whose plan is on another cluster; items and pods say what it says (read_copy).
  std::optional<CopySeen> copy{};
  // Taking back has ended: no item and no pod of it is left, or nothing that holds a place.
  bool cleared = false;
  // It was withdrawn, and its copy had ended by itself before: this is its end.
  std::optional<model::AppWrapperStatus> copy_ended{};
  std::string abandoned{};      // items that stay for their finalizers although it is cleared
  std::string left{};           // they were asked to go in this pass: what is still there
  bool stuck = false;           // and that without grace, and no Event reported it yet
  bool trouble_is_new = false;  // pods.trouble is of a kind that no Event reported
  // This process's memory; after a restart it starts anew, which costs a write at most.
  std::optional<WallTime> written{};           // our last write of the status
  std::optional<WallTime> settled_since{};     // items complete or failed
  std::optional<WallTime> unhealthy_since{};   // after it had been healthy
  std::optional<WallTime> quiet_since{};       // no pod pending or running
  std::optional<WallTime> asked_since{};       // its items were first asked to go
  std::optional<WallTime> copy_waits_since{};  // its copy waits in the queue of its cluster
  WallTime now;
};

enum class Act : std::uint8_t {
  none,
  add_finalizer,
  write,      // the status
  create,     // the items; then look again, with what came of it
  take_back,  // delete the items; then look again, or wait until they are gone
  release,    // let go of the AppWrapper: drop the finalizer
  expire,     // delete the AppWrapper itself
  retry,      // creating failed and may succeed soon
};

// For the queue: `stopping` before the act, so that nothing is started anew meanwhile; the others
// once it has succeeded.
enum class Tell : std::uint8_t { nothing, stopping, withdrawn, forget };

struct Note {
  bool warning = false;
  queue::Reason reason = queue::Reason::none;
  std::string message;
  bool good = false;  // it goes as it should: an Event only while there are few such
};

struct Decision {
  Act act = Act::none;
  Tell tell = Tell::nothing;
  model::AppWrapperStatus status{};  // for write
  bool force = false;                // for take_back: without grace
  bool idle = false;                 // for write: nice to know, and no more
  bool late = false;                 // for write: may wait a moment for what follows it
  std::string why{};                 // for the log
  std::vector<Note> notes{};         // events, once the act has succeeded
  std::optional<Duration> again{};   // time alone may change the decision
  std::string avoid{};               // for write: the cluster that it tries last from now on
};

Decision decide(const Observed& observed, const MachineOptions& options = {});

// Reads `copy` as items and pods.
void read_copy(Observed& observed);
// The queue of its cluster has not started it; for Observed::copy_waits_since.
bool is_waiting_there(const CopySeen& copy);
// Likewise, and machines for it come there.
bool is_scaling_there(const CopySeen& copy);

// Dispatched by somebody without plans, that is MCAD.
bool is_adopted(const model::AppWrapperStatus& status);
// Healthy as far as minAvailable, the scheduler and lost places say; for
// Observed::unhealthy_since.
bool is_healthy(const Observed& observed);
// It has run since its last dispatch.
bool has_run(const model::AppWrapperStatus& status);
// No pod is pending or running; for Observed::quiet_since.
bool is_quiet(const PodsSeen& pods);
// All items that count are complete, or one has failed; for Observed::settled_since.
bool is_settled(const std::vector<ItemSeen>& items);
// The items' state matters: it is dispatched, or on its way out.
bool needs_items(const model::AppWrapper& wrapper);

}  // namespace codeflare::controllers
