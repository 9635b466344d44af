#include "controllers/raycluster/ray_decision.h"
#include "controllers/raycluster/ray_names.h"
#include "controllers/raycluster/ray_token.h"
#include "controllers/rayjob/rayjob_names.h"
#include "controllers/rayjob/rayjob_objects.h"
#include "model/validation.h"

namespace codeflare::controllers::rayjob {

namespace {

using model::RayJob;

// Six characters are added for the name of the cluster, which may have 53.
constexpr std::size_t kNameMax = 47;

std::string metadata_problem(const RayJob& job) {
  if (job.metadata.name.size() > kNameMax) {
    return "RayJob name should be no more than 47 characters";
  }
  if (const auto wrong = model::check_dns1035_label(job.metadata.name); !wrong.empty()) {
    return "RayJob name should be a valid DNS1035 label: " + wrong.front();
  }
  return {};
}

std::string mode_problem(const RayJob& job) {
  const std::string_view mode = mode_of(job);
  const std::string known = "K8sJobMode, HTTPMode or InteractiveMode";
  if (mode == mode::kSidecar) {
    return "submissionMode SidecarMode is not supported by this controller; use " + known;
  }
  if (mode != mode::kKubernetesJob && mode != mode::kHttp && mode != mode::kInteractive) {
    return "submissionMode " + std::string(mode) + " is unknown; use " + known;
  }
  if (mode == mode::kInteractive && job.spec.backoff_limit.value_or(0) > 0) {
    return "BackoffLimit is incompatible with InteractiveMode";
  }
  return {};
}

std::string end_problem(const RayJob& job) {
  const model::RayJobSpec& spec = job.spec;
  if (spec.suspend && !spec.shutdown_after_job_finishes) {
    return "a RayJob with shutdownAfterJobFinishes set to false is not allowed to be suspended";
  }
  if (spec.ttl_seconds_after_finished < 0) {
    return "TTLSecondsAfterFinished must be a non-negative integer";
  }
  if (!spec.shutdown_after_job_finishes && spec.ttl_seconds_after_finished > 0) {
    return "a RayJob with shutdownAfterJobFinishes set to false cannot have "
           "TTLSecondsAfterFinished";
  }
  if (!spec.deletion_strategy.empty()) {
    return "deletionStrategy is not supported by this controller; use shutdownAfterJobFinishes "
           "and ttlSecondsAfterFinished";
  }
  if (spec.active_deadline_seconds && *spec.active_deadline_seconds <= 0) {
    return "activeDeadlineSeconds must be a positive integer";
  }
  if (spec.backoff_limit && *spec.backoff_limit < 0) {
    return "backoffLimit must be a positive integer";
  }
  return {};
}

std::string cluster_problem(const RayJob& job) {
  if (selects_cluster(job)) {
    if (job.spec.suspend) {
      return "the ClusterSelector mode doesn't support the suspend operation";
    }
    if (model::find_or_empty(job.spec.cluster_selector, raycluster::kClusterLabel).empty()) {
      return "cluster name in ClusterSelector should not be empty";
    }
    return {};
  }
  if (!job.spec.ray_cluster_spec) {
    return "one of RayClusterSpec or ClusterSelector must be set";
  }
  model::RayCluster cluster = cluster_of(job);
  cluster.metadata.name = job.metadata.name;
  if (raycluster::uses_token(cluster.spec)) {
    return "authOptions of a RayJob's cluster is not supported by this controller; submit the job "
           "to a RayCluster with authOptions instead";
  }
  return raycluster::invalid(cluster);
}

std::string submission_problem(const RayJob& job) {
  if (mode_of(job) == mode::kInteractive) {
    return {};
  }
  const auto& pod = job.spec.submitter_pod_template;
  if (has_submitter(job) && pod && pod->spec.containers.empty()) {
    return "submitterPodTemplate should have at least one container";
  }
  const bool own_command = has_submitter(job) && pod && !pod->spec.containers[0].command.empty();
  if (!own_command && job.spec.entrypoint.find_first_not_of(" \t\n") == std::string::npos) {
    return "entrypoint is required";
  }
  const Result<ray::JobRequest> request = request_of(job);
  return request ? std::string() : request.error().message;
}

}  // namespace

Problem problem_of(const RayJob& job) {
  if (std::string problem = metadata_problem(job); !problem.empty()) {
    return {"InvalidRayJobMetadata", "The RayJob metadata is invalid: " + problem};
  }
  for (const auto check : {end_problem, mode_problem, cluster_problem, submission_problem}) {
    if (std::string problem = check(job); !problem.empty()) {
      return {"InvalidRayJobSpec", "The RayJob spec is invalid: " + problem};
    }
  }
  if (job.status.job_deployment_status == deployment::kWaiting &&
      mode_of(job) != mode::kInteractive) {
    return {"InvalidRayJobStatus",
            "The RayJob status is invalid: JobDeploymentStatus cannot be `Waiting` when "
            "SubmissionMode is not InteractiveMode"};
  }
  return {};
}

}  // namespace codeflare::controllers::rayjob
