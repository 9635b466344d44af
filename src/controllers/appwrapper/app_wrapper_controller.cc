#include "controllers/appwrapper/app_wrapper_controller.h"

#include "base/async/sleep.h"
#include "controllers/appwrapper/app_wrapper_object.h"
#include "controllers/pods_type.h"
#include "json/value.h"
#include "model/codec/app_wrapper.h"
#include "queue/marks.h"
#include "queue/status_words.h"
#include "runtime/transform.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

namespace codeflare::controllers {

using kube::ObjectRef;
using model::AppWrapper;
using model::ObjectKey;
using runtime::Next;

namespace {

// More steps than any way through the machine has.
constexpr int kStepsMax = 12;

// The interval for facts that no watch reports.
constexpr Duration kLookAgain = std::chrono::seconds(30);

// Far more than a thousand items take. The worker is free again by then, whatever a server does.
constexpr Duration kTurnMax = std::chrono::minutes(5);

// While more is to be done than there are workers for, work that ends within so long needs one
// write for its dispatch and its end.
constexpr Duration kDispatchedLateMax = std::chrono::seconds(1);

bool is_dispatched_with_canrun(const AppWrapper& wrapper) {
  return wrapper.status.can_run && queue::state_is_running(wrapper.status);
}

// "2 pods beyond the plan: a on n1, b without a node"
std::string surplus_of(const std::vector<queue::Queue::Unplanned>& pods) {
  constexpr std::size_t kShown = 5;
  if (pods.empty()) {
    return {};
  }
  std::string text = std::to_string(pods.size()) +
                     (pods.size() == 1 ? " pod beyond the plan: " : " pods beyond the plan: ");
  for (std::size_t i = 0; i < std::min(pods.size(), kShown); ++i) {
    text += (i == 0 ? "" : ", ") + pods[i].pod +
            (pods[i].node.empty() ? " without a node" : " on " + pods[i].node);
  }
  return text + (pods.size() > kShown ? "..." : "");
}

// The status about its plan while it runs.
void remark_on_plan(const queue::Queue& queue, const std::string& uid, Observed& observed) {
  const std::vector<queue::Queue::Unplanned> pods = queue.unplanned(uid);
  observed.surplus_waiting = std::ranges::count(pods, "", &queue::Queue::Unplanned::node);
  observed.surplus = surplus_of(pods);
  if (const queue::Demand* demand = queue.demand(uid)) {
    const std::string more = queue::unheeded_text(*demand);
    observed.surplus += (observed.surplus.empty() || more.empty() ? "" : "; ") + more;
  }
  if (const auto size = queue.size(uid)) {
    observed.smallest = size->sizes.min;
  }
}

Next next_of(std::optional<Duration> again, bool unwatched) {
  if (unwatched) {
    again = std::min(again.value_or(kLookAgain), kLookAgain);
  }
  return again ? Next::after(*again) : Next::await_change();
}

PodsOf pods_of(const AppWrapper& wrapper) {
  return {wrapper.metadata.uid, wrapper.metadata.key(), queue::is_from_mcad(wrapper.status)};
}

constexpr std::size_t kShown = 3;

std::string names(const std::vector<std::string>& all) {
  std::string text;
  for (std::size_t i = 0; i < std::min(all.size(), kShown); ++i) {
    text += (i == 0 ? "" : ", ") + all[i];
  }
  return text + (all.size() > kShown ? "..." : "");
}

// "rayclusters.ray.io a/b and pod a (finalizers example.com/x)"
std::string both(const std::vector<std::string>& items, const std::vector<std::string>& pods) {
  return names(items) + (items.empty() || pods.empty() ? "" : " and ") + names(pods);
}

// "pod a (finalizers example.com/x, example.com/y)"
std::string pod_text(const kube::Object& pod) {
  const Result<json::Document> document = pod.parse();
  const json::Value* list = document ? document->root.get({"metadata", "finalizers"}) : nullptr;
  std::string finalizers;
  for (const json::Value& each : list != nullptr ? list->items() : std::span<const json::Value>()) {
    if (each.is_string()) {
      finalizers += (finalizers.empty() ? " (finalizers " : ", ") + std::string(each.as_string());
    }
  }
  return "pod " + pod.key().name + finalizers + (finalizers.empty() ? "" : ")");
}

// Pods of it, as the server selects them by label.
kube::ListOptions selection_of(const AppWrapper& wrapper) {
  return {.ns = wrapper.metadata.ns,
          .label_selector = queue::pod_selector(wrapper),
          .metadata_only = true};
}

}  // namespace

AppWrapperController::AppWrapperController(const runtime::ControllerContext& context, Parts parts)
    : env_(context.env),
      client_(context.client),
      subject_(context.subject),
      waker_(context.waker),
      finalizer_(context.subject.type(), std::string(queue::kFinalizer)),
      parts_(std::move(parts)),
      items_(context.client, parts_.watch, parts_.items, parts_.submitters, parts_.logger) {}

Task<Result<Next>> AppWrapperController::reconcile(ObjectKey key) {
  auto work = work_on(std::move(key));
  co_return co_await with_timeout(kTurnMax, "work on an AppWrapper", std::move(work));
}

Task<Result<Next>> AppWrapperController::work_on(ObjectKey key) {
  if (!parts_.driver.active()) {
    co_return Next::await_change();  // the driver wakes everybody when it begins
  }
  CO_TRY_ASSIGN(ObjectRef object, co_await newest(key));
  if (object == nullptr) {
    if (auto known = memory_.find(key); known != memory_.end()) {
      parts_.watch.forget(known->second.uid);
      if (parts_.copies != nullptr) {
        parts_.copies->forget(known->second.uid);
      }
      memory_.erase(known);
    }
    parts_.own_writes->forget(key);
    co_return Next::await_change();
  }
  Result<Turn> begun = read(object);
  if (!begun) {
    // No status of ours can be written where there is one that we cannot read.
    parts_.logger.warn("cannot read an AppWrapper",
                       {{"object", key.to_string()}, {"error", begun.error()}});
    parts_.events.warning(
        {.gvk = subject_.type().gvk(), .key = key, .uid = std::string(object->uid())}, "Unreadable",
        "cannot be read and is left unchanged: " + begun.error().message);
    co_return Next::await_change();
  }
  Turn turn = *std::move(begun);
  turn.resumed = turn.wrapper.status.plan.has_value();
  for (int i = 0; i < kStepsMax; ++i) {
    CO_TRY_ASSIGN(Observed observed, co_await observe(turn));
    Decision decision = decide(observed, parts_.machine);
    CO_TRY_ASSIGN(std::optional<Next> next, co_await act(turn, std::move(decision)));
    if (next) {
      co_return *next;
    }
  }
  co_return fail(internal_error("AppWrapper " + key.to_string() + " keeps changing"));
}

Result<AppWrapperController::Turn> AppWrapperController::read(ObjectRef object) {
  Result<AppWrapper> whole = to_app_wrapper(*object);
  if (whole) {
    return Turn{std::move(object), *std::move(whole)};
  }
  TRY_ASSIGN(AppWrapper rest, to_app_wrapper_without_spec(*object));
  return Turn{std::move(object), std::move(rest), std::move(whole).error().message};
}

// The object once the cache shows our own writes; after an unclear one, as the server has it.
Task<Result<ObjectRef>> AppWrapperController::newest(ObjectKey key) {
  auto known = memory_.find(key);
  if (known != memory_.end() && known->second.unclear) {
    Result<ObjectRef> there = co_await client_.get(subject_.type(), key);
    if (!there && there.error().code != ErrorCode::not_found) {
      co_return fail(std::move(there).error());
    }
    if (there) {
      subject_.note_written(**there);
    }
    known = memory_.find(key);
    if (known != memory_.end()) {
      known->second.unclear = false;
    }
  }
  CO_TRY(co_await subject_.fresh(key));
  co_return subject_.store().get(key);
}

AppWrapperController::Memory& AppWrapperController::memory(const AppWrapper& wrapper) {
  Memory& memory = memory_[wrapper.metadata.key()];
  if (memory.uid != wrapper.metadata.uid) {
    memory = Memory{.uid = wrapper.metadata.uid};
  }
  return memory;
}

// --- observing ---

Task<Result<Observed>> AppWrapperController::observe(Turn& turn) {
  const AppWrapper& wrapper = turn.wrapper;
  const std::string& uid = wrapper.metadata.uid;
  Observed observed;
  observed.wrapper = &wrapper;
  observed.problem = !turn.unreadable.empty() ? turn.unreadable
                     : !turn.problem.empty()  ? turn.problem
                                              : parts_.driver.problem(uid);
  const bool created = has_created(wrapper);
  if (created) {
    turn.creation = Creation();
  }
  if ((created || is_dispatched_with_canrun(wrapper)) && !wrapper.metadata.deleting() &&
      observed.problem.empty()) {
    CO_TRY(co_await look_at_items(turn, observed));
  }
  turn.unwatched =
      std::ranges::any_of(observed.items, [](const ItemSeen& item) { return !item.watched; });
  // A write that failed changes no copy, so no watch wakes us for it either.
  turn.unwatched |= observed.copy && observed.copy->outdated;
  // All below is of one moment.
  observed.now = std::chrono::floor<std::chrono::microseconds>(env_.clock.wall());
  if (wrapper.status.plan) {
    parts_.driver.plan_written(uid, wrapper.status.plan->places);
  }
  observed.standing = parts_.driver.queue().standing(uid);
  observed.sentence = [this, uid, now = observed.now] {
    return parts_.driver.queue().sentence(uid, now);
  };
  if (observed.copy) {
    read_copy(observed);
  } else {
    observed.pods = parts_.driver.pods().seen(pods_of(wrapper));
    remark_on_plan(parts_.driver.queue(), uid, observed);
  }
  if (observed.surplus_waiting > 0 && observed.pods.trouble &&
      observed.pods.trouble->kind == queue::PodTrouble::Kind::unschedulable) {
    observed.pods.trouble.reset();  // the remark on the plan says it
  }
  observed.creation = turn.creation;
  observed.cleared = turn.cleared;
  observed.copy_ended = turn.copy_ended;
  observed.abandoned = turn.abandoned;
  observed.left = turn.left;
  observed.stuck = turn.forced && !turn.left.empty() && !memory(wrapper).stuck_told;
  remember(wrapper, observed);
  parts_.metrics.state(uid, wrapper.status.state);
  co_return observed;
}

Task<Result<void>> AppWrapperController::look_at_items(const Turn& turn, Observed& observed) {
  const AppWrapper& wrapper = turn.wrapper;
  std::string cluster = remote_cluster(wrapper.status);
  if (cluster.empty()) {
    CO_TRY_ASSIGN(std::vector<ItemQuery> items, item_queries(wrapper));
    CO_TRY_ASSIGN(observed.items, co_await items_.look(wrapper, std::move(items)));
  } else if (parts_.copies == nullptr) {
    observed.copy = CopySeen{.cluster = cluster, .lost = "no clusters are managed here"};
  } else {
    CO_TRY_ASSIGN(observed.copy, co_await parts_.copies->look(std::move(cluster), {wrapper}));
  }
  co_return Result<void>();
}

// The queue has read the items already, as long as it knows the AppWrapper.
Result<std::vector<ItemQuery>> AppWrapperController::item_queries(const AppWrapper& wrapper) {
  if (const queue::Demand* known = parts_.driver.queue().demand(wrapper.metadata.uid)) {
    return queries_of(*known);
  }
  TRY_ASSIGN(queue::Demand demand, queue::demand_of(wrapper));
  return queries_of(demand);
}

void AppWrapperController::remember(const AppWrapper& wrapper, Observed& observed) {
  Memory& known = memory(wrapper);
  const Instant now = env_.clock.now();
  if (!is_dispatched_with_canrun(wrapper)) {
    known.settled_since.reset();
    known.unhealthy_since.reset();
    known.quiet_since.reset();
    known.copy_waits_since.reset();
    known.was_healthy.reset();
    known.trouble_told.reset();
  } else {
    const bool healthy = is_healthy(observed);
    if (healthy) {
      known.unhealthy_since.reset();
    } else if (known.was_healthy.value_or(has_run(wrapper.status))) {
      // At first sight of one that has run, its trouble has just begun: who looked at it before us
      // would have withdrawn it otherwise.
      known.unhealthy_since = now;
    }
    known.was_healthy = healthy;
    if (!is_quiet(observed.pods)) {
      known.quiet_since.reset();
    } else if (!known.quiet_since) {
      known.quiet_since = now;
    }
    // Machines take as long as they take; its cluster has a time-out for them.
    if (!observed.copy || !is_waiting_there(*observed.copy) || is_scaling_there(*observed.copy)) {
      known.copy_waits_since.reset();
    } else if (!known.copy_waits_since) {
      known.copy_waits_since = now;
    }
    if (!is_settled(observed.items)) {
      known.settled_since.reset();
    } else if (!known.settled_since) {
      known.settled_since = now;
    }
  }
  if (wrapper.status.can_run && !model::is_terminal(wrapper.status) &&
      !wrapper.metadata.deleting()) {
    known.asked_since.reset();
    known.stuck_told = false;
  }
  observed.trouble_is_new =
      observed.pods.trouble && known.trouble_told != observed.pods.trouble->kind;
  const auto time_of_day = [&](std::optional<Instant> then) {
    return then ? std::optional(observed.now - (now - *then)) : std::nullopt;
  };
  observed.written = time_of_day(known.written);
  observed.settled_since = time_of_day(known.settled_since);
  observed.unhealthy_since = time_of_day(known.unhealthy_since);
  observed.quiet_since = time_of_day(known.quiet_since);
  observed.asked_since = time_of_day(known.asked_since);
  observed.copy_waits_since = time_of_day(known.copy_waits_since);
}

// --- acting ---

Task<Result<std::optional<Next>>> AppWrapperController::act(Turn& turn, Decision decision) {
  std::optional<Next> next;
  if (decision.act != Act::none) {
    parts_.logger.debug(
        "appwrapper", {{"object", turn.wrapper.metadata.key().to_string()}, {"why", decision.why}});
  }
  if (decision.tell == Tell::stopping) {
    parts_.driver.stopping(turn.wrapper.metadata.uid);
  }
  switch (decision.act) {
    case Act::none:
      next = next_of(decision.again, turn.unwatched);
      break;
    case Act::retry:
      co_return fail(*std::move(turn.failure));
    case Act::add_finalizer: {
      CO_TRY(co_await write_finalizers(turn, finalizer_.add(*turn.object, decision.why)));
      break;
    }
    case Act::write: {
      if (decision.idle && !parts_.driver.may_write_idly(turn.wrapper.metadata.uid)) {
        co_return next_of(decision.again, turn.unwatched);
      }
      if (decision.late && parts_.driver.flooded()) {
        if (const Duration left = until_dispatched_is_told(turn.wrapper); left > Duration::zero()) {
          co_return next_of(left, turn.unwatched);
        }
      }
      const bool held = needs_items(turn.wrapper);
      if (decision.status.plan && parts_.definitions.blocks()) {
        plan_dropped(turn, held);
        co_return Next::await_change();  // the guard wakes everybody
      }
      if (is_adopted(turn.wrapper.status)) {
        CO_TRY(co_await items_.label(turn.wrapper));
      }
      Result<void> wrote = co_await write_status(turn, decision);
      if (!wrote && wrote.error().code == ErrorCode::too_large && !turn.wrapper.status.plan &&
          decision.status.plan && turn.problem.empty()) {
        turn.problem = "the plan of " + std::to_string(decision.status.plan->places.size()) +
                       " pods is too large for the server: " + wrote.error().message;
        co_return next;
      }
      CO_TRY(std::move(wrote));
      if (decision.status.plan && !turn.wrapper.status.plan) {
        plan_dropped(turn, held);
        co_return Next::await_change();
      }
      if (!decision.avoid.empty() && parts_.copies != nullptr) {
        parts_.copies->avoid(turn.wrapper.metadata.uid, decision.avoid);
      }
      turn.creation.reset();
      // It may hold something again before this turn is over.
      turn.cleared = false;
      turn.copy_ended.reset();
      turn.abandoned.clear();
      break;
    }
    case Act::create: {
      CO_TRY(co_await create(turn));
      break;
    }
    case Act::take_back: {
      CO_TRY(co_await take_back(turn, decision.force));
      break;
    }
    case Act::release: {
      Result<void> released =
          co_await write_finalizers(turn, finalizer_.remove(*turn.object, decision.why));
      if (!released && released.error().code != ErrorCode::not_found) {
        co_return fail(std::move(released).error());
      }
      next = Next::await_change();
      break;
    }
    case Act::expire: {
      Result<ObjectRef> rest = co_await client_.remove(
          subject_.type(), turn.wrapper.metadata.key(),
          {.propagation_policy = "Background", .uid = turn.wrapper.metadata.uid});
      if (!rest && rest.error().code != ErrorCode::not_found &&
          rest.error().code != ErrorCode::conflict) {
        co_return fail(std::move(rest).error());
      }
      next = Next::await_change();
      break;
    }
  }
  tell(turn, decision.tell);
  note(turn, std::move(decision.notes));
  co_return next;
}

bool AppWrapperController::has_created(const AppWrapper& wrapper) {
  const std::optional<Created>& created = memory(wrapper).created;
  const auto& plan = wrapper.status.plan;
  return created && wrapper.status.can_run && plan && plan->started &&
         plan->started->time == created->plan && !is_dispatched_with_canrun(wrapper);
}

Duration AppWrapperController::until_dispatched_is_told(const AppWrapper& wrapper) {
  const auto& plan = wrapper.status.plan;
  if (!plan || !plan->started) {
    return Duration::zero();
  }
  const Instant now = env_.clock.now();
  if (!has_created(wrapper)) {
    memory(wrapper).created = Created{.plan = plan->started->time, .at = now};
  }
  return kDispatchedLateMax - std::max(now - memory(wrapper).created->at, Duration::zero());
}

Task<Result<Creation>> AppWrapperController::create_items(const Turn& turn) {
  if (std::string cluster = remote_cluster(turn.wrapper.status); !cluster.empty()) {
    if (parts_.copies == nullptr) {
      co_return fail(unavailable("cluster " + cluster + ": no clusters are managed here"));
    }
    co_return co_await parts_.copies->create(std::move(cluster), {turn.wrapper}, turn.object);
  }
  std::size_t before = 0;
  if (turn.resumed) {
    CO_TRY_ASSIGN(before, co_await items_.created(turn.wrapper));
  }
  std::map<std::uint32_t, model::StringMap> annotations;
  if (const auto& plan = turn.wrapper.status.plan) {
    annotations = parts_.driver.pod_annotations(turn.wrapper.metadata.uid, plan->places);
  }
  co_return co_await items_.create(turn.wrapper, before, std::move(annotations));
}

// Nothing was created of one that held nothing before, so its places are free again.
void AppWrapperController::plan_dropped(const Turn& turn, bool held) {
  if (!held) {
    parts_.driver.stopping(turn.wrapper.metadata.uid);
    parts_.driver.withdrawn(turn.wrapper.metadata.uid, std::nullopt);
  }
  parts_.definitions.plan_dropped(parts_.items.api);
}

// The machine judges obstacles that may pass: places are held meanwhile.
Task<Result<void>> AppWrapperController::create(Turn& turn) {
  Result<Creation> creation = co_await create_items(turn);
  if (creation) {
    turn.creation = *std::move(creation);
    co_return Result<void>();
  }
  const TaskContext& context = co_await current_context();
  if (creation.error().code == ErrorCode::cancelled || context.stop.stop_requested()) {
    co_return fail(std::move(creation).error());
  }
  turn.creation = Creation{Creation::Kind::later, creation.error().message};
  turn.failure = std::move(creation).error();
  co_return Result<void>();
}

Task<Result<void>> AppWrapperController::take_back(Turn& turn, bool force) {
  Memory& known = memory(turn.wrapper);
  if (!known.asked_since) {
    known.asked_since = env_.clock.now();
  }
  if (std::string cluster = remote_cluster(turn.wrapper.status); !cluster.empty()) {
    co_return co_await take_copy_back(turn, std::move(cluster));
  }
  if (force) {
    std::vector<WrapperPods::PodRef> pods = parts_.driver.pods().pods(pods_of(turn.wrapper));
    CO_TRY(co_await items_.delete_pods(std::move(pods)));
  }
  CO_TRY_ASSIGN(std::vector<std::string> items, co_await items_.take_back(turn.wrapper, force));
  // After the deadline what has ended holds nothing, whatever finalizers keep it.
  const PodsOf whose = pods_of(turn.wrapper);
  bool pods = force ? !is_quiet(parts_.driver.pods().seen(whose)) : parts_.driver.pods().any(whose);
  const bool rest = items.empty() || force;
  if (rest && !pods && turn.wrapper.status.plan) {
    CO_TRY_ASSIGN(pods, co_await has_unseen_pods(turn.wrapper, force));
  }
  // An AppWrapper that ended on another cluster left its copy there.
  if (parts_.copies != nullptr && !turn.wrapper.status.plan) {
    CO_TRY_ASSIGN(const std::string copies, co_await parts_.copies->remove_all({turn.wrapper}));
    if (!copies.empty()) {
      items.push_back(copies);
    }
  }
  turn.cleared = items.empty() || force ? !pods : false;
  turn.forced = force;
  std::vector<std::string> named;
  if (force || (pods && is_told_what_stays(known))) {
    CO_TRY_ASSIGN(named, co_await name_pods(turn.wrapper));
  }
  if (pods && named.empty()) {
    named = {"pods"};
  }
  if (turn.cleared) {
    turn.abandoned = both(items, named);
  } else {
    turn.left =
        "waiting for " + both(items, named) + " to terminate";  // the same as long as they stay
  }
  co_return Result<void>();
}

// No place is free before the worker's server has no copy.
Task<Result<void>> AppWrapperController::take_copy_back(Turn& turn, std::string cluster) {
  CopyRemoval removal{.left =
                          "AppWrapper on cluster " + cluster + " (no clusters are managed here)"};
  if (parts_.copies != nullptr) {
    CO_TRY_ASSIGN(removal, co_await parts_.copies->take_back(std::move(cluster), {turn.wrapper}));
  }
  turn.cleared = removal.left.empty();
  turn.copy_ended = std::move(removal.ended);
  turn.left = removal.left.empty() ? "" : "waiting for " + removal.left + " to terminate";
  co_return Result<void>();
}

bool AppWrapperController::is_told_what_stays(const Memory& known) const {
  return known.asked_since &&
         env_.clock.now() - *known.asked_since >= parts_.machine.name_what_stays_after;
}

// The remaining pods, the first few.
Task<Result<std::vector<std::string>>> AppWrapperController::name_pods(const AppWrapper& wrapper) {
  kube::ListOptions options = selection_of(wrapper);
  options.limit = kShown + 1;
  auto listing = client_.list(kPods, std::move(options));
  CO_TRY_ASSIGN(const kube::ObjectList pods, co_await std::move(listing));
  std::vector<std::string> found;
  for (const ObjectRef& pod : pods.items) {
    found.push_back(pod_text(*pod));
  }
  co_return found;
}

// The cache of pods may be behind: places are free once the server has none either.
Task<Result<bool>> AppWrapperController::has_unseen_pods(const AppWrapper& wrapper, bool active) {
  kube::ListOptions options = selection_of(wrapper);
  options.limit = 1;
  if (active) {
    options.field_selector = "status.phase!=Succeeded,status.phase!=Failed";
  }
  auto listing = client_.list(kPods, std::move(options));
  CO_TRY_ASSIGN(const kube::ObjectList pods, co_await std::move(listing));
  co_return !pods.items.empty();
}

Task<Result<void>> AppWrapperController::write_status(Turn& turn, const Decision& decision) {
  model::AppWrapperStatus status = decision.status;
  status.observed_generation = turn.wrapper.metadata.generation;
  CO_TRY_ASSIGN(std::string body, status_body(*turn.object, turn.wrapper.status, status));
  const Instant begin = env_.loop.now();
  CO_TRY(co_await written(turn, client_.update(subject_.type(), turn.wrapper.metadata.key(),
                                               std::move(body), {.subresource = "status"})));
  parts_.driver.wrote(env_.loop.now() - begin);
  memory(turn.wrapper).written = env_.clock.now();
  co_return Result<void>();
}

Task<Result<void>> AppWrapperController::write_finalizers(Turn& turn, runtime::Action change) {
  co_return co_await written(turn, client_.patch(subject_.type(), turn.wrapper.metadata.key(),
                                                 kube::PatchKind::merge, std::move(change.body)));
}

// Takes over the server's answer: the next step builds on it without waiting for the cache.
Task<Result<void>> AppWrapperController::written(Turn& turn, Task<Result<ObjectRef>> write) {
  Result<ObjectRef> answer = co_await std::move(write);
  if (!answer) {
    memory(turn.wrapper).unclear = answer.error().code != ErrorCode::not_found;
    co_return fail(std::move(answer).error());
  }
  subject_.note_written(**answer);
  parts_.own_writes->note(**answer);
  Result<Turn> now = read(runtime::without_managed_fields(*std::move(answer)));
  if (!now) {
    co_return fail(data_loss("the server's answer about AppWrapper " +
                             turn.wrapper.metadata.key().to_string() + ": " + now.error().message));
  }
  turn.object = std::move(now->object);
  turn.wrapper = std::move(now->wrapper);
  turn.unreadable = std::move(now->unreadable);
  co_return Result<void>();
}

// --- telling ---

void AppWrapperController::tell(const Turn& turn, Tell tell) {
  const std::string& uid = turn.wrapper.metadata.uid;
  switch (tell) {
    case Tell::nothing:
    case Tell::stopping:
      break;
    case Tell::withdrawn:
      parts_.watch.forget(uid);
      parts_.driver.withdrawn(uid, queue::not_before(turn.wrapper.status));
      break;
    case Tell::forget:
      parts_.watch.forget(uid);
      parts_.driver.remove(uid);
      break;
  }
}

void AppWrapperController::note(const Turn& turn, std::vector<Note> notes) {
  const model::ObjectMeta& meta = turn.wrapper.metadata;
  for (Note& note : notes) {
    if (note.reason == queue::Reason::stuck) {
      memory(turn.wrapper).stuck_told = true;
    } else if (note.reason == queue::Reason::pod_trouble) {
      const PodsSeen pods = parts_.driver.pods().seen(pods_of(turn.wrapper));
      memory(turn.wrapper).trouble_told =
          pods.trouble ? std::optional(pods.trouble->kind) : std::nullopt;
    }
    const std::string_view reason = queue::word(note.reason);
    parts_.metrics.happened(reason);
    if (note.reason == queue::Reason::dispatched && meta.creation_timestamp) {
      parts_.metrics.dispatched_after(
          std::max(env_.clock.wall() - *meta.creation_timestamp, Duration::zero()));
    }
    parts_.logger.info(
        "appwrapper",
        {{"object", meta.key().to_string()}, {"now", reason}, {"message", note.message}});
    if (note.good && !good_events_.try_take(env_.clock.now())) {
      continue;
    }
    runtime::EventSubject subject{subject_.type().gvk(), meta.key(), meta.uid,
                                  meta.resource_version};
    parts_.events.record(
        {std::move(subject), note.warning, std::string(reason), std::move(note.message)});
  }
}

}  // namespace codeflare::controllers
