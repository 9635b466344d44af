#include "node/agent/pod_health.h"

#include "base/async/sleep.h"
#include "base/async/wait_list.h"

#include <algorithm>
#include <utility>

namespace codeflare::node {

namespace {

// As many as one reconcile tells; who fails faster than that has said enough.
constexpr std::size_t kEventsMax = 20;
constexpr std::size_t kEventBytesMax = 1000;  // programs may say much

const model::ContainerStatus* told_status(const model::Pod& pod, const std::string& name) {
  for (const auto* list : {&pod.status.init_container_statuses, &pod.status.container_statuses}) {
    const auto found = std::ranges::find(*list, name, &model::ContainerStatus::name);
    if (found != list->end()) {
      return &*found;
    }
  }
  return nullptr;
}

// Of this very run, as an earlier agent told it.
RunHealth::Before before_of(const model::Pod& pod, const RunRecord& record) {
  const model::ContainerStatus* status = told_status(pod, record.name);
  if (status == nullptr || !status->state.running || status->restart_count != record.attempt) {
    return {};
  }
  return {.started = status->started.value_or(false), .ready = status->ready};
}

}  // namespace

struct PodHealth::Run {
  ProbeTarget target;
  std::int32_t attempt = 0;
  RunHealth health;
  bool post_start_pending = false;
  std::optional<Doom> doom{};  // of a hook
  std::optional<WallTime> pre_stop_began{};
  bool pre_stop_done = false;
  StopSource stop{};  // with the run
  WaitList changed{};

  ContainerHealth view() const {
    return {.attempt = attempt,
            .started = health.started(),
            .ready = health.ready() && !post_start_pending,
            .post_start_pending = post_start_pending,
            .doom = doom ? doom : health.doom(),
            .pre_stop_began = pre_stop_began,
            .pre_stop_done = pre_stop_done};
  }
};

struct PodHealth::Known {
  std::map<std::string, std::shared_ptr<Run>> runs{};  // by container; the newest
  std::map<std::string, std::int32_t> hooked{};        // runs whose postStart is still to begin
  std::vector<runtime::EventNote> events{};
};

PodHealth::PodHealth(Env env, ProbeCheck& check, Changed changed)
    : env_(env), check_(check), changed_(std::move(changed)), group_(env.loop) {}

PodHealth::~PodHealth() = default;

Task<void> PodHealth::stop() {
  co_await group_.close();
}

void PodHealth::expect_post_start(const std::string& uid, const std::string& container,
                                  std::int32_t attempt) {
  pods_[uid].hooked.insert_or_assign(container, attempt);
}

std::shared_ptr<PodHealth::Run> PodHealth::begin(const model::Pod& pod,
                                                 const model::Container& container,
                                                 const RunRecord& record, const Network& network) {
  const Duration age = env_.clock.wall() - WallTime(Duration(record.started));
  const Instant began = env_.clock.now() - std::max(age, Duration::zero());
  // Not make_shared: waiters make it immovable.
  const std::shared_ptr<Run> run(
      new Run{.target = {.uid = pod.metadata.uid,
                         .address = network.address,
                         .own_network = network.own_network,
                         .container = container},
              .attempt = record.attempt,
              .health = RunHealth(container, began, before_of(pod, record))});
  for (ProbeKind kind : kProbeKinds) {
    if (probe_of(container, kind)) {
      group_.spawn(with_stop(run->stop.token(), probe(run, kind)));
    }
  }
  return run;
}

void PodHealth::follow(const model::Pod& pod, const SandboxView* view, const Network& network) {
  Known& known = pods_[pod.metadata.uid];
  const bool alive = view != nullptr && view->alive;
  for (const auto* list : {&pod.spec.init_containers, &pod.spec.containers}) {
    for (const model::Container& container : *list) {
      const RunRecord* last = view == nullptr ? nullptr : view->state.last(container.name);
      std::shared_ptr<Run>& run = known.runs[container.name];
      const bool running = alive && last != nullptr && last->running();
      if (run != nullptr && (!running || run->attempt != last->attempt)) {
        run->stop.request_stop();
        run = nullptr;
      }
      if (!running || run != nullptr) {
        continue;
      }
      run = begin(pod, container, *last, network);
      const auto hooked = known.hooked.find(container.name);
      if (hooked != known.hooked.end() && hooked->second == last->attempt && container.lifecycle &&
          container.lifecycle->post_start) {
        run->post_start_pending = true;
        group_.spawn(
            with_stop(run->stop.token(), post_start(run, *container.lifecycle->post_start)));
      }
      known.hooked.erase(container.name);
    }
  }
}

void PodHealth::note(const std::string& uid, runtime::EventNote event) {
  const auto found = pods_.find(uid);
  if (found != pods_.end() && found->second.events.size() < kEventsMax) {
    event.message.resize(std::min(event.message.size(), kEventBytesMax));
    found->second.events.push_back(std::move(event));
  }
}

Task<void> PodHealth::probe(std::shared_ptr<Run> run, ProbeKind kind) {
  const std::string uid = run->target.uid;
  for (;;) {
    const std::optional<Instant> due = run->health.due(kind);
    if (!due || run->post_start_pending) {
      if (!co_await run->changed.wait()) {
        co_return;
      }
      continue;
    }
    if (!co_await sleep_until(*due)) {
      co_return;
    }
    const Instant tried_at = env_.clock.now();
    ProbeTarget target = run->target;
    model::Probe wanted = *probe_of(target.container, kind);
    const ProbeOutcome outcome = co_await check_.run(std::move(target), std::move(wanted));
    if (run->stop.stop_requested() || group_.stop_token().stop_requested()) {
      co_return;
    }
    const std::string what(to_string(kind));
    if (outcome.kind == ProbeOutcome::Kind::failure) {
      note(uid, {.warning = true,
                 .reason = "Unhealthy",
                 .message = what + " probe failed: " + outcome.text});
    } else if (outcome.warning) {
      note(uid, {.warning = true,
                 .reason = "ProbeWarning",
                 .message = what + " probe warning: " + outcome.text});
    }
    const bool news = run->health.took(kind, tried_at, outcome);
    if (news) {
      run->changed.notify_all();
    }
    if (news || outcome.kind == ProbeOutcome::Kind::failure || outcome.warning) {
      changed_(uid);
    }
  }
}

Task<void> PodHealth::post_start(std::shared_ptr<Run> run, model::LifecycleHandler hook) {
  const std::string uid = run->target.uid;
  ProbeTarget target = run->target;
  const Result<void> done = co_await check_.run_hook(std::move(target), std::move(hook));
  if (run->stop.stop_requested() || group_.stop_token().stop_requested()) {
    co_return;
  }
  run->post_start_pending = false;
  if (!done) {
    // Its output may hold secrets; the reason is enough for everybody to see.
    note(uid,
         {.warning = true, .reason = "FailedPostStartHook", .message = "PostStartHook failed"});
    run->doom = Doom{"FailedPostStartHook"};
  }
  run->changed.notify_all();
  changed_(uid);
}

bool PodHealth::pre_stop_pending(const std::string& uid) const {
  const auto known = pods_.find(uid);
  return known != pods_.end() && std::ranges::any_of(known->second.runs, [](const auto& entry) {
           const std::shared_ptr<Run>& run = entry.second;
           return run != nullptr && run->pre_stop_began && !run->pre_stop_done;
         });
}

bool PodHealth::begin_pre_stop(const std::string& uid, const std::string& container,
                               Duration grace) {
  const auto known = pods_.find(uid);
  if (known == pods_.end()) {
    return false;
  }
  const auto found = known->second.runs.find(container);
  if (found == known->second.runs.end() || found->second == nullptr) {
    return false;
  }
  const std::shared_ptr<Run>& run = found->second;
  const auto& lifecycle = run->target.container.lifecycle;
  if (!run->pre_stop_began && lifecycle && lifecycle->pre_stop) {
    run->pre_stop_began = env_.clock.wall();
    group_.spawn(with_stop(run->stop.token(), pre_stop(run, *lifecycle->pre_stop, grace)));
  }
  return run->pre_stop_began.has_value();
}

Task<void> PodHealth::pre_stop(std::shared_ptr<Run> run, model::LifecycleHandler hook,
                               Duration grace) {
  const std::string uid = run->target.uid;
  ProbeTarget target = run->target;
  const Result<void> done = co_await with_timeout(
      grace, "the preStop hook", check_.run_hook(std::move(target), std::move(hook)));
  if (run->stop.stop_requested() || group_.stop_token().stop_requested()) {
    co_return;
  }
  run->pre_stop_done = true;
  if (!done) {
    note(uid, {.warning = true, .reason = "FailedPreStopHook", .message = "PreStopHook failed"});
  }
  changed_(uid);
}

std::map<std::string, ContainerHealth> PodHealth::view(const std::string& uid) const {
  std::map<std::string, ContainerHealth> views;
  const auto found = pods_.find(uid);
  if (found == pods_.end()) {
    return views;
  }
  for (const auto& [name, attempt] : found->second.hooked) {
    views.insert_or_assign(name, ContainerHealth{.attempt = attempt, .post_start_pending = true});
  }
  for (const auto& [name, run] : found->second.runs) {
    if (run != nullptr) {
      views.insert_or_assign(name, run->view());
    }
  }
  return views;
}

std::vector<runtime::EventNote> PodHealth::take_events(const std::string& uid) {
  const auto found = pods_.find(uid);
  return found == pods_.end() ? std::vector<runtime::EventNote>()
                              : std::exchange(found->second.events, {});
}

void PodHealth::forget(const std::string& uid) {
  const auto found = pods_.find(uid);
  if (found == pods_.end()) {
    return;
  }
  for (const auto& [name, run] : found->second.runs) {
    if (run != nullptr) {
      run->stop.request_stop();
    }
  }
  pods_.erase(found);
}

}  // namespace codeflare::node
