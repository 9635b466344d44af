#include "sdk/job_handle.h"

#include "base/async/sleep.h"
#include "model/app_wrapper.h"
#include "model/validation.h"
#include "sdk/gang_jobs.h"
#include "sdk/gang_state.h"

#include <algorithm>
#include <utility>

namespace codeflare::sdk {

namespace {

constexpr Duration kPollGone = std::chrono::seconds(2);

std::string last_lines(const std::string& text, std::int64_t count) {
  if (count <= 0) {
    return {};
  }
  std::size_t at = text.ends_with('\n') ? text.size() - 1 : text.size();
  for (; count > 0 && at != std::string::npos; --count) {
    at = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
  }
  return at == std::string::npos ? text : text.substr(at + 1);
}

Task<Result<void>> nothing() {
  co_return Result<void>();
}

// On an existing Ray cluster.
class RayHandle final : public JobHandle {
 public:
  RayHandle(Jobs& jobs, JobTarget target, std::string name)
      : jobs_(jobs), target_(std::move(target)), name_(std::move(name)) {}

  Task<Result<JobInfo>> get() override { return jobs_.get(target_, name_); }
  Task<Result<std::string>> logs(LogChoice choice) override {
    CO_TRY(one_replica(choice));
    CO_TRY_ASSIGN(std::string text, co_await jobs_.logs(target_, name_));
    co_return choice.tail ? last_lines(text, *choice.tail) : std::move(text);
  }
  Task<Result<JobEnd>> follow(JobFollow options) override {
    CO_TRY(one_replica(options.choice));
    if (!options.choice.tail) {
      co_return co_await jobs_.follow(target_, name_, std::move(options.sink),
                                      std::move(options.observer));
    }
    // Ray sends a log from its first line.
    CO_TRY_ASSIGN(const std::string text, co_await jobs_.logs(target_, name_));
    std::size_t left_out = text.size() - last_lines(text, *options.choice.tail).size();
    const auto rest = [&](std::string piece) {
      const std::size_t cut = std::min(left_out, piece.size());
      left_out -= cut;
      piece.erase(0, cut);
      return piece.empty() ? nothing() : options.sink(std::move(piece));
    };
    co_return co_await jobs_.follow(target_, name_, rest, options.observer);
  }
  Task<Result<JobStop>> stop(bool wait) override { return jobs_.stop(target_, name_, wait); }
  Task<Result<void>> remove() override { return jobs_.remove(target_, name_); }
  Task<Result<bool>> start_removal() override {
    CO_TRY_ASSIGN(const JobStop stop, co_await jobs_.stop(target_, name_, false));
    if (!has_ended(stop.job.phase)) {
      co_return false;
    }
    CO_TRY(co_await jobs_.remove(target_, name_));
    co_return true;
  }
  Task<Result<JobInfo>> wait(JobWait options) override {
    return jobs_.wait(target_, name_, std::move(options));
  }
  Task<Result<void>> wait_gone(JobWait options) override {
    const Duration timeout = options.timeout;
    Task<Result<void>> polling = poll_gone(std::move(options));
    co_return timeout > Duration()
        ? co_await with_timeout(timeout, "job '" + name_ + "'", std::move(polling))
        : co_await std::move(polling);
  }
  std::string where() const override { return target_.to_string(); }
  std::string words() const override {
    return target_.address.empty() ? " -c " + target_.cluster.name
                                   : " --address " + target_.address;
  }

 private:
  Task<Result<void>> poll_gone(JobWait options) {
    std::optional<JobPhase> shown;
    while (true) {
      const Result<JobInfo> job = co_await jobs_.get(target_, name_);
      if (!job) {
        co_return job.error().code == ErrorCode::not_found ? Result<void>() : fail(job.error());
      }
      if (options.observer && shown != job->phase) {
        shown = job->phase;
        options.observer(*job);
      }
      CO_TRY(co_await sleep_for(kPollGone));
    }
  }
  Result<void> one_replica(const LogChoice& choice) const {
    if (choice.replica && *choice.replica != 0) {
      return fail(invalid_argument("job '" + name_ + "' on " + target_.to_string() +
                                   " has one log; leave out the replica"));
    }
    return {};
  }

  Jobs& jobs_;
  JobTarget target_;
  std::string name_;
};

// Without the right to see AppWrappers, jobs on Ray clusters are still found.
Task<Result<std::optional<model::AppWrapper>>> wrapper_of(kube::Client& client, JobName name) {
  if (!name.cluster.empty() || !name.address.empty() ||
      !model::check_dns1123_subdomain(name.name).empty()) {
    co_return std::optional<model::AppWrapper>();
  }
  Result<std::optional<model::AppWrapper>> found =
      co_await find_job_wrapper(client, {name.ns, name.name});
  if (!found && found.error().code == ErrorCode::permission_denied) {
    co_return std::optional<model::AppWrapper>();
  }
  co_return found;
}

}  // namespace

Task<Result<std::unique_ptr<JobHandle>>> open_job(Jobs& jobs, kube::Client& client, JobName name) {
  if (name.name.empty()) {
    co_return fail(invalid_argument("NAME is missing: the name of the job"));
  }
  CO_TRY_ASSIGN(const std::optional<model::AppWrapper> wrapper, co_await wrapper_of(client, name));
  if (wrapper) {
    co_return gang_handle(client, {name.ns, name.name});
  }
  JobTarget target{.cluster = {name.ns, name.cluster}, .address = name.address};
  if (name.cluster.empty() && name.address.empty()) {
    Result<model::ObjectKey> only = co_await jobs.only_cluster(name.ns);
    if (!only && only.error().code == ErrorCode::not_found) {
      co_return fail(not_found("job '" + name.name + "' not found in namespace '" + name.ns +
                               "', which has no Ray cluster either; "
                               "'codeflare list job --all' shows all jobs"));
    }
    CO_TRY_ASSIGN(target.cluster, std::move(only));
  }
  co_return std::make_unique<RayHandle>(jobs, std::move(target), std::move(name.name));
}

}  // namespace codeflare::sdk
