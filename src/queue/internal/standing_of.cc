#include "queue/internal/standing_of.h"

#include "queue/internal/amounts.h"
#include "queue/internal/lost_places.h"
#include "queue/machines.h"
#include "queue/marks.h"
#include "queue/report.h"
#include "queue/status_words.h"
#include "sched/sizes.h"

#include <chrono>
#include <limits>
#include <utility>

namespace codeflare::queue {

namespace {

Reason why_of(const QueueState& state, const WrapperRecord& wrapper) {
  return state.core.why(wrapper.gang).value_or(Reason::none);
}

bool waits_for_nodes(Reason why) {
  return why == Reason::no_node_allowed || why == Reason::insufficient_resources ||
         why == Reason::fragmented;
}

MachineNote machine_note(const QueueState& state, const WrapperRecord& wrapper) {
  const auto note = state.machine_notes.find(wrapper.id.uid);
  return note == state.machine_notes.end() ? MachineNote{} : note->second;
}

Reason waiting_reason(const QueueState& state, const WrapperRecord& wrapper) {
  if (wrapper.suspended) {
    return Reason::held;
  }
  if (!wrapper.user_known) {
    return Reason::user_unknown;
  }
  if (wrapper.not_before) {
    return Reason::retry_later;
  }
  const Reason why = why_of(state, wrapper);
  if (waits_for_nodes(why) && machine_note(state, wrapper).scaling) {
    return Reason::scaling_up;
  }
  if (why == Reason::paused && !state.paused && !state.blocks.empty()) {
    return state.blocks.begin()->first;
  }
  return why == Reason::none ? Reason::evaluating : why;
}

// None: nothing asks it to stop.
Reason stop_reason(const WrapperRecord& wrapper) {
  if (!wrapper.evicted_for.empty()) {
    return Reason::preempted;
  }
  if (wrapper.suspended) {
    return Reason::suspended;
  }
  if (wrapper.place_lost) {
    return Reason::place_lost;
  }
  return wrapper.draining ? Reason::stopping : Reason::none;
}

std::string_view suspend_field(const WorkId& id) {
  return id.kind == WorkKind::training_job ? "spec.runPolicy.suspend" : "spec.suspend";
}

std::string lost_text(const WrapperRecord& wrapper) {
  const std::int64_t pods = pods_lost(wrapper);
  std::string nodes;
  std::size_t count = 0;
  for (const model::PlannedPlace& place : wrapper.lost) {
    if (!is_new_machine(place.node)) {
      nodes += (count++ == 0 ? "" : ", ") + place.node;
    }
  }
  return "lost " + std::to_string(pods) + (pods == 1 ? " pod: " : " pods: ") +
         (count == 1 ? "node " : "nodes ") + nodes + (count == 1 ? " is gone" : " are gone");
}

std::string message_of(const WrapperRecord& wrapper, Reason reason) {
  if (reason == Reason::preempted) {
    return "preempted by " + wrapper.evicted_for +
           (wrapper.evicted_cause == sched::EvictionCause::priority
                ? ", which has a higher priority"
                : ", which reclaims lent quota");
  }
  if (reason == Reason::suspended) {
    return std::string(suspend_field(wrapper.id)) + " is true";
  }
  if (reason != Reason::place_lost) {
    return "";
  }
  return wrapper.place_lost ? lost_text(wrapper) + "; no other node has room" : lost_text(wrapper);
}

}  // namespace

Brief brief_of(const QueueState& state, const WrapperRecord& wrapper) {
  if (!wrapper.holds) {
    return {Standing::Kind::waiting, waiting_reason(state, wrapper), 0};
  }
  if (const Reason stop = stop_reason(wrapper); stop != Reason::none) {
    return {Standing::Kind::stopping, stop, wrapper.plan_version};
  }
  return {Standing::Kind::started, pods_lost(wrapper) == 0 ? Reason::none : Reason::place_lost,
          wrapper.plan_version};
}

Standing standing_of(const QueueState& state, const WrapperRecord& wrapper) {
  const Brief brief = brief_of(state, wrapper);
  Standing standing{.kind = brief.kind, .reason = brief.reason};
  if (!wrapper.holds) {
    standing.why = why_of(state, wrapper);
    standing.quota = standing.why == Reason::insufficient_quota ||
                     standing.why == Reason::unknown_quota || state.core.awaits_quota(wrapper.gang);
    // Why no machine is requested. The sentence has it too.
    if (const MachineNote note = machine_note(state, wrapper);
        !note.scaling && waits_for_nodes(brief.reason)) {
      standing.message = note.text;
    }
    return standing;
  }
  standing.message = message_of(wrapper, brief.reason);
  standing.plan = wrapper.plan;
  standing.since = wrapper.since;
  standing.pods_lost = pods_lost(wrapper);
  standing.leaving = wrapper.leaving;
  standing.shrinks_for = wrapper.shrinks_for;
  return standing;
}

namespace {

// One that only shrinks: its leaving pods alone are awaited.
void tell_leaving_pods(const QueueState& state, sched::Holder& awaited) {
  const auto found = state.by_gang.find(awaited.gang);
  const auto size = state.core.size(awaited.gang);
  const bool shrinks = found != state.by_gang.end() && size && size->leaving > 0 &&
                       state.core.state(awaited.gang) == sched::GangState::running;
  if (!shrinks) {
    return;
  }
  const sched::Resources& pod = found->second->demand.pod_sets.front().pods.requests;
  for (sched::Resource& held : awaited.held) {
    held.amount = size->leaving * amount_of(pod, held.name);
  }
  awaited.name = std::to_string(size->leaving) + (size->leaving == 1 ? " pod" : " pods") + " of " +
                 awaited.name;
}

std::string waiting_sentence(QueueState& state, const WrapperRecord& wrapper, Time now) {
  const Brief brief = brief_of(state, wrapper);
  if (brief.reason == Reason::held) {
    return std::string(suspend_field(wrapper.id)) + " is true; " + release_text(wrapper.id);
  }
  if (brief.reason == Reason::user_unknown) {
    return "the submitter is unknown: annotation " + std::string(kUserAnnotation) +
           " is missing, or was not written by the admission webhook; create the AppWrapper again "
           "while the webhook is served, or run the controller with --no-user-check";
  }
  if (brief.reason == Reason::retry_later && wrapper.id.kind == WorkKind::training_job) {
    return "pods were not ready in time; next try at " + to_rfc3339(*wrapper.not_before);
  }
  if (brief.reason == Reason::retry_later) {
    return "items could not be created; next try at " + to_rfc3339(*wrapper.not_before) +
           ", or when a ResourceQuota of the namespace changes";
  }
  if (const auto block = state.blocks.find(brief.reason); block != state.blocks.end()) {
    return block->second;
  }
  auto explanation = state.core.explain(wrapper.gang, now, sched::Detail::brief);
  if (!explanation) {
    return "";
  }
  // The core has names of its own.
  if (explanation->reservation) {
    if (const auto holder = state.core.find(explanation->reservation->holder)) {
      explanation->reservation->holder = name_of(state, *holder);
    }
  }
  for (sched::Holder& each : explanation->awaited) {
    each.name = name_of(state, each.gang);
    tell_leaving_pods(state, each);
  }
  const std::string text = sentence(*explanation);
  const MachineNote note = machine_note(state, wrapper);
  if (!waits_for_nodes(explanation->why) || note.text.empty()) {
    return text;
  }
  return note.scaling ? note.text + "; " + text : text + "; " + note.text;
}

}  // namespace

std::string sentence_of(QueueState& state, const WrapperRecord& wrapper, Time now) {
  if (wrapper.holds) {
    return message_of(wrapper, brief_of(state, wrapper).reason);
  }
  std::string text = waiting_sentence(state, wrapper, now);
  const std::string unheeded = unheeded_text(wrapper.demand);
  const std::string clusters =
      wrapper.other_clusters.empty() ? "" : "clusters not used: " + wrapper.other_clusters;
  for (const std::string& more : {unheeded, clusters}) {
    text += (text.empty() || more.empty() ? "" : "; ") + more;
  }
  return text;
}

std::string growth_sentence(const QueueState& state, const WrapperRecord& wrapper, Time now) {
  const std::optional<sched::Core::Size> size = state.core.size(wrapper.gang);
  if (!wrapper.elastic || !wrapper.holds || !size) {
    return "";
  }
  const std::int64_t next = sched::size_above(size->sizes, size->planned);
  if (next == 0) {
    return "has its largest size, " + std::to_string(size->sizes.max);
  }
  if (size->grows_from && *size->grows_from > now && size->planned >= size->sizes.min) {
    return "grows to " + std::to_string(next) + " later: it was resized, and waits until " +
           to_rfc3339(std::chrono::ceil<std::chrono::seconds>(*size->grows_from)) +
           " (cooldown of growth)";
  }
  // The answer to a gang of its own that asks for the next pods and takes nothing from others.
  sched::Core future = state.core.clone();
  sched::GangSpec more{.name = "growth",
                       .ns = wrapper.id.key.ns,
                       .priority = std::numeric_limits<std::int32_t>::min(),
                       .submitted = now,
                       .quota = wrapper.admitted_quota};
  sched::PodSet pods = wrapper.demand.pod_sets.front().pods;
  pods.count = next - size->planned;
  pods.sizes.reset();
  more.pod_sets.push_back(std::move(pods));
  const auto asked = future.submit(std::move(more));
  static_cast<void>(future.step(now));
  const auto why = asked ? future.explain(*asked, now, sched::Detail::brief)
                         : Result<sched::Explanation>(fail(asked.error()));
  const std::string text = why ? sentence(*why) : std::string();
  const std::string step = "grows to " + std::to_string(next);
  return text.empty() ? step + " with the next step of the queue" : step + " later: " + text;
}

std::string release_text(const WorkId& id) {
  const std::string_view kind = id.kind == WorkKind::training_job ? "tj " : "appwrapper ";
  return "run 'codeflare release " + std::string(kind) + id.key.name + "', or set " +
         std::string(suspend_field(id)) + " to false";
}

std::string name_of(const QueueState& state, sched::GangId gang) {
  if (const auto found = state.by_gang.find(gang); found != state.by_gang.end()) {
    const WorkId& id = found->second->id;
    return id.kind == WorkKind::training_job ? "TrainingJob " + id.key.to_string()
                                             : id.key.to_string() + model::group_suffix(id.api);
  }
  if (const auto found = state.loose.find(gang); found != state.loose.end()) {
    return "pod " + found->second->key.to_string();
  }
  return state.core.name(gang);
}

}  // namespace codeflare::queue
