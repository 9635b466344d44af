#include "controllers/rayjob/rayjob_controller.h"

#include "controllers/raycluster/ray_names.h"
#include "controllers/raycluster/raycluster_controller.h"
#include "controllers/rayjob/rayjob_names.h"
#include "controllers/rayjob/rayjob_objects.h"
#include "controllers/status_patch.h"
#include "json/write.h"
#include "model/codec/job.h"
#include "model/codec/ray_job.h"
#include "model/codec/service.h"
#include "model/resources.h"
#include "runtime/finalizer.h"
#include "runtime/map_function.h"

#include <utility>

namespace codeflare::controllers::rayjob {

namespace {

using runtime::Action;
using runtime::Plan;

const runtime::ResourceType kJobs = model::resource_type<model::RayJob>();
const runtime::ResourceType kClusters = model::resource_type<model::RayCluster>();
const runtime::ResourceType kSubmitters = model::resource_type<model::Job>();
const runtime::ResourceType kServices = model::resource_type<model::Service>();
const runtime::Finalizer kGuard(kJobs, std::string(kFinalizer));

// A dashboard that does not answer keeps one of them for some seconds.
constexpr int kWorkers = 32;

// The typed object in a store, when it is there and readable.
template <typename T>
std::optional<T> read(const runtime::Store& store, const model::ObjectKey& key) {
  const runtime::ObjectRef object = store.get(key);
  if (object == nullptr) {
    return std::nullopt;
  }
  Result<T> value = object->as<T>();
  return value ? std::optional(*std::move(value)) : std::nullopt;
}

template <typename T>
void drop_if_not_of(const model::RayJob& job, std::optional<T>& object) {
  if (!object) {
    return;
  }
  for (const model::OwnerReference& owner : object->metadata.owner_references) {
    if (owner.uid == job.metadata.uid) {
      return;
    }
  }
  object.reset();
}

Action create(const runtime::ResourceType& type, const std::string& ns, std::string body,
              std::string why) {
  return {.verb = Action::Verb::create,
          .type = type,
          .key = {ns, ""},
          .body = std::move(body),
          .why = std::move(why)};
}

template <typename T>
Action remove(const runtime::ResourceType& type, const T& object, std::string why) {
  return {.verb = Action::Verb::remove,
          .type = type,
          .key = object.metadata.key(),
          .why = std::move(why),
          .removal = {.propagation_policy = "Background", .uid = object.metadata.uid}};
}

model::ObjectKey head_service(const Observed& observed) {
  return {observed.job.metadata.ns, raycluster::head_service_name(*observed.cluster)};
}

// Only the way to the head differs between clusters.
Action redirect(const model::Service& service) {
  std::string body;
  json::Writer w(body);
  w.begin_object().key("spec").begin_object().key("selector").begin_object();
  for (const auto& [key, value] : service.spec.selector) {
    w.member(key, value);
  }
  w.end_object().end_object().end_object();
  return {.verb = Action::Verb::patch,
          .type = kServices,
          .key = service.metadata.key(),
          .body = std::move(body),
          .why = "the RayJob has another cluster"};
}

}  // namespace

RayJobReconciler::RayJobReconciler(const runtime::ControllerContext& context, net::HttpService& api,
                                   std::shared_ptr<raycluster::KubeRayWatch> kuberay)
    : env_(context.env),
      actor_(context.actor),
      jobs_(context.subject.store()),
      clusters_(context.cache.informer(kClusters).store()),
      submitters_(context.cache.informer(kSubmitters).store()),
      services_(context.cache.informer(kServices).store()),
      dashboards_(context.env, api),
      kuberay_(std::move(kuberay)) {
  if (kuberay_ != nullptr) {
    kuberay_->on_change([this, waker = context.waker] {
      for (const runtime::ObjectRef& object : jobs_.list()) {
        waker.wake(object->key());
      }
    });
  }
}

std::optional<Observed> RayJobReconciler::observe(const runtime::ObjectKey& key) const {
  const bool handed_over = kuberay_ != nullptr && kuberay_->where();
  const runtime::ObjectRef object = handed_over ? nullptr : jobs_.get(key);
  if (object == nullptr) {
    return std::nullopt;
  }
  Result<model::RayJob> job = object->as<model::RayJob>();
  if (!job ||
      job->spec.managed_by.value_or(std::string(raycluster::kManager)) != raycluster::kManager) {
    return std::nullopt;
  }
  Observed observed{.job = *std::move(job)};
  const model::RayJob& seen = observed.job;
  observed.deleting = object->deleting();
  observed.has_finalizer = kGuard.on(*object);
  if (!seen.status.ray_cluster_name.empty()) {
    observed.cluster = read<model::RayCluster>(clusters_, {key.ns, seen.status.ray_cluster_name});
  }
  observed.submitter = read<model::Job>(submitters_, key);
  observed.service = read<model::Service>(services_, {key.ns, service_name(seen)});
  if (!selects_cluster(seen)) {
    drop_if_not_of(seen, observed.cluster);
  }
  drop_if_not_of(seen, observed.submitter);
  drop_if_not_of(seen, observed.service);
  observed.suffix = env_.random.name_suffix();
  return observed;
}

Plan RayJobReconciler::plan(const Observed& observed, const Desired& desired) const {
  Plan plan;
  model::RayJob job = observed.job;
  if (const runtime::ObjectRef object = jobs_.get(job.metadata.key())) {
    if (desired.add_finalizer) {
      plan.actions.push_back(kGuard.add(*object, "the Ray job must be stopped before it goes"));
    }
    if (desired.remove_finalizer) {
      plan.actions.push_back(kGuard.remove(*object, "the Ray job is stopping"));
    }
  }
  if (desired.delete_cluster) {
    plan.actions.push_back(remove(kClusters, *observed.cluster, "the RayJob needs it no more"));
  }
  if (desired.delete_submitter) {
    plan.actions.push_back(remove(kSubmitters, *observed.submitter, "the job is to begin anew"));
  }
  if (desired.status) {
    job.status = *desired.status;  // names of what is made stand there
  }
  const std::string& ns = job.metadata.ns;
  if (desired.create_cluster) {
    plan.actions.push_back(
        create(kClusters, ns, model::to_json_text(cluster_of(job)), "the RayJob has no cluster"));
  }
  if (desired.write_service) {
    const model::Service service = service_of(job, *observed.cluster);
    plan.actions.push_back(observed.service ? redirect(service)
                                            : create(kServices, ns, model::to_json_text(service),
                                                     "the RayJob has no service"));
  }
  if (desired.create_submitter) {
    // A request that cannot be made was rejected before.
    if (const Result<model::Job> submitter = submitter_of(job, *observed.cluster)) {
      plan.actions.push_back(
          create(kSubmitters, ns, model::to_json_text(*submitter), "nobody has submitted the job"));
    }
  }
  if (desired.status) {
    plan.actions.push_back({.verb = Action::Verb::patch,
                            .type = kJobs,
                            .key = job.metadata.key(),
                            .body = status_patch(observed.job, *desired.status),
                            .why = "the status is behind",
                            .write = {.subresource = "status"}});
  }
  plan.events = desired.events;
  if (desired.look_again) {
    plan.next = runtime::Next::after(*desired.look_again);
  }
  return plan;
}

Task<Result<void>> RayJobReconciler::call_ray(const Observed& observed, const Desired& desired) {
  if (desired.stop_ray_job && observed.cluster) {
    // A cluster that does not answer has nothing to stop, or goes itself.
    static_cast<void>(
        co_await dashboards_.stop(head_service(observed), observed.job.status.job_id));
  }
  if (desired.submit_ray_job) {
    CO_TRY_ASSIGN(ray::JobRequest request, request_of(observed.job));
    CO_TRY(co_await dashboards_.submit(head_service(observed), std::move(request)));
  }
  co_return Result<void>();
}

Task<Result<runtime::Next>> RayJobReconciler::reconcile(runtime::ObjectKey key) {
  CO_TRY(co_await actor_.ready(key));
  std::optional<Observed> observed = observe(key);
  if (!observed) {
    co_return runtime::Next::await_change();
  }
  if (needs_report(*observed)) {
    observed->report =
        co_await dashboards_.look(head_service(*observed), observed->job.status.job_id);
    // The world went on meanwhile.
    std::optional<Observed> now = observe(key);
    if (!now) {
      co_return runtime::Next::await_change();
    }
    if (now->job.status.job_id == observed->job.status.job_id) {
      now->report = std::move(observed->report);
    }
    observed = std::move(now);
  }
  const Desired desired = decide(*observed, env_.clock.wall());
  const bool begins = desired.create_cluster || desired.create_submitter || desired.submit_ray_job;
  if (begins && kuberay_ != nullptr) {
    CO_TRY_ASSIGN(const bool ours, co_await kuberay_->still_ours());
    if (!ours) {
      co_return runtime::Next::await_change();
    }
  }
  Plan todo = plan(*observed, desired);
  runtime::Next next = todo.next;
  CO_TRY(co_await call_ray(*observed, desired));
  CO_TRY(co_await actor_.act(key, std::move(todo)));
  co_return next;
}

void add_ray_controllers(runtime::Manager& manager, net::HttpService& api,
                         RayControllersOptions options) {
  raycluster::add_raycluster_controller(manager, options.kuberay);
  if (options.jobs_served) {
    manager.controller("rayjobs")
        .reconciles(kJobs)
        .owns(kClusters)
        .owns(kSubmitters)
        .owns(kServices)
        .workers(kWorkers)
        .with<RayJobReconciler>(api, options.kuberay);
  }
  if (options.kuberay != nullptr) {
    manager.add_work([kuberay = options.kuberay] { return kuberay->run(); });
  }
}

}  // namespace codeflare::controllers::rayjob
