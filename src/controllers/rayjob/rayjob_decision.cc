#include "controllers/rayjob/rayjob_decision.h"

#include "controllers/raycluster/ray_names.h"
#include "controllers/rayjob/rayjob_names.h"
#include "controllers/rayjob/rayjob_objects.h"
#include "model/condition.h"

#include <algorithm>
#include <utility>

namespace codeflare::controllers::rayjob {

namespace {

using model::RayJob;
using model::RayJobStatus;
using std::chrono::seconds;

// How often a dashboard is asked.
constexpr Duration kPeriod = seconds(3);
// After the submitter's end, until Ray must know of an end too.
constexpr Duration kSubmitterPatience = seconds(30);
// After Ray's end, until the submitter must have ended too.
constexpr Duration kTransitionPatience = seconds(300);

bool is_terminal(std::string_view job_status) {
  return job_status == "STOPPED" || job_status == "SUCCEEDED" || job_status == "FAILED";
}

bool has_ended(std::string_view deployment) {
  return deployment == deployment::kComplete || deployment == deployment::kFailed;
}

const model::Condition* true_condition(const model::Job& job, std::string_view type) {
  const model::Condition* found = model::find_condition(job.status.conditions, type);
  return found != nullptr && found->status == "True" ? found : nullptr;
}

std::optional<WallTime> finished_at(const std::optional<model::Job>& submitter) {
  if (!submitter) {
    return std::nullopt;
  }
  for (const std::string_view type : {"Complete", "Failed"}) {
    if (const model::Condition* condition = true_condition(*submitter, type)) {
      return condition->last_transition_time;
    }
  }
  return std::nullopt;
}

std::string dashboard_of(const model::RayCluster& cluster) {
  const auto port = cluster.status.endpoints.find("dashboard");
  return raycluster::head_host(cluster) + ":" +
         (port == cluster.status.endpoints.end() ? std::to_string(raycluster::kDashboardPort)
                                                 : port->second);
}

// As a status keeps it: a time that is read again must not look like a change.
WallTime whole_seconds(WallTime time) {
  return std::chrono::floor<seconds>(time);
}

// One look at a RayJob that is valid and not being deleted.
class Step {
 public:
  Step(const Observed& observed, WallTime now)
      : observed_(observed), spec_(observed.job.spec), now_(now), status_(observed.job.status) {}

  Desired run() {
    const std::string before = status_.job_deployment_status;
    take(before);
    if (!has_ended(before)) {
      count_attempt();
    }
    finish(before);
    return std::move(desired_);
  }

 private:
  void take(std::string_view before) {
    if (before.empty()) {
      begin();
    } else if (before == deployment::kInitializing) {
      initialize();
    } else if (before == deployment::kWaiting) {
      wait_for_id();
    } else if (before == deployment::kRunning) {
      supervise();
    } else if (before == deployment::kSuspending || before == deployment::kRetrying) {
      take_down();
    } else if (before == deployment::kSuspended) {
      resume();
    } else if (has_ended(before)) {
      shut_down();
    }
  }

  void begin() {
    if (!observed_.has_finalizer) {
      desired_.add_finalizer = true;  // the status comes with the next look
      return;
    }
    const std::string fresh = observed_.job.metadata.name + "-" + observed_.suffix;
    if (mode_of(observed_.job) != mode::kInteractive && status_.job_id.empty()) {
      const bool taken = selects_cluster(observed_.job) && status_.failed.value_or(0) > 0;
      status_.job_id = spec_.job_id.empty() || taken ? fresh : spec_.job_id;
    }
    if (status_.ray_cluster_name.empty()) {
      const std::string_view selected =
          model::find_or_empty(spec_.cluster_selector, raycluster::kClusterLabel);
      status_.ray_cluster_name = selected.empty() ? fresh : std::string(selected);
    }
    status_.start_time = now_;
    move_to(deployment::kInitializing);
  }

  void initialize() {
    if (suspends() || exceeds_deadline() || !ensure_cluster()) {
      return;
    }
    const model::RayCluster& cluster = *observed_.cluster;
    status_.ray_cluster_status = cluster.status;
    if (status_.dashboard_url.empty()) {
      if (cluster.status.state != "ready") {
        return;  // a change of the cluster wakes us
      }
      status_.dashboard_url = dashboard_of(cluster);
    }
    if (mode_of(observed_.job) == mode::kInteractive) {
      move_to(deployment::kWaiting);
      return;
    }
    desired_.create_submitter = has_submitter(observed_.job) && !observed_.submitter;
    move_to(deployment::kRunning);
  }

  void wait_for_id() {
    if (exceeds_deadline() || spec_.job_id.empty()) {
      return;
    }
    status_.job_id = spec_.job_id;
    move_to(deployment::kRunning);
  }

  void supervise() {
    if (suspends() || exceeds_deadline() || !ensure_cluster()) {
      return;
    }
    if (is_terminal(status_.job_status) && status_.ray_job_info.end_time &&
        now_ >= *status_.ray_job_info.end_time + kTransitionPatience) {
      end(status_.job_status == "FAILED" ? deployment::kFailed : deployment::kComplete,
          reason::kTransitionGracePeriodExceeded,
          "JobDeploymentStatus does not transition to Complete or Failed within the grace period "
          "after JobStatus reaches a terminal state.");
      return;
    }
    check_service();
    look_after(kPeriod);
    if (has_submitter(observed_.job) && !observed_.submitter) {
      desired_.create_submitter = true;
      return;
    }
    if (observed_.report.kind == Report::Kind::present) {
      take_report();
    }
    if (has_ended(status_.job_deployment_status)) {
      return;
    }
    if (has_submitter(observed_.job)) {
      check_submitter();
    } else if (mode_of(observed_.job) == mode::kHttp &&
               observed_.report.kind == Report::Kind::absent) {
      desired_.submit_ray_job = true;
    }
  }

  void take_report() {
    const ray::Job& job = observed_.report.job;
    status_.ray_cluster_status = observed_.cluster->status;
    status_.job_status = ray::to_string(job.status);
    status_.message = job.message;
    status_.reason.clear();
    if (job.started) {
      status_.ray_job_info.start_time = whole_seconds(*job.started);
    }
    if (job.ended) {
      status_.ray_job_info.end_time = whole_seconds(*job.ended);
    }
    if (!ray::is_terminal(job.status) ||
        (has_submitter(observed_.job) && !finished_at(observed_.submitter))) {
      return;
    }
    const bool failed = job.status == ray::JobStatus::failed;
    end(failed ? deployment::kFailed : deployment::kComplete, failed ? reason::kAppFailed : "",
        job.message);
  }

  // Ray has not said that the job is over.
  void check_submitter() {
    const std::optional<WallTime> finished = finished_at(observed_.submitter);
    if (!finished) {
      return;
    }
    if (const model::Condition* failed = true_condition(*observed_.submitter, "Failed")) {
      const bool by_job = status_.job_status == "FAILED";
      end(deployment::kFailed, by_job ? reason::kAppFailed : reason::kSubmissionFailed,
          by_job ? status_.message
                 : "Job submission has failed. Reason: " + failed->reason +
                       ". Message: " + failed->message);
    } else if (observed_.report.kind == Report::Kind::absent) {
      end(deployment::kFailed, reason::kAppFailed,
          "Submitter completed but Ray job not found in RayCluster.");
    } else if (now_ >= *finished + kSubmitterPatience) {
      status_.job_status = "FAILED";
      end(deployment::kFailed, reason::kTransitionGracePeriodExceeded,
          "The RayJob submitter finished at " + to_rfc3339(*finished) +
              " but the ray job did not reach terminal state within 30s");
    }
  }

  void take_down() {
    const bool own_cluster = !selects_cluster(observed_.job) && observed_.cluster;
    desired_.delete_cluster = own_cluster && !observed_.cluster->metadata.deletion_timestamp;
    desired_.delete_submitter =
        observed_.submitter && !observed_.submitter->metadata.deletion_timestamp;
    if (own_cluster || observed_.submitter) {
      return;  // their end wakes us
    }
    const bool retry = status_.job_deployment_status == deployment::kRetrying;
    status_.ray_cluster_status.reset();
    status_.ray_cluster_name.clear();
    status_.dashboard_url.clear();
    status_.job_id.clear();
    status_.message.clear();
    status_.reason.clear();
    status_.ray_job_info = {};
    status_.job_status.clear();
    move_to(retry ? "" : deployment::kSuspended);
  }

  void resume() {
    if (!spec_.suspend) {
      status_.job_status.clear();
      move_to("");
    }
  }

  void shut_down() {
    if (selects_cluster(observed_.job) || !spec_.shutdown_after_job_finishes ||
        !observed_.cluster || observed_.cluster->metadata.deletion_timestamp) {
      return;
    }
    const WallTime due =
        status_.end_time.value_or(now_) + seconds(spec_.ttl_seconds_after_finished);
    desired_.delete_cluster = now_ >= due;
    if (!desired_.delete_cluster) {
      look_after(due - now_);
    }
  }

  bool suspends() {
    if (spec_.suspend) {
      move_to(deployment::kSuspending);
    }
    return spec_.suspend;
  }

  bool exceeds_deadline() {
    if (!spec_.active_deadline_seconds || !status_.start_time) {
      return false;
    }
    const WallTime due = *status_.start_time + seconds(*spec_.active_deadline_seconds);
    if (now_ < due) {
      look_after(due - now_);
      return false;
    }
    desired_.stop_ray_job = status_.job_deployment_status == deployment::kRunning;
    end(deployment::kFailed, reason::kDeadlineExceeded,
        "The RayJob has passed the activeDeadlineSeconds. StartTime: " +
            to_rfc3339(*status_.start_time) +
            ". ActiveDeadlineSeconds: " + std::to_string(*spec_.active_deadline_seconds));
    return true;
  }

  bool ensure_cluster() {
    if (observed_.cluster) {
      return true;
    }
    const std::string name = observed_.job.metadata.ns + "/" + status_.ray_cluster_name;
    if (selects_cluster(observed_.job)) {
      note(true, "RayClusterNotFound",
           "RayCluster " + name +
               " set in the clusterSelector is not found. It must be created manually");
      look_after(kPeriod);
      return false;
    }
    desired_.create_cluster = true;
    note(false, "CreatedRayCluster", "Created RayCluster " + name);
    return false;
  }

  void check_service() {
    if (selects_cluster(observed_.job)) {
      return;
    }
    desired_.write_service =
        !observed_.service ||
        model::find_or_empty(observed_.service->spec.selector, raycluster::kClusterLabel) !=
            status_.ray_cluster_name;
  }

  void count_attempt() {
    const bool failed = status_.job_deployment_status == deployment::kFailed;
    const bool succeeded =
        status_.job_deployment_status == deployment::kComplete && status_.job_status == "SUCCEEDED";
    status_.failed = status_.failed.value_or(0) + (failed ? 1 : 0);
    status_.succeeded = status_.succeeded.value_or(0) + (succeeded ? 1 : 0);
    if (failed && *status_.failed <= spec_.backoff_limit.value_or(0) &&
        status_.reason != reason::kDeadlineExceeded) {
      move_to(deployment::kRetrying);
    }
  }

  // Writes the status when it differs, and says what was done.
  void finish(std::string_view before) {
    if (desired_.add_finalizer) {
      return;
    }
    status_.observed_generation = observed_.job.metadata.generation;
    if (has_ended(status_.job_deployment_status) && !has_ended(before)) {
      status_.end_time = now_;
    }
    const std::string key = observed_.job.metadata.key().to_string();
    if (desired_.create_submitter) {
      note(false, "CreatedRayJobSubmitter", "Created Kubernetes Job " + key);
    }
    if (desired_.delete_submitter) {
      note(false, "DeletedRayJobSubmitter", "Deleted submitter K8s Job " + key);
    }
    if (desired_.delete_cluster) {
      note(false, "DeletedRayCluster",
           "Deleted cluster " + observed_.job.metadata.ns + "/" + observed_.cluster->metadata.name);
    }
    if (!(status_ == observed_.job.status)) {
      desired_.status = std::move(status_);
    }
  }

  void move_to(std::string_view deployment) { status_.job_deployment_status = deployment; }

  void end(std::string_view deployment, std::string_view why, std::string message) {
    move_to(deployment);
    status_.reason = why;
    status_.message = std::move(message);
    desired_.look_again.reset();
  }

  void look_after(Duration delay) {
    desired_.look_again = desired_.look_again ? std::min(*desired_.look_again, delay) : delay;
  }

  void note(bool warning, std::string why, std::string message) {
    desired_.events.push_back({warning, std::move(why), std::move(message)});
  }

  const Observed& observed_;
  const model::RayJobSpec& spec_;
  WallTime now_;
  RayJobStatus status_;
  Desired desired_;
};

Desired reject(const RayJob& job, const Problem& problem) {
  Desired desired;
  RayJobStatus status = job.status;
  status.job_deployment_status = deployment::kValidationFailed;
  status.reason = reason::kValidationFailed;
  status.message = problem.message;
  status.observed_generation = job.metadata.generation;
  if (!(status == job.status)) {
    desired.events.push_back(
        {true, problem.event, job.metadata.key().to_string() + ": " + problem.message});
    desired.status = std::move(status);
  }
  return desired;
}

// The job may run on a cluster that stays.
Desired let_go(const Observed& observed) {
  Desired desired;
  desired.remove_finalizer = observed.has_finalizer;
  desired.stop_ray_job = observed.has_finalizer && observed.cluster &&
                         !observed.job.status.job_id.empty() &&
                         observed.job.status.job_deployment_status == deployment::kRunning &&
                         !is_terminal(observed.job.status.job_status);
  return desired;
}

}  // namespace

bool needs_report(const Observed& observed) {
  return !observed.deleting && observed.cluster && !observed.job.status.job_id.empty() &&
         observed.job.status.job_deployment_status == deployment::kRunning;
}

Desired decide(const Observed& observed, WallTime now) {
  if (observed.deleting) {
    return let_go(observed);
  }
  if (has_ended(observed.job.status.job_deployment_status)) {
    return Step(observed, now).run();
  }
  const Problem problem = problem_of(observed.job);
  return problem.empty() ? Step(observed, now).run() : reject(observed.job, problem);
}

}  // namespace codeflare::controllers::rayjob
