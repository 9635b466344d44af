#include "node/agent/pod_agent.h"

#include "model/codec/pod.h"
#include "model/resources.h"
#include "node/agent/container_spec.h"
#include "node/agent/etc_files.h"
#include "node/agent/pod_inputs_source.h"
#include "node/agent/pod_network.h"
#include "node/agent/pod_progress.h"
#include "node/agent/proxy_variables.h"
#include "node/agent/resolv_conf.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

namespace codeflare::node {

namespace {

using runtime::Action;
using runtime::EventNote;
using runtime::Next;
using runtime::ObjectKey;
using runtime::Plan;
using Kind = Step::Kind;

const runtime::ResourceType kPods = model::resource_type<model::Pod>();

constexpr const char* kGpu = "nvidia.com/gpu";
constexpr int kWorkers = 16;
constexpr Duration kRetryMount = std::chrono::seconds(2);
constexpr Duration kRetryStart = std::chrono::seconds(10);

bool is_over(const model::Pod& pod) {
  return pod.status.phase == "Succeeded" || pod.status.phase == "Failed";
}

Action status_action(const model::Pod& pod, const model::PodStatus& status) {
  return {.verb = Action::Verb::patch,
          .type = kPods,
          .key = pod.metadata.key(),
          .body = R"({"metadata":{"uid":")" + pod.metadata.uid + R"("},"status":)" +
                  model::to_json_text(status) + "}",
          .why = "what it runs has changed",
          .write = {.subresource = "status"}};
}

Action drop_action(const model::Pod& pod) {
  return {.verb = Action::Verb::remove,
          .type = kPods,
          .key = pod.metadata.key(),
          .why = "everything in it has ended",
          .removal = {.grace_period_seconds = 0, .uid = pod.metadata.uid}};
}

const model::Container* find_container(const model::Pod& pod, const std::string& name) {
  for (const auto* list : {&pod.spec.init_containers, &pod.spec.containers}) {
    const auto found = std::ranges::find(*list, name, &model::Container::name);
    if (found != list->end()) {
      return &*found;
    }
  }
  return nullptr;
}

bool anything_runs(const SandboxView* view) {
  return view != nullptr && view->alive &&
         !std::ranges::all_of(view->state.runs, &RunRecord::exited);
}

}  // namespace

PodAgent::PodAgent(const runtime::ControllerContext& context, PodRuntime& pods,
                   AgentOptions options)
    : env_(context.env),
      client_(context.client),
      actor_(context.actor),
      informer_(context.subject),
      waker_(context.waker),
      pods_(pods),
      options_(std::move(options)),
      gpus_(kGpu, options_.gpus) {
  if (options_.probes != nullptr) {
    health_ = std::make_unique<PodHealth>(env_, *options_.probes, [this](const std::string& uid) {
      if (const auto found = known_.find(uid); found != known_.end()) {
        waker_.wake(found->second.key);
      }
    });
  }
  pods_.listen(this, [this](const std::string& uid) {
    if (const auto found = known_.find(uid); found != known_.end()) {
      waker_.wake(found->second.key);
    }
  });
}

PodAgent::~PodAgent() {
  pods_.stop_listening(this);
}

Task<Result<void>> PodAgent::adopt() {
  CO_TRY_ASSIGN(const std::vector<PodRuntime::Found> found, co_await pods_.adopt());
  adopt(found);
  if (options_.network != nullptr) {
    co_await keep_networks(*options_.network, pods_, found, options_.logger);
  }
  co_return Result<void>();
}

void PodAgent::adopt(const std::vector<PodRuntime::Found>& found) {
  for (const PodRuntime::Found& one : found) {
    Known& known = know(one.spec.uid, {one.spec.ns, one.spec.name});
    known.devices = one.spec.devices;
    known.grace = std::chrono::seconds(one.spec.grace_seconds.value_or(kUsualGraceSeconds));
    known.sidecars = one.spec.sidecars;
    if (!one.spec.devices.empty()) {
      gpus_.adopt(one.spec.uid, one.spec.devices);
    }
    if (const SandboxView* view = pods_.find(one.spec.uid); view != nullptr && !one.alive) {
      note_cut_off(known, *view);
    }
    options_.logger.info(one.alive ? "pod adopted" : "pod found without its keeper",
                         {{"pod", one.spec.ns + "/" + one.spec.name}, {"uid", one.spec.uid}});
  }
}

Task<void> keep_networks(PodNetwork& network, const PodRuntime& pods,
                         const std::vector<PodRuntime::Found>& found, Logger logger) {
  std::vector<std::string> uids = pods.left_alone();
  for (const PodRuntime::Found& one : found) {
    uids.push_back(one.spec.uid);
  }
  if (const Result<void> kept = co_await network.keep(std::move(uids)); !kept) {
    logger.warn("networks of pods that are gone stay behind", {{"error", kept.error()}});
  }
}

Task<void> PodAgent::check_adopted() {
  if (!co_await informer_.wait_synced()) {
    co_return;
  }
  for (const auto& [uid, known] : known_) {
    waker_.wake(known.key);
  }
}

PodNetwork* PodAgent::network_of(const model::Pod& pod) const {
  return pod.spec.host_network ? nullptr : options_.network;
}

std::string PodAgent::address_of(const model::Pod& pod) const {
  const PodNetwork* network = network_of(pod);
  return network == nullptr ? options_.address
                            : network->address_of(pod.metadata.uid).value_or(std::string());
}

Task<Result<void>> PodAgent::detach(std::string uid) {
  if (options_.network == nullptr) {
    co_return Result<void>();
  }
  co_return co_await options_.network->detach(std::move(uid));
}

PodAgent::Known& PodAgent::know(const std::string& uid, const ObjectKey& key) {
  auto [at, fresh] = known_.try_emplace(uid);
  if (fresh) {
    at->second.key = key;
    at->second.seen = env_.clock.wall();
  }
  return at->second;
}

// Pods of this name that are gone: another one may have it now.
Task<Result<void>> PodAgent::forget_others(ObjectKey key, std::string uid) {
  std::vector<std::string> gone;
  for (const auto& [other, known] : known_) {
    if (known.key == key && other != uid) {
      gone.push_back(other);
    }
  }
  for (const std::string& other : gone) {
    // First what others may be waiting for; its files can take long.
    if (!anything_runs(pods_.find(other))) {
      give_back_devices(other);
    }
    CO_TRY(co_await pods_.close(other));
    give_back_devices(other);
    CO_TRY(co_await detach(other));
    CO_TRY(co_await pods_.remove(other));
    tokens_.forget(other);
    if (health_ != nullptr) {
      health_->forget(other);
    }
    known_.erase(other);
  }
  co_return Result<void>();
}

void PodAgent::note_cut_off(Known& known, const SandboxView& view) {
  for (const RunRecord& run : view.state.runs) {
    if (const RunRecord* last = view.state.last(run.name); last == &run && was_cut_off(run)) {
      known.cut_off.insert_or_assign(run.name, run.attempt);
    }
  }
}

Task<Result<Next>> PodAgent::reconcile(ObjectKey key) {
  if (stopping_) {
    co_return Next::await_change();
  }
  ++active_;
  Result<Next> next = co_await sync(std::move(key));
  --active_;
  idle_.notify_all();
  co_return next;
}

Task<Result<Next>> PodAgent::sync(ObjectKey key) {
  CO_TRY(co_await actor_.ready(key));
  const runtime::ObjectRef object = informer_.store().get(key);
  CO_TRY(co_await forget_others(key, object == nullptr ? "" : std::string(object->uid())));
  if (object == nullptr) {
    co_return Next::await_change();
  }
  CO_TRY_ASSIGN(model::Pod pod, object->as<model::Pod>());
  const std::string uid = pod.metadata.uid;
  if (pod.spec.node_name != options_.node) {
    co_return Next::await_change();
  }
  const SandboxView* view = pods_.find(uid);
  if (view == nullptr && is_over(pod) && !pod.metadata.deleting()) {
    co_return Next::await_change();
  }
  Known& known = know(uid, key);
  known.grace = grace_of(pod);
  known.sidecars = sidecars_of(pod);
  if (view == nullptr) {
    look_for_room(known, pod);
  } else {
    known.admitted = true;
  }
  if (view == nullptr || !view->alive) {
    look_for_leave(known, pod);
  }
  take_devices(known, pod);
  tell_starts(known, view);
  ObservedPod observed{.pod = pod,
                       .sandbox = view == nullptr ? std::nullopt : std::optional(*view),
                       .seen = known.seen,
                       .addresses = {.pod = address_of(pod), .host = options_.address},
                       .start_failures = known.start_failures,
                       .rejected = known.rejected,
                       .evicted = known.evicted,
                       .health = health_of(pod, view),
                       .cut_off = known.cut_off};
  PodDecision decision = decide(observed, env_.clock.wall());
  // Before its end is reported: the next one may be here at once.
  if (decision.over) {
    give_back_devices(uid);
  }
  if (is_over(pod) && !(view != nullptr && view->alive)) {
    // The object may be kept for long, and addresses are few.
    CO_TRY(co_await detach(uid));
  }
  std::optional<Duration> again = decision.look_again;
  CO_TRY(co_await act(pod, std::move(decision)));
  const std::optional<Duration> refresh = co_await refresh_volumes(std::move(pod));
  if (refresh) {
    again = again ? std::min(*again, *refresh) : *refresh;
  }
  co_return again ? Next::after(*again) : Next::await_change();
}

Task<Result<void>> PodAgent::act(model::Pod pod, PodDecision decision) {
  const std::string uid = pod.metadata.uid;
  const ObjectKey key = pod.metadata.key();
  Plan plan;
  if (const auto known = known_.find(uid); known != known_.end()) {
    plan.events = std::exchange(known->second.events, {});
  }
  if (health_ != nullptr) {
    std::ranges::move(health_->take_events(uid), std::back_inserter(plan.events));
  }
  for (const Step& step : decision.steps) {
    if (step.kind != Kind::close_sandbox) {
      CO_TRY(co_await carry_out(pod, step, plan.events));
    }
  }
  if (decision.status) {
    plan.actions.push_back(status_action(pod, *decision.status));
  }
  // People see the end before the cleaning up.
  CO_TRY(co_await actor_.act(key, std::move(plan)));
  for (const Step& step : decision.steps) {
    if (step.kind == Kind::close_sandbox) {
      CO_TRY(co_await pods_.close(uid));
    }
  }
  if (decision.drop) {
    Plan drop;
    drop.actions.push_back(drop_action(pod));
    CO_TRY(co_await actor_.act(key, std::move(drop)));
  }
  co_return Result<void>();
}

Task<Result<void>> PodAgent::carry_out(model::Pod pod, Step step, std::vector<EventNote>& events) {
  const std::string uid = pod.metadata.uid;
  if (step.kind == Kind::make_sandbox) {
    co_return co_await make_sandbox(std::move(pod), events);
  }
  if (step.kind == Kind::start) {
    co_return co_await start(std::move(pod), std::move(step), events);
  }
  const model::Container* container = find_container(pod, step.container);
  const bool hooked =
      container != nullptr && container->lifecycle && container->lifecycle->pre_stop;
  // Said once, when the end begins.
  if (step.kind == Kind::pre_stop || (step.kind == Kind::ask_to_end && !hooked)) {
    events.push_back(
        {.reason = "Killing",
         .message = step.because.empty() ? "Stopping container " + step.container : step.because});
  }
  if (step.kind == Kind::pre_stop) {
    if (health_ != nullptr) {
      health_->begin_pre_stop(uid, step.container, step.waited);
    }
    waker_.wake(pod.metadata.key());
    co_return Result<void>();
  }
  const Result<void> done = step.kind == Kind::ask_to_end
                                ? co_await pods_.ask_to_end(uid, step.container)
                                : co_await pods_.kill(uid, step.container);
  if (!done && done.error().code != ErrorCode::cancelled && step.because.empty() &&
      is_past_patience(uid, step)) {
    // The pod's time is up and its keeper does not obey.
    co_return co_await pods_.close(uid);
  }
  // A keeper that is gone has taken the container with it; its view says so.
  co_return done || done.error().code == ErrorCode::unavailable ? Result<void>() : done;
}

bool PodAgent::is_past_patience(const std::string& uid, const Step& step) {
  const SandboxView* view = pods_.find(uid);
  const auto known = known_.find(uid);
  if (view == nullptr || !view->alive || known == known_.end()) {
    return false;
  }
  const WallTime now = env_.clock.wall();
  const WallTime since = known->second.unheard.try_emplace(step.container, now).first->second;
  return step.kind == Kind::kill || now >= since + known->second.grace;
}

void PodAgent::hinder(const std::string& uid, const std::string& what, StartProblem problem,
                      Duration retry) {
  if (const auto found = known_.find(uid); found != known_.end()) {
    const WallTime when = env_.clock.wall() + retry;
    found->second.start_failures.insert_or_assign(what, StartFailure{std::move(problem), when});
    waker_.wake(found->second.key);  // the status tells it
  }
}

Task<Result<PodInputs>> PodAgent::inputs_of(model::Pod pod) {
  const bool networked = network_of(pod) != nullptr;
  CO_TRY_ASSIGN(PodInputs inputs,
                co_await fetch_inputs(client_, std::move(pod), tokens_, env_.clock.wall()));
  inputs.allocatable = options_.allocatable;
  inputs.claims_directory = options_.claims_directory;
  inputs.host_paths = options_.host_paths;
  inputs.private_places = options_.private_places;
  if (const auto& place = networked ? options_.api_in_network : options_.api_server) {
    std::tie(inputs.api_host, inputs.api_port) = place();
  }
  co_return inputs;
}

Task<Result<void>> PodAgent::make_sandbox(model::Pod pod, std::vector<EventNote>& events) {
  const std::string uid = pod.metadata.uid;
  CO_TRY_ASSIGN(const PodInputs inputs, co_await inputs_of(pod));
  const auto failed = [&](const Error& error) {
    events.push_back(
        {.warning = true, .reason = "FailedCreatePodSandBox", .message = error.message});
    hinder(uid, "", {"FailedCreatePodSandBox", error.message}, kRetryStart);
  };
  PodNetwork* network = network_of(pod);
  if (network != nullptr) {
    PodRecord record{.uid = uid, .ns = pod.metadata.ns, .name = pod.metadata.name};
    if (const auto attached = co_await network->attach(std::move(record)); !attached) {
      failed(attached.error());
      co_return Result<void>();
    }
  }
  pod.status.pod_ip = address_of(pod);
  pod.status.host_ip = options_.address;
  Result<std::vector<VolumePlan>> volumes = plan_volumes(pod, inputs);
  if (!volumes) {
    events.push_back(
        {.warning = true, .reason = "FailedMount", .message = volumes.error().message});
    hinder(uid, "", {"FailedMount", volumes.error().message}, kRetryMount);
    co_return Result<void>();
  }
  if (options_.look_for_images) {
    co_await options_.look_for_images();
  }
  NewSandbox sandbox{.spec = sandbox_spec(pod, options_.images), .volumes = {}, .etc = {}};
  for (const VolumePlan& volume : *volumes) {
    if (volume.kind == VolumePlan::Kind::memory) {
      sandbox.spec.memory_volumes.push_back({.name = volume.name, .size = volume.size});
    }
  }
  if (const auto known = known_.find(uid); known != known_.end()) {
    sandbox.spec.devices = known->second.devices;
  }
  note_volumes(uid, *volumes);
  sandbox.bounds = bounds_of(pod.spec);
  sandbox.spec.hidden = options_.private_places;
  sandbox.volumes = *std::move(volumes);
  std::string resolver = options_.resolv_conf;
  if (network != nullptr) {
    sandbox.spec.network = network->holder();
    resolver = resolv_conf(pod, network->nameserver(), options_.resolv_conf);
  }
  sandbox.etc = etc_files(pod, pod.status.pod_ip, resolver, users_of(pod, options_.images));
  const Result<void> made = co_await pods_.make(std::move(sandbox));
  if (!made) {
    failed(made.error());
  } else if (const auto known = known_.find(uid); known != known_.end()) {
    known->second.start_failures.erase("");
  }
  co_return Result<void>();
}

Task<Result<void>> PodAgent::start(model::Pod pod, Step step, std::vector<EventNote>& events) {
  const std::string uid = pod.metadata.uid;
  const model::Container* container = find_container(pod, step.container);
  CO_TRY_ASSIGN(const PodInputs inputs, co_await inputs_of(pod));
  pod.status.pod_ip = address_of(pod);
  pod.status.host_ip = options_.address;
  std::vector<DeviceGrant> devices;
  if (const auto known = known_.find(uid); known != known_.end()) {
    devices = known->second.devices;
  }
  auto spec =
      container_spec({.pod = pod, .inputs = inputs, .images = options_.images, .devices = devices},
                     *container, step.attempt);
  if (!spec) {
    events.push_back({.warning = true, .reason = "Failed", .message = spec.error().message});
    hinder(uid, step.container, std::move(spec).error(), kRetryStart);
    co_return Result<void>();
  }
  if (PodNetwork* network = network_of(pod); network != nullptr && !network->way_out().empty()) {
    add_proxy_variables(spec->environment, network->way_out());
  }
  spec->backoff_ms = std::chrono::duration_cast<std::chrono::milliseconds>(step.waited).count();
  const Result<void> started = co_await pods_.start(uid, *std::move(spec));
  if (!started && started.error().code == ErrorCode::unavailable) {
    co_return Result<void>();  // its keeper is gone: the view says so
  }
  if (!started) {
    events.push_back({.warning = true, .reason = "Failed", .message = started.error().message});
    hinder(uid, step.container, {"CreateContainerError", started.error().message}, kRetryStart);
    co_return Result<void>();
  }
  if (const auto known = known_.find(uid); known != known_.end()) {
    known->second.start_failures.erase(step.container);
    known->second.begun.insert_or_assign(step.container, step.attempt);
  }
  if (health_ != nullptr && container->lifecycle && container->lifecycle->post_start) {
    health_->expect_post_start(uid, step.container, step.attempt);
  }
  co_return Result<void>();
}

void PodAgent::tell_starts(Known& known, const SandboxView* view) {
  std::erase_if(known.begun, [&](const auto& one) {
    const auto& [name, attempt] = one;
    const RunRecord* run = view == nullptr ? nullptr : view->state.last(name);
    if (run == nullptr || run->attempt != attempt) {
      return true;
    }
    if (could_not_start(*run)) {
      known.events.push_back(
          {.warning = true, .reason = "Failed", .message = "Error: " + run->error});
    } else if (!run->starting() && run->error != kKeeperLost) {
      known.events.push_back({.reason = "Started", .message = "Started container " + name});
    }
    return !run->starting();
  });
}

Task<void> PodAgent::use_images(ImageTable images) {
  options_.images = std::move(images);
  std::vector<std::pair<std::string, ObjectKey>> waiting;
  for (auto& [uid, known] : known_) {
    bool waits = false;
    for (auto& [what, failure] : known.start_failures) {
      const std::string& reason = failure.problem.reason;
      if (reason == "ErrImagePull" || reason == "CreateContainerError") {
        failure.retry_at = {};
        waits = true;
      }
    }
    if (waits) {
      waiting.emplace_back(uid, known.key);
    }
  }
  for (const auto& [uid, key] : waiting) {
    // A sandbox has the directories of the images that were known when it was made.
    const SandboxView* view = pods_.find(uid);
    if (view != nullptr && view->alive && view->state.runs.empty()) {
      static_cast<void>(co_await pods_.close(uid));
    }
    waker_.wake(key);
  }
}

PodAgent& add_pod_agent(runtime::Manager& manager, PodRuntime& pods, AgentOptions options) {
  const std::string name = options.controller;
  PodAgent& agent = manager.controller(name).reconciles(kPods).workers(kWorkers).with<PodAgent>(
      pods, std::move(options));
  manager.add_work([&agent] { return agent.check_adopted(); });
  manager.add_work([&agent] { return agent.watch_storage(); });
  manager.add_work([&agent] { return agent.end_health(); });
  return agent;
}

}  // namespace codeflare::node
