#include "controllers/trainingjob/training_controller.h"

#include "base/async/sleep.h"
#include "controllers/pods_type.h"
#include "controllers/status_patch.h"
#include "controllers/trainingjob/names.h"
#include "controllers/trainingjob/pull_secret.h"
#include "elastic/agent_access.h"
#include "elastic/kubernetes_store.h"
#include "model/codec/node.h"
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
const runtime::ResourceType kNodes = model::resource_type<model::Node>();
const runtime::ResourceType kServices = model::resource_type<model::Service>();

const runtime::ResourceType kSecrets{"", "v1", "Secret", "secrets", true};
const runtime::ResourceType kAccounts{"", "v1", "ServiceAccount", "serviceaccounts", true};
const runtime::ResourceType kRoles{"rbac.authorization.k8s.io", "v1", "Role", "roles", true};
const runtime::ResourceType kBindings{"rbac.authorization.k8s.io", "v1", "RoleBinding",
                                      "rolebindings", true};

constexpr int kWorkers = 16;
constexpr Duration kSelectorPause = std::chrono::seconds(5);

}  // namespace

TrainingJobReconciler::TrainingJobReconciler(const runtime::ControllerContext& context,
                                             QueueDriver& driver, WorkerOptions options,
                                             RemoteOptions remote)
    : env_(context.env),
      actor_(context.actor),
      waker_(context.waker),
      driver_(driver),
      options_(std::move(options)),
      jobs_(context.subject.store()),
      services_(context.cache.informer(kServices).store()),
      pods_(context.cache.informer(kPods),
            [waker = context.waker](const model::ObjectKey& job) { waker.wake(job); }),
      nodes_(context.env.clock, context.cache.informer(kNodes),
             [this](const std::string& node) {
               for (const model::ObjectKey& job : pods_.jobs_on(node)) {
                 waker_.wake(job);
               }
             }),
      agents_(context.cache.informer(elastic::leases()).store()),
      checkpoint_keys_(context.env, context.client, context.actor),
      remote_(context.env, context.actor, driver, std::move(remote)) {
  if (options_.etcd != nullptr) {
    etcd_.emplace(env_, *options_.etcd,
                  [waker = context.waker](const model::ObjectKey& job) { waker.wake(job); });
  }
  if (options_.metrics != nullptr) {
    metrics_.emplace(*options_.metrics);
    count_nodes(context.cache.informer(kNodes));
  }
}

void TrainingJobReconciler::count_nodes(runtime::Informer& nodes) {
  nodes.add_handler([this](const runtime::ObjectChange& change) {
    const std::string name((change.now ? change.now : change.old)->name());
    const bool there = change.now != nullptr && change.as<model::Node>();
    metrics_->node(name, there ? units_of(*change.as<model::Node>(), options_.training) : 0);
  });
}

Task<Result<Next>> TrainingJobReconciler::reconcile(runtime::ObjectKey key) {
  if (!driver_.active()) {
    co_return Next::await_change();  // the driver wakes everybody when it begins
  }
  CO_TRY(co_await actor_.ready(key));
  std::optional<Observed> observed = observe(key);
  if (!observed) {
    if (metrics_) {
      metrics_->gone(key);
    }
    agents_.forget(key);
    remote_.forget(key);
    if (etcd_) {
      CO_TRY(co_await etcd_->end(key));
    }
    co_return Next::await_change();
  }
  if (metrics_) {
    metrics_->seen(observed->job, observed->pods);
  }
  if (runtime::ObjectRef object = jobs_.get(key);
      object != nullptr && remote_.concerns(*object, *observed)) {
    co_return co_await remote_.reconcile(std::move(object), *observed);
  }
  if (!observed->wrapped && observed->job.status.plan &&
      observed->standing.kind == queue::Standing::Kind::started &&
      is_elsewhere(observed->standing.plan, "")) {
    // It stops here before it starts on another cluster.
    observed->standing.kind = queue::Standing::Kind::stopping;
    observed->standing.reason = queue::Reason::place_lost;
    observed->standing.message = "its nodes are gone";
  }
  Desired desired = decide(*observed, env_.clock.wall());
  if (desired.stop && !observed->wrapped) {
    driver_.stopping(observed->job.metadata.uid);
  }
  CO_TRY_ASSIGN(const WorkerSecrets secrets, co_await secrets_for(*observed, desired));
  Plan plan = this->plan(*observed, desired, secrets);
  Next next = plan.next;
  CO_TRY(co_await act(*observed, desired, std::move(plan)));
  if (metrics_ && desired.status) {
    metrics_->written(observed->job, *desired.status);
  }
  tell_queue(*observed, desired);
  co_return next;
}

bool TrainingJobReconciler::uses_etcd(const model::TrainingJob& job) const {
  return etcd_ && meets_in_etcd(job, options_.lattice);
}

Task<void> TrainingJobReconciler::follow_etcd() {
  if (etcd_) {
    co_await etcd_->run();
  }
}

Task<Result<void>> TrainingJobReconciler::act(const Observed& observed, const Desired& desired,
                                              Plan plan) {
  const model::ObjectKey key = observed.job.metadata.key();
  const model::TrainingJobStatus& status = desired.status ? *desired.status : observed.job.status;
  if (!uses_etcd(observed.job) || !status.membership) {
    co_return co_await actor_.act(key, std::move(plan));
  }
  if (desired.status && !plan.actions.empty()) {
    Plan first;
    first.actions.push_back(std::move(plan.actions.front()));
    plan.actions.erase(plan.actions.begin());
    CO_TRY(co_await actor_.act(key, std::move(first)));
  }
  if (desired.over) {
    CO_TRY(co_await etcd_->end(key));
  } else {
    CO_TRY(co_await etcd_->publish(observed.job.metadata.uid, from_status(status.membership)));
  }
  co_return co_await actor_.act(key, std::move(plan));
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
  observed.wrapped = !queue::wrapper_of(observed.job).empty();
  if (observed.job.status.plan && !observed.wrapped) {
    driver_.plan_written(uid, queue::planned_places(*observed.job.status.plan));
  }
  observed.pods = pods_.of(key, uid);
  for (WorkerPod& pod : observed.pods) {
    pod.stranded = nodes_.unready_for(pod.node);
  }
  observed.keeps_first = meets_at_first(observed.job, options_.lattice);
  observed.fenced = saves_remotely(observed.job, options_.lattice);
  if (meets_by_leases(observed.job, options_.lattice)) {
    observed.agents = agents_.of(observed.job, observed.pods, env_.clock.now());
  }
  if (uses_etcd(observed.job) && !queue::is_finished(observed.job.status)) {
    observed.agents = etcd_->of(observed.job, observed.pods, env_.clock.now());
    observed.rendezvous_problem = etcd_->problem(uid);
  }
  observed.has_service = services_.get(key) != nullptr;
  observed.standing = observed.wrapped ? queue::standing_in_wrapper(driver_.queue(), observed.job)
                                       : driver_.queue().standing(uid);
  if (observed.standing.kind == queue::Standing::Kind::waiting) {
    observed.sentence = driver_.queue().sentence(
        observed.wrapped ? queue::wrapper_of(observed.job) : uid, env_.clock.wall());
  }
  observed.problems = queue::problems_of(observed.job, options_.training);
  if (const std::string problem = driver_.problem(uid);
      observed.problems.empty() && !problem.empty()) {
    observed.problems.push_back(problem);
  }
  return observed;
}

Task<Result<TrainingJobReconciler::WorkerSecrets>> TrainingJobReconciler::secrets_for(
    const Observed& observed, const Desired& desired) {
  const model::TrainingJob& job = observed.job;
  WorkerSecrets secrets;
  if (desired.create.empty()) {
    co_return secrets;
  }
  if (saves_remotely(job, options_.lattice)) {
    CO_TRY_ASSIGN(
        const std::optional<Secret> key,
        co_await checkpoint_keys_.find(options_.lattice, options_.agent_image, job.metadata.key()));
    secrets.token = key ? std::optional(token_secret(job, *key)) : std::nullopt;
  }
  if (injects_agent(job, options_)) {
    auto login = co_await run_blocking(env_, [env = env_, folder = options_.lattice.jfrog_path] {
      return read_registry_login(env.files, folder);
    });
    if (!login) {
      co_return fail(std::move(login).error().with_context("LATTICE_JFROG_SECRET_PATH"));
    }
    if (*login) {
      secrets.pull = pull_secret(job, options_.agent_image, **login);
    }
  }
  co_return secrets;
}

Plan TrainingJobReconciler::plan(const Observed& observed, const Desired& desired,
                                 const WorkerSecrets& secrets) const {
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
  const auto add_secret = [&](const std::optional<std::string>& body, std::string name,
                              std::string why) {
    if (body) {
      plan.actions.push_back({.verb = Action::Verb::create,
                              .type = kSecrets,
                              .key = {job.metadata.ns, std::move(name)},
                              .body = *body,
                              .why = std::move(why),
                              .existing_is_fine = true});
    }
  };
  add_secret(secrets.token, token_secret_name(job), "workers save checkpoints");
  add_secret(secrets.pull, pull_secret_name(job), "nodes pull the agent's image");
  add_agent_objects(observed, desired, plan);
  for (const WorkerPod& pod : desired.remove) {
    plan.actions.push_back({.verb = Action::Verb::remove,
                            .type = kPods,
                            .key = {job.metadata.ns, pod.name},
                            .why = pod.over() ? "the worker has ended" : "the plan has no place",
                            .together = true,
                            .removal = {.uid = pod.uid}});
  }
  for (const WorkerPod& pod : desired.abandon) {
    plan.actions.push_back({.verb = Action::Verb::remove,
                            .type = kPods,
                            .key = {job.metadata.ns, pod.name},
                            .why = "its node does not answer",
                            .together = true,
                            .removal = {.grace_period_seconds = 0, .uid = pod.uid}});
  }
  const std::map<std::uint32_t, model::StringMap> annotations =
      driver_.pod_annotations(job.metadata.uid, observed.standing.plan);
  for (const std::int64_t index : desired.create) {
    model::Pod pod = worker_pod(job, index, options_);
    for (const auto& [set, added] : annotations) {
      for (const auto& [key, value] : added) {
        pod.metadata.annotations.insert_or_assign(key, value);
      }
    }
    if (secrets.pull) {
      pod.spec.image_pull_secrets.push_back({.name = pull_secret_name(job)});
    }
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
    agents_.progress_written(observed.job, env_.clock.now());
    if (etcd_) {
      etcd_->progress_written(uid, env_.clock.now());
    }
  }
  if (desired.over) {
    agents_.forget(observed.job.metadata.key());
  }
  if (observed.wrapped) {
    return;
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
                                               WorkerOptions options, RemoteOptions remote) {
  TrainingJobReconciler& reconciler =
      manager.controller("trainingjobs")
          .reconciles(kJobs)
          .follows(kPods)
          .follows(kNodes)
          .owns(kServices)
          .watches(elastic::leases(), runtime::to_label(std::string(kJobLabel)), {},
                   {.watch = {.label_selector = std::string(kJobLabel)}})
          .workers(kWorkers)
          .with<TrainingJobReconciler>(driver, std::move(options), std::move(remote));
  driver.set_training_waker(reconciler.waker());
  manager.add_work([&reconciler] { return reconciler.follow_etcd(); });
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
