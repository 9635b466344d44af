#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "kube/client.h"
#include "sdk/jobs.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>

// One job by its name, whichever back end runs it.
namespace codeflare::sdk {

// Which part of a log.
struct LogChoice {
  std::optional<std::int64_t> replica{};  // default: all, each line behind "[1] "
  std::optional<std::int64_t> tail{};     // the last lines of each replica
};

struct JobFollow {
  LogChoice choice{};
  ray::LogSink sink;
  // Each state before the job ends that differs from the one before.
  std::function<void(const JobInfo&)> observer{};
};

class JobHandle {
 public:
  virtual ~JobHandle() = default;

  virtual Task<Result<JobInfo>> get() = 0;
  virtual Task<Result<std::string>> logs(LogChoice choice) = 0;
  // From the first line to the job's end.
  virtual Task<Result<JobEnd>> follow(JobFollow options) = 0;
  // The record stays. With `wait`, returns when the job has ended.
  virtual Task<Result<JobStop>> stop(bool wait) = 0;
  // Stops the job if necessary, then removes its record.
  virtual Task<Result<void>> remove() = 0;
  // Starts a removal and returns. False: a job on a Ray cluster was only stopped, because Ray keeps
  // the record of a job that has not ended.
  virtual Task<Result<bool>> start_removal() = 0;
  // deadline_exceeded when the time is up, which undoes nothing.
  virtual Task<Result<JobInfo>> wait(JobWait options) = 0;
  // The same until no job of the name exists; the goal is ignored.
  virtual Task<Result<void>> wait_gone(JobWait options) = 0;
  // "Ray cluster 'demo' in namespace 'team'", "namespace 'team'"
  virtual std::string where() const = 0;
  // " -c demo": options that lead to the same job in another command, without the namespace.
  virtual std::string words() const = 0;
};

// How a job was named.
struct JobName {
  std::string ns;
  std::string name;
  std::string cluster{};  // of Ray; empty: none was named
  std::string address{};  // of a Ray dashboard
};

// The job of the name: an AppWrapper with the label of jobs, else one on the Ray cluster that is
// named or the only one of the namespace. A job on Ray need not exist. `jobs` and `client` outlive
// the handle.
Task<Result<std::unique_ptr<JobHandle>>> open_job(Jobs& jobs, kube::Client& client, JobName name);

}  // namespace codeflare::sdk
