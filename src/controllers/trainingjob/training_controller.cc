#include "controllers/trainingjob/training_controller.h"

#include "base/async/sleep.h"
#include "controllers/pods_type.h"
#include "controllers/status_patch.h"
#include "controllers/trainingjob/names.h"
#include "elastic/agent_access.h"
#include "elastic/kubernetes_store.h"
#include "model/codec/pod.h"
#include "model/codec/service.h"
#include "model/codec/training_job.h"
#include "model/resources.h"
#include "runtime/map_function.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace codeflare::controllers::trainingjob {

namespace {

using runtime::Action;
using runtime::Next;
using runtime::Plan;

const runtime::ResourceType kJobs = model::resource_type<model::TrainingJob>();
const runtime::ResourceType kServices = model::resource_type<model::Service>();

const runtime::ResourceType kAccounts{"", "v1", "ServiceAccount", "serviceaccounts", true};
const runtime::ResourceType kRoles{"rbac.authorization.k8s.io", "v1", "Role", "roles", true};
const runtime::ResourceType kBindings{"rbac.authorization.k8s.io", "v1", "RoleBinding",
                                      "rolebindings", true};

constexpr int kWorkers = 16;
constexpr Duration kSelectorPause = std::chrono::seconds(5);

// Workers wake their job by TrainingPods.
bool told_by_pods(const runtime::ObjectChange& /*change*/) {
  return false;
}

void of_nobody(const kube::Object& /*pod*/, std::vector<model::ObjectKey>& /*keys*/) {}

}  // namespace

TrainingJobReconciler::TrainingJobReconciler(const runtime::ControllerContext& context,
                                             QueueDriver& driver, WorkerOptions options)
    : env_(context.env),
      actor_(context.actor),
      waker_(context.waker),
      driver_(driver),
      options_(std::move(options)),
      jobs_(context.subject.store()),
      services_(context.cache.informer(kServices).store()),
      pods_(context.cache.informer(kPods),
            [waker = context.waker](const model::ObjectKey& job) { waker.wake(job); }),
      agents_(context.cache.informer(elastic::leases()).store()) {}

Task<Result<Next>> TrainingJobReconciler::reconcile(runtime::ObjectKey key) {
  if (!driver_.active()) {
    co_return Next::await_change();  // the driver wakes everybody when it begins
  }
  CO_TRY(co_await actor_.ready(key));
  const std::optional<Observed> observed = observe(key);
  if (!observed) {
    co_return Next::await_change();
  }
  Desired desired = decide(*observed, env_.clock.wall());
  if (desired.stop) {
    driver_.stopping(observed->job.metadata.uid);
  }
  Plan plan = this->plan(*observed, desired);
  Next next = plan.next;
  CO_TRY(co_await actor_.act(key, std::move(plan)));
  tell_queue(*observed, desired);
  co_return next;
}

std::optional<Observed> TrainingJobReconciler::observe(const runtime::ObjectKey& key) {
  const runtime::ObjectRef object = jobs_.get(key);
  if (object == nullptr) {
    return std::nullopt;
  }
  Result<model::TrainingJob> job = object->as<model::TrainingJob>();
  if (!job) {
    return std::nullopt;  // the schema does not let such a TrainingJob in
  }
  Observed observed{.job = *std::move(job)};
  const std::string& uid = observed.job.metadata.uid;
  if (observed.job.status.plan) {
    driver_.plan_written(uid, queue::planned_places(*observed.job.status.plan));
  }
  observed.pods = pods_.of(key, uid);
  if (meets_by_leases(observed.job, options_.lattice)) {
    observed.agents = agents_.of(observed.job, observed.pods, env_.clock.now());
  }
  observed.has_service = services_.get(key) != nullptr;
  observed.standing = driver_.queue().standing(uid);
  if (observed.standing.kind == queue::Standing::Kind::waiting) {
    observed.sentence = driver_.queue().sentence(uid, env_.clock.wall());
  }
  observed.problems = queue::problems_of(observed.job, options_.training);
  if (const std::string problem = driver_.problem(uid);
      observed.problems.empty() && !problem.empty()) {
    observed.problems.push_back(problem);
  }
  return observed;
}

Plan TrainingJobReconciler::plan(const Observed& observed, const Desired& desired) const {
  Plan plan;
  const model::TrainingJob& job = observed.job;
  if (desired.expired) {
    plan.actions.push_back(
        {.verb = Action::Verb::remove,
         .type = kJobs,
         .key = job.metadata.key(),
         .why = "ttlSecondsAfterFinished is over",
         .removal = {.propagation_policy = "Background", .uid = job.metadata.uid}});
    return plan;
  }
  // The plan is durable before its first effect.
  if (desired.status) {
    plan.actions.push_back({.verb = Action::Verb::patch,
                            .type = kJobs,
                            .key = job.metadata.key(),
                            .body = status_patch(job, *desired.status),
                            .why = "status is out of date",
                            .write = {.subresource = "status"}});
  }
  if (desired.create_service) {
    plan.actions.push_back({.verb = Action::Verb::create,
                            .type = kServices,
                            .key = job.metadata.key(),
                            .body = model::to_json_text(service_of(job)),
                            .why = "workers need names"});
  }
  add_agent_objects(observed, desired, plan);
  for (const WorkerPod& pod : desired.remove) {
    plan.actions.push_back({.verb = Action::Verb::remove,
                            .type = kPods,
                            .key = {job.metadata.ns, pod.name},
                            .why = pod.over() ? "the worker has ended" : "the plan has no place",
                            .together = true,
                            .removal = {.uid = pod.uid}});
  }
  for (const std::int64_t index : desired.create) {
    const model::Pod pod = worker_pod(job, index, options_);
    plan.actions.push_back({.verb = Action::Verb::create,
                            .type = kPods,
                            .key = pod.metadata.key(),
                            .body = model::to_json_text(pod),
                            .why = "the plan has a place for it",
                            .together = true});
  }
  plan.events = desired.events;
  if (desired.look_again) {
    plan.next = Next::after(*desired.look_again);
  }
  return plan;
}

// Rights come before the Leases they are for: who sees a Lease has the right.
void TrainingJobReconciler::add_agent_objects(const Observed& observed, const Desired& desired,
                                              Plan& plan) const {
  if (desired.create_leases.empty() && !desired.create_round) {
    return;
  }
  const model::ObjectMeta& meta = observed.job.metadata;
  elastic::AgentAccess access{.ns = meta.ns,
                              .job = meta.name,
                              .service_account = account_of(observed.job),
                              .owner = owner_of(observed.job)};
  const auto& known = observed.agents->leases;
  for (const std::int64_t index : desired.create_leases) {
    access.size_max = std::max(access.size_max, static_cast<std::int32_t>(index) + 1);
  }
  if (!known.empty()) {
    access.size_max = std::max(access.size_max, static_cast<std::int32_t>(*known.rbegin()) + 1);
  }
  const std::string name = elastic::agent_access_name(meta.name);
  const auto add = [&](const runtime::ResourceType& type, const std::string& what, std::string body,
                       bool once) {
    plan.actions.push_back({.verb = once ? Action::Verb::create : Action::Verb::apply,
                            .type = type,
                            .key = {meta.ns, what},
                            .body = std::move(body),
                            .why = "agents need it",
                            .existing_is_fine = once && type != elastic::leases()});
  };
  if (has_own_account(observed.job)) {
    add(kAccounts, name, elastic::agent_service_account(access), true);
  }
  add(kRoles, name, elastic::agent_role(access), false);
  add(kBindings, name, elastic::agent_role_binding(access), true);
  if (desired.create_round) {
    const std::string round = elastic::round_name(meta.name);
    add(elastic::leases(), round, elastic::lease_without_holder(access, round), true);
  }
  for (const std::int64_t index : desired.create_leases) {
    const std::string lease = worker_name(meta.name, index);
    add(elastic::leases(), lease, elastic::lease_without_holder(access, lease), true);
  }
}

void TrainingJobReconciler::tell_queue(const Observed& observed, const Desired& desired) {
  const std::string& uid = observed.job.metadata.uid;
  if (desired.status && desired.status->progress != observed.job.status.progress) {
    agents_.progress_written(uid, env_.clock.now());
  }
  if (desired.over) {
    agents_.forget(uid);
  }
  const model::TrainingJobStatus& status = desired.status ? *desired.status : observed.job.status;
  if (desired.over) {
    driver_.remove(uid);
  } else if (desired.withdrawn) {
    driver_.withdrawn(uid, status.cooldown_time);
  } else if (status.plan) {
    driver_.plan_written(uid, queue::planned_places(*status.plan));
  }
}

TrainingJobReconciler& add_training_controller(runtime::Manager& manager, QueueDriver& driver,
                                               WorkerOptions options) {
  TrainingJobReconciler& reconciler =
      manager.controller("trainingjobs")
          .reconciles(kJobs)
          .watches(kPods, of_nobody, told_by_pods)
          .owns(kServices)
          .watches(elastic::leases(), runtime::to_label(std::string(kJobLabel)), {},
                   {.watch = {.label_selector = std::string(kJobLabel)}})
          .workers(kWorkers)
          .with<TrainingJobReconciler>(driver, std::move(options));
  driver.set_training_waker(reconciler.waker());
  return reconciler;
}

Result<model::StringMap> read_selector(Env env, const std::string& path) {
  if (path.empty()) {
    return model::StringMap{};
  }
  Result<std::string> text = env.files.read(path);
  Result<model::StringMap> selector =
      text ? parse_selector(*text) : Result<model::StringMap>(fail(text.error()));
  if (!selector) {
    return fail(std::move(selector).error().with_context(
        "LATTICE_JOB_NODE_SELECTOR_PATH (--job-node-selector): " + path));
  }
  return selector;
}

namespace {

Task<void> watch_selector(Env env, QueueDriver& driver, TrainingJobReconciler& reconciler,
                          TrainingSettings settings, Logger logger) {
  std::string told;
  model::StringMap known = read_selector(env, settings.selector_path).value_or(model::StringMap{});
  while (co_await sleep_for(kSelectorPause)) {
    Result<model::StringMap> selector = co_await run_blocking(
        env, [env, path = settings.selector_path] { return read_selector(env, path); });
    const std::string problem = selector ? "" : selector.error().message;
    if (problem != told && !problem.empty()) {
      logger.warn("node selector of TrainingJobs unchanged", {{"error", problem}});
    }
    told = problem;
    if (!selector || *selector == known) {
      continue;
    }
    known = *selector;
    logger.info("node selector of TrainingJobs changed", {{"labels", known.size()}});
    driver.set_training({.unit = settings.unit, .node_selector = known});
    reconciler.set_training({.unit = settings.unit, .node_selector = known});
  }
}

}  // namespace

void follow_selector(runtime::Manager& manager, QueueDriver& driver,
                     TrainingJobReconciler& reconciler, TrainingSettings settings, Logger logger) {
  if (settings.selector_path.empty()) {
    return;
  }
  manager.add_work([&manager, &driver, &reconciler, settings = std::move(settings), logger] {
    return watch_selector(manager.env(), driver, reconciler, settings, logger);
  });
}

}  // namespace codeflare::controllers::trainingjob
