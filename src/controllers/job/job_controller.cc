#include "controllers/job/job_controller.h"

#include "controllers/pods_type.h"
#include "controllers/status_patch.h"
#include "model/codec/job.h"
#include "model/codec/pod.h"
#include "model/resources.h"
#include "runtime/finalizer.h"
#include "runtime/transform.h"

#include <algorithm>
#include <utility>

namespace codeflare::controllers::job {

namespace {

using runtime::Action;
using runtime::Plan;

const runtime::ResourceType kJobs = model::resource_type<model::Job>();
const runtime::Finalizer kTracking(kPods, std::string(kTrackingFinalizer));

// So that many jobs' writes share the commits of the store.
constexpr int kWorkers = 32;
constexpr std::size_t kNamePrefixMax = 58;  // a generated name adds five letters
constexpr const char* kIndexVariable = "JOB_COMPLETION_INDEX";

std::string name_prefix(const std::string& job, std::int64_t index) {
  const std::string tail = index < 0 ? "-" : "-" + std::to_string(index) + "-";
  return job.substr(0, std::min(job.size(), kNamePrefixMax - tail.size())) + tail;
}

void add_index_variable(std::vector<model::Container>& containers) {
  for (model::Container& container : containers) {
    if (std::ranges::find(container.env, kIndexVariable, &model::EnvVar::name) !=
        container.env.end()) {
      continue;
    }
    model::EnvVar variable{.name = kIndexVariable};
    variable.value_from.emplace().field_ref.emplace().field_path =
        "metadata.labels['" + std::string(kIndexKey) + "']";
    container.env.push_back(std::move(variable));
  }
}

// A pod of a running job changes too often for its version to be known.
Action let_go(const std::string& ns, const PodDigest& pod, std::string why) {
  Action action = kTracking.remove_from_any_version({ns, pod.name}, pod.uid, std::move(why));
  action.together = true;
  return action;
}

Action remove(const std::string& ns, const PodDigest& pod, std::string why) {
  return {.verb = Action::Verb::remove,
          .type = kPods,
          .key = {ns, pod.name},
          .why = std::move(why),
          .together = true,
          .removal = {.uid = pod.uid}};
}

}  // namespace

std::string pod_of(const model::Job& job, std::int64_t index) {
  const model::PodTemplateSpec& from = job.spec.pod_template;
  model::Pod pod;
  pod.metadata.generate_name = name_prefix(job.metadata.name, index);
  pod.metadata.labels = from.metadata.labels;
  pod.metadata.annotations = from.metadata.annotations;
  pod.metadata.finalizers = from.metadata.finalizers;
  if (std::ranges::find(pod.metadata.finalizers, kTrackingFinalizer) ==
      pod.metadata.finalizers.end()) {
    pod.metadata.finalizers.emplace_back(kTrackingFinalizer);
  }
  pod.metadata.owner_references.push_back({.api_version = kJobs.api_version(),
                                           .kind = kJobs.kind,
                                           .name = job.metadata.name,
                                           .uid = job.metadata.uid,
                                           .controller = true,
                                           .block_owner_deletion = true});
  pod.spec = from.spec;
  if (index >= 0) {
    const std::string text = std::to_string(index);
    pod.metadata.labels.insert_or_assign(std::string(kIndexKey), text);
    pod.metadata.annotations.insert_or_assign(std::string(kIndexKey), text);
    pod.spec.hostname = job.metadata.name + "-" + text;
    add_index_variable(pod.spec.init_containers);
    add_index_variable(pod.spec.containers);
  }
  return model::to_json_text(pod);
}

JobReconciler::JobReconciler(const runtime::ControllerContext& context)
    : StoryReconciler(context.env, context.actor),
      jobs_(context.subject.store()),
      waker_(context.env.loop,
             [waker = context.waker](const model::ObjectKey& job) { waker.wake(job); }),
      pods_(context.cache.informer(kPods), read_job_pod,
            [this](const JobPods::GroupChange& change) {
              waker_.pod_changed(change.key, change.size);
            }) {}

std::optional<Observed> JobReconciler::observe(const runtime::ObjectKey& key) const {
  Observed observed{.job = std::nullopt, .ns = key.ns, .pods = pods_.of(key)};
  if (const runtime::ObjectRef object = jobs_.get(key)) {
    Result<model::Job> job = object->as<model::Job>();
    if (!job) {
      return std::nullopt;  // the server does not let such a Job in
    }
    observed.job = *std::move(job);
  } else if (observed.pods.empty()) {
    return std::nullopt;
  }
  return observed;
}

Desired JobReconciler::desired(const Observed& observed, WallTime now) const {
  return job::decide(observed, now);
}

Plan JobReconciler::diff(const Observed& observed, const Desired& desired) const {
  Plan plan;
  const std::string& ns = observed.ns;
  if (desired.expired) {
    plan.actions.push_back(
        {.verb = Action::Verb::remove,
         .type = kJobs,
         .key = observed.job->metadata.key(),
         .why = "ttlSecondsAfterFinished is over",
         .removal = {.propagation_policy = "Foreground", .uid = observed.job->metadata.uid}});
    return plan;
  }
  for (const PodDigest& pod : desired.give_up) {
    if (pod.tracked) {
      plan.actions.push_back(let_go(ns, pod, "end of the pod is not counted"));
    }
  }
  for (const PodDigest& pod : desired.give_up) {
    plan.actions.push_back(remove(ns, pod, "fewer pods needed"));
  }
  for (const PodDigest& pod : desired.stop) {
    plan.actions.push_back(remove(ns, pod, "the Job has finished"));
  }
  for (const std::int64_t index : desired.create) {
    plan.actions.push_back({.verb = Action::Verb::create,
                            .type = kPods,
                            .key = {ns, ""},
                            .body = pod_of(*observed.job, index),
                            .why = "more pods needed",
                            .together = true});
  }
  if (desired.status) {
    plan.actions.push_back({.verb = Action::Verb::patch,
                            .type = kJobs,
                            .key = observed.job->metadata.key(),
                            .body = status_patch(*observed.job, *desired.status),
                            .why = "status is out of date",
                            .write = {.subresource = "status"}});
  }
  for (const PodDigest& pod : desired.release) {
    plan.actions.push_back(let_go(ns, pod, "end of the pod was counted"));
  }
  plan.events = desired.events;
  if (desired.look_again) {
    plan.next = runtime::Next::after(*desired.look_again);
  }
  return plan;
}

JobReconciler& add_job_controller(runtime::Manager& manager) {
  runtime::InformerOptions jobs;
  jobs.transform = runtime::without_managed_fields;
  return manager.controller("jobs")
      .reconciles(kJobs, {}, std::move(jobs))
      .follows(kPods)
      .workers(kWorkers)
      .with<JobReconciler>();
}

}  // namespace codeflare::controllers::job
