#include "sdk/jobs.h"

#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "base/async/when.h"
#include "sdk/internal/ray_head.h"
#include "sdk/internal/runtime_env_of.h"
#include "sdk/job_name.h"
#include "sdk/ray_token.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <tuple>
#include <utility>

namespace codeflare::sdk {

using internal::RayHead;

namespace {

constexpr Duration kPollFirst = std::chrono::seconds(1);
constexpr Duration kPollMax = std::chrono::seconds(5);
// Ray kills a job that does not stop within seconds.
constexpr Duration kStopPatience = std::chrono::minutes(1);
// Ray's monitor of a job looks this often, and once more after its end.
constexpr Duration kMonitorPeriod = std::chrono::seconds(1);
constexpr int kLooksAfterStop = 2;
// A list does not wait for a dashboard that is starting.
constexpr Duration kListPatience = std::chrono::seconds(10);
constexpr std::size_t kListsAtATime = 16;

std::string quoted(std::string_view text) {
  return "'" + std::string(text) + "'";
}

Error job_not_found(const std::string& name, const JobTarget& target) {
  const std::string where = target.address.empty()
                                ? "-c " + target.cluster.name + " -n " + target.cluster.ns
                                : "--address " + target.address;
  return not_found("job " + quoted(name) + " not found on " + target.to_string() +
                   "; 'codeflare list job " + where + "' shows its jobs");
}

Error name_taken(const std::string& name, const JobTarget& target) {
  return already_exists("job " + quoted(name) + " already exists on " + target.to_string() +
                        "; choose another name or delete the job first");
}

Result<void> check(const JobSpec& spec) {
  TRY(check_job_name(spec.name));
  if (spec.command.empty()) {
    return fail(invalid_argument("job " + quoted(spec.name) +
                                 ": the command is missing; give the command to run"));
  }
  return {};
}

// Before it is dispatched and after its end a cluster has no head.
// A cluster that a RayJob made runs that job alone.
bool is_of_job(const ClusterInfo& info) {
  return info.objects.ray && model::find_or_empty(info.objects.ray->metadata.labels,
                                                  "ray.io/originated-from-crd") == "RayJob";
}

bool may_have_head(const ClusterInfo& info) {
  switch (info.state.phase) {
    case ClusterPhase::starting:
    case ClusterPhase::ready:
    case ClusterPhase::deleting:
      return true;
    default:
      return false;
  }
}

// Ray's monitor of a job that was stopped may write the status once more after the record was
// removed: then a record is there again. A new job of the same name is another one.
bool came_back(const JobInfo& removed, const JobInfo& now) {
  const bool same = now.metadata == removed.metadata && now.started == removed.started;
  return has_ended(now.phase) && (same || now.command == "Entrypoint not found.");
}

// The monitor may still have to look at the job: it runs, or ran until a moment ago.
bool may_come_back(const JobStop& stop, WallTime now) {
  constexpr Duration kMonitorEnds = std::chrono::seconds(10);
  return stop.was_running || !stop.job.ended || now - *stop.job.ended < kMonitorEnds;
}

// See kCpusMetadata.
void note_sizes(JobSpec& spec) {
  const auto note = [&](std::string_view key, const std::optional<double>& amount) {
    if (amount) {
      const auto milli = static_cast<std::int64_t>(std::llround(*amount * 1000));
      spec.metadata.insert_or_assign(std::string(key), model::Quantity::milli(milli).to_string());
    }
  };
  note(kCpusMetadata, spec.num_cpus);
  note(kGpusMetadata, spec.num_gpus);
  if (spec.memory_bytes) {
    spec.metadata.insert_or_assign(std::string(kMemoryMetadata),
                                   std::to_string(*spec.memory_bytes));
  }
}

}  // namespace

std::string JobTarget::to_string() const {
  return address.empty()
             ? "Ray cluster " + quoted(cluster.name) + " in namespace " + quoted(cluster.ns)
             : "the Ray dashboard at " + address;
}

Task<Result<model::ObjectKey>> Jobs::only_cluster(std::string ns) {
  CO_TRY_ASSIGN(std::vector<ClusterInfo> found, co_await clusters_.list(ns));
  std::erase_if(found, is_of_job);
  if (found.empty()) {
    co_return fail(not_found("no Ray cluster in namespace " + quoted(ns) +
                             "; create one first: codeflare create raycluster NAME --wait"));
  }
  if (found.size() > 1) {
    std::string names;
    for (const ClusterInfo& info : found) {
      names += (names.empty() ? "" : ", ") + info.key.name;
    }
    co_return fail(invalid_argument("namespace " + quoted(ns) + " has " +
                                    std::to_string(found.size()) + " Ray clusters (" + names +
                                    "); choose one with --cluster-name"));
  }
  co_return found.front().key;
}

// The error of a call, with what the user can do where the dashboard was not reached at all.
Task<Error> Jobs::explain(RayHead& head, Error error, std::string name) {
  const JobTarget& target = head.target();
  const std::optional<internal::Refusal> refusal = head.refusal();
  if (error.code == ErrorCode::cancelled) {
    co_return error;
  }
  if (!refusal && error.code == ErrorCode::not_found && !name.empty()) {
    co_return job_not_found(name, target);
  }
  if (!refusal && error.code == ErrorCode::already_exists) {
    co_return name_taken(name, target);
  }
  if (refusal && refusal->status == 404 && target.address.empty()) {
    const Result<ClusterInfo> cluster = co_await clusters_.get(target.cluster);
    if (!cluster && cluster.error().code == ErrorCode::not_found) {
      co_return cluster_not_found(target.cluster);
    }
    if (cluster && cluster->state.phase != ClusterPhase::ready) {
      co_return failed_precondition("Ray cluster " + quoted(target.cluster.name) +
                                    " is not ready: " + progress_line(cluster->state));
    }
  }
  const bool unreachable =
      error.code == ErrorCode::unavailable || error.code == ErrorCode::deadline_exceeded;
  if (!refusal && !unreachable) {
    co_return std::move(error).with_context(target.to_string());
  }
  const std::string where = target.address.empty()
                                ? "the dashboard of " + target.to_string() + " by " + head.way()
                                : target.to_string();
  Error told = std::move(error).with_context("cannot reach " + where);
  if (refusal && refusal->status == 403) {
    told.message +=
        "; the rights get, create, update and delete on services/proxy are needed in namespace " +
        quoted(target.cluster.ns);
  }
  // The time of a wait is not up, and the job may well exist.
  if (told.code == ErrorCode::deadline_exceeded || told.code == ErrorCode::not_found) {
    told.code = ErrorCode::unavailable;
  }
  co_return told;
}

// Reads local files and blocks.
Result<ray::PreparedRuntimeEnv> Jobs::prepare(const std::string& runtime_env) {
  Result<ray::PreparedRuntimeEnv> prepared = ray::prepare_runtime_env(
      env_.files, runtime_env, ray::package_options(env_.variables, options_.base_directory));
  // About a file here rather than an object of the server.
  if (!prepared && (prepared.error().code == ErrorCode::not_found ||
                    prepared.error().code == ErrorCode::permission_denied)) {
    return fail(
        invalid_argument(prepared.error().message + "; give a path that exists and can be read"));
  }
  return prepared;
}

Task<Result<std::unique_ptr<RayHead>>> Jobs::open_head(JobTarget target, JobsOptions options) {
  if (target.address.empty() && options.client.token.empty()) {
    CO_TRY_ASSIGN(options.client.token, co_await ray_token(client_, target.cluster));
  }
  co_return RayHead::open(env_, service_, std::move(target), options);
}

Task<Result<std::vector<std::string>>> Jobs::submit(JobTarget target, JobSpec spec) {
  CO_TRY(check(spec));
  CO_TRY_ASSIGN(const std::string described, internal::runtime_env_of(spec));
  CO_TRY_ASSIGN(ray::PreparedRuntimeEnv prepared,
                co_await run_blocking(env_, [&] { return prepare(described); }));
  CO_TRY_ASSIGN(const std::unique_ptr<RayHead> head,
                co_await open_head(std::move(target), options_));
  if (!prepared.packages.empty()) {
    // A name that is taken shall not cost an upload.
    const Result<ray::Job> taken = co_await head->client().info(spec.name);
    if (taken) {
      co_return fail(name_taken(spec.name, head->target()));
    }
    if (taken.error().code != ErrorCode::not_found || head->refusal()) {
      co_return fail(co_await explain(*head, taken.error(), ""));
    }
    Result<void> sent = co_await head->client().upload_missing(std::move(prepared.packages));
    if (!sent) {
      co_return fail(co_await explain(*head, std::move(sent).error(), ""));
    }
  }
  note_sizes(spec);
  ray::JobRequest request{.submission_id = spec.name,
                          .entrypoint = std::move(spec.command),
                          .runtime_env = std::move(prepared.json),
                          .metadata = std::move(spec.metadata),
                          .num_cpus = spec.num_cpus,
                          .num_gpus = spec.num_gpus,
                          .memory_bytes = spec.memory_bytes,
                          .resources = std::move(spec.resources)};
  Result<void> done = co_await head->client().submit(std::move(request));
  if (!done) {
    co_return fail(co_await explain(*head, std::move(done).error(), spec.name));
  }
  co_return std::move(prepared.notes);
}

Task<Result<JobInfo>> Jobs::look(RayHead& head, std::string name) {
  Result<ray::Job> job = co_await head.client().info(name);
  if (!job) {
    co_return fail(co_await explain(head, std::move(job).error(), std::move(name)));
  }
  co_return job_info(head.target().cluster, *job);
}

Task<Result<JobInfo>> Jobs::get(JobTarget target, std::string name) {
  CO_TRY_ASSIGN(const std::unique_ptr<RayHead> head,
                co_await open_head(std::move(target), options_));
  co_return co_await look(*head, std::move(name));
}

Task<Result<std::vector<JobInfo>>> Jobs::list_with(JobTarget target, JobsOptions options) {
  CO_TRY_ASSIGN(const std::unique_ptr<RayHead> head,
                co_await open_head(std::move(target), std::move(options)));
  Result<std::vector<ray::Job>> jobs = co_await head->client().list();
  if (!jobs) {
    co_return fail(co_await explain(*head, std::move(jobs).error(), ""));
  }
  std::vector<JobInfo> infos;
  for (const ray::Job& job : *jobs) {
    if (job.submitted && !job.submission_id.empty()) {
      infos.push_back(job_info(head->target().cluster, job));
    }
  }
  std::ranges::sort(infos, {}, &JobInfo::name);
  co_return infos;
}

Task<Result<std::vector<JobInfo>>> Jobs::list(JobTarget target) {
  co_return co_await list_with(std::move(target), options_);
}

Task<Result<JobList>> Jobs::list_all(std::string ns) {
  CO_TRY_ASSIGN(std::vector<ClusterInfo> clusters, co_await clusters_.list(std::move(ns)));
  std::erase_if(clusters,
                [](const ClusterInfo& info) { return is_of_job(info) || !may_have_head(info); });
  JobsOptions quick = options_;
  quick.client.retry_for = Duration::zero();
  quick.client.request_timeout = std::min(quick.client.request_timeout, kListPatience);
  JobList all;
  for (std::size_t at = 0; at < clusters.size(); at += kListsAtATime) {
    std::vector<Task<Result<std::vector<JobInfo>>>> lists;
    for (std::size_t i = at; i < std::min(at + kListsAtATime, clusters.size()); ++i) {
      lists.push_back(list_with({.cluster = clusters[i].key}, quick));
    }
    for (Result<std::vector<JobInfo>>& jobs : co_await when_all(std::move(lists))) {
      if (!jobs && jobs.error().code == ErrorCode::cancelled) {
        co_return fail(std::move(jobs).error());
      }
      if (!jobs) {
        all.notes.push_back(jobs.error().message);
      } else {
        std::ranges::move(*jobs, std::back_inserter(all.jobs));
      }
    }
  }
  std::ranges::sort(all.jobs, {},
                    [](const JobInfo& job) { return std::tie(job.cluster, job.name); });
  co_return all;
}

Task<Result<std::string>> Jobs::logs(JobTarget target, std::string name) {
  CO_TRY_ASSIGN(const std::unique_ptr<RayHead> head,
                co_await open_head(std::move(target), options_));
  Result<std::string> log = co_await head->client().logs(name);
  if (!log) {
    co_return fail(co_await explain(*head, std::move(log).error(), std::move(name)));
  }
  co_return log;
}

// Until the job runs: then nothing changes before its end, which the log brings, as all errors.
Task<void> Jobs::observe(JobTarget target, std::string name,
                         std::function<void(const JobInfo&)> observer) {
  JobWait options{.goal = JobGoal::running, .observer = [&](const JobInfo& job) {
                    if (!has_ended(job.phase)) {
                      observer(job);
                    }
                  }};
  (void)co_await wait(std::move(target), std::move(name), std::move(options));
}

Task<Result<JobEnd>> Jobs::follow(JobTarget target, std::string name, ray::LogSink sink,
                                  std::function<void(const JobInfo&)> observer) {
  CO_TRY_ASSIGN(const std::unique_ptr<RayHead> head, co_await open_head(target, options_));
  const TaskContext& context = co_await current_context();
  TaskGroup group(*context.loop, context.stop);
  if (observer) {
    group.spawn(observe(std::move(target), name, std::move(observer)));
  }
  Result<ray::TailEnd> end = co_await head->client().tail(name, std::move(sink));
  co_await group.close();
  if (!end) {
    co_return fail(co_await explain(*head, std::move(end).error(), std::move(name)));
  }
  co_return JobEnd{job_info(head->target().cluster, end->job), std::move(end->log_error)};
}

Task<Result<JobInfo>> Jobs::poll(RayHead& head, std::string name, JobWait options) {
  std::optional<JobInfo> shown;
  for (Duration pause = kPollFirst;; pause = std::min(pause * 3 / 2, kPollMax)) {
    CO_TRY_ASSIGN(JobInfo job, co_await look(head, name));
    if (options.observer &&
        (!shown || shown->phase != job.phase || shown->message != job.message)) {
      shown = job;
      options.observer(job);
    }
    const bool runs = job.phase == JobPhase::running && options.goal == JobGoal::running;
    if (runs || has_ended(job.phase)) {
      co_return job;
    }
    CO_TRY(co_await sleep_for(pause));
  }
}

Task<Result<JobInfo>> Jobs::wait_on(RayHead& head, std::string name, JobWait options) {
  const Duration timeout = options.timeout;
  std::string what = "job " + quoted(name);
  Task<Result<JobInfo>> polling = poll(head, std::move(name), std::move(options));
  co_return timeout > Duration()
      ? co_await with_timeout(timeout, std::move(what), std::move(polling))
      : co_await std::move(polling);
}

Task<Result<JobInfo>> Jobs::wait(JobTarget target, std::string name, JobWait options) {
  CO_TRY_ASSIGN(const std::unique_ptr<RayHead> head,
                co_await open_head(std::move(target), options_));
  co_return co_await wait_on(*head, std::move(name), std::move(options));
}

Task<Result<JobStop>> Jobs::stop_on(RayHead& head, std::string name, bool wait) {
  JobStop stop;
  CO_TRY_ASSIGN(stop.job, co_await look(head, name));
  if (has_ended(stop.job.phase)) {
    co_return stop;
  }
  Result<bool> asked = co_await head.client().stop(name);
  if (!asked) {
    co_return fail(co_await explain(head, std::move(asked).error(), std::move(name)));
  }
  stop.was_running = *asked;
  if (wait) {
    CO_TRY_ASSIGN(stop.job, co_await wait_on(head, std::move(name), {.timeout = kStopPatience}));
  }
  co_return stop;
}

Task<Result<JobStop>> Jobs::stop(JobTarget target, std::string name, bool wait) {
  CO_TRY_ASSIGN(const std::unique_ptr<RayHead> head,
                co_await open_head(std::move(target), options_));
  co_return co_await stop_on(*head, std::move(name), wait);
}

Task<Result<void>> Jobs::remove_record(RayHead& head, std::string name) {
  Result<void> removed = co_await head.client().remove(name);
  if (!removed) {
    co_return fail(co_await explain(head, std::move(removed).error(), std::move(name)));
  }
  co_return Result<void>();
}

Task<Result<void>> Jobs::remove(JobTarget target, std::string name) {
  CO_TRY_ASSIGN(const std::unique_ptr<RayHead> head,
                co_await open_head(std::move(target), options_));
  CO_TRY_ASSIGN(const JobStop stop, co_await stop_on(*head, name, true));
  CO_TRY(co_await remove_record(*head, name));
  const bool watched = may_come_back(stop, env_.clock.wall());
  for (int looks = watched ? kLooksAfterStop : 0; looks > 0; --looks) {
    CO_TRY(co_await sleep_for(kMonitorPeriod));
    const Result<JobInfo> now = co_await look(*head, name);
    if (now && came_back(stop.job, *now)) {
      CO_TRY(co_await remove_record(*head, name));
    } else if (!now && now.error().code != ErrorCode::not_found) {
      co_return fail(now.error());
    }
  }
  co_return Result<void>();
}

}  // namespace codeflare::sdk
