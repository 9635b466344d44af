#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "base/result.h"
#include "net/http.h"
#include "net/url.h"
#include "ray/client.h"
#include "sdk/clusters.h"
#include "sdk/job_info.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace codeflare::sdk {

namespace internal {
class RayHead;
}

// The Ray cluster that a job runs on.
struct JobTarget {
  model::ObjectKey cluster;
  // Of its dashboard: "http://host:8265". Then no other way is tried. Empty: the API server's
  // proxy for the head's service.
  std::string address{};

  // "Ray cluster 'demo' in namespace 'team'", "the Ray dashboard at http://host:8265"
  std::string to_string() const;
};

struct JobSpec {
  std::string name;     // becomes the submission id
  std::string command;  // for a shell on the head
  // A directory or archive here, or a URI; relative paths count from JobsOptions::base_directory.
  std::string working_dir{};
  std::string runtime_env{};  // JSON object as Ray's clients read it; empty: none
  std::map<std::string, std::string> env{};
  // Resources of the command itself; tasks and actors ask for their own.
  std::optional<double> num_cpus{};
  std::optional<double> num_gpus{};
  std::optional<std::uint64_t> memory_bytes{};
  std::map<std::string, double> resources{};
  std::map<std::string, std::string> metadata{};
};

struct JobsOptions {
  std::string base_directory = "/";  // absolute
  ray::ClientOptions client{};       // its prefix is set here
  // How to reach an address; empty: over the network.
  std::function<Result<std::unique_ptr<net::HttpService>>(net::Url)> dial{};
};

struct JobList {
  std::vector<JobInfo> jobs;       // by namespace, cluster and name
  std::vector<std::string> notes;  // clusters whose dashboard did not answer, and why
};

// The end of a followed log.
struct JobEnd {
  JobInfo job;
  std::optional<Error> log_error{};  // the last part of the log could not be read
};

struct JobStop {
  JobInfo job;
  bool was_running = false;  // else the job had ended before
};

enum class JobGoal : std::uint8_t { running, finished };

struct JobWait {
  JobGoal goal = JobGoal::finished;
  Duration timeout{};  // zero: none
  // Each state that differs from the one before, the first included.
  std::function<void(const JobInfo&)> observer{};
};

// Jobs on existing Ray clusters, by Ray's REST API; no Ray is needed here. Errors name the job and
// the cluster, and when the dashboard cannot be reached the way that failed and the missing right.
// Loop-bound; `service` leads to the API server, and both outlive this.
//   Jobs jobs(env, connection->service(), client, discovery, {.base_directory = directory});
//   CO_TRY(co_await jobs.submit({.cluster = {"team", "demo"}}, {.name = "a", .command = "ls"}));
class Jobs {
 public:
  Jobs(Env env, net::HttpService& service, kube::Client& client, kube::Discovery& discovery,
       JobsOptions options)
      : env_(env),
        service_(service),
        client_(client),
        clusters_(client, discovery),
        options_(std::move(options)) {}

  // The only Ray cluster of a namespace. not_found: there is none; invalid_argument: there are
  // several, which are listed.
  Task<Result<model::ObjectKey>> only_cluster(std::string ns);

  // Packages and uploads local files, then submits. At most one job of the name is accepted; a name
  // that is taken is already_exists. Returns notes for people.
  Task<Result<std::vector<std::string>>> submit(JobTarget target, JobSpec spec);
  Task<Result<JobInfo>> get(JobTarget target, std::string name);
  // Submitted jobs by name; drivers that nobody submitted are left out.
  Task<Result<std::vector<JobInfo>>> list(JobTarget target);
  // Of every Ray cluster of a namespace that may have a head; all namespaces when `ns` is empty.
  Task<Result<JobList>> list_all(std::string ns);
  Task<Result<std::string>> logs(JobTarget target, std::string name);
  // From the first line to the job's end. The observer hears each state before the end that differs
  // from the one before.
  Task<Result<JobEnd>> follow(JobTarget target, std::string name, ray::LogSink sink,
                              std::function<void(const JobInfo&)> observer = {});
  // The record stays. With `wait`, returns when the job has ended.
  Task<Result<JobStop>> stop(JobTarget target, std::string name, bool wait = true);
  // Stops the job if necessary, then removes its record.
  Task<Result<void>> remove(JobTarget target, std::string name);
  // deadline_exceeded when the time is up, which undoes nothing.
  Task<Result<JobInfo>> wait(JobTarget target, std::string name, JobWait options);

 private:
  // With the token of a cluster that needs one.
  Task<Result<std::unique_ptr<internal::RayHead>>> open_head(JobTarget target, JobsOptions options);
  Result<ray::PreparedRuntimeEnv> prepare(const std::string& runtime_env);
  Task<Error> explain(internal::RayHead& head, Error error, std::string name);
  Task<Result<JobInfo>> look(internal::RayHead& head, std::string name);
  Task<void> observe(JobTarget target, std::string name,
                     std::function<void(const JobInfo&)> observer);
  Task<Result<JobInfo>> poll(internal::RayHead& head, std::string name, JobWait options);
  Task<Result<JobInfo>> wait_on(internal::RayHead& head, std::string name, JobWait options);
  Task<Result<JobStop>> stop_on(internal::RayHead& head, std::string name, bool wait);
  Task<Result<void>> remove_record(internal::RayHead& head, std::string name);
  Task<Result<std::vector<JobInfo>>> list_with(JobTarget target, JobsOptions options);

  Env env_;
  net::HttpService& service_;
  kube::Client& client_;
  Clusters clusters_;
  JobsOptions options_;
};

}  // namespace codeflare::sdk
