#pragma once

#include "base/async/task.h"
#include "base/async/task_group.h"
#include "base/async/wait_list.h"
#include "base/result.h"
#include "kube/client.h"
#include "model/app_wrapper.h"
#include "model/pod.h"
#include "sdk/internal/followed.h"
#include "sdk/job_handle.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace codeflare::sdk::internal {

enum class GangGoal : std::uint8_t { running, finished, gone };

// Follows one job by watches until it has reached a state; with a sink also its logs. One use.
class GangFollow {
 public:
  struct Options {
    GangGoal goal = GangGoal::finished;
    std::function<void(const JobInfo&)> observer{};
    ray::LogSink sink{};  // empty: no logs
    LogChoice choice{};
  };
  // `group` is of the task that calls run(), and closed by it.
  GangFollow(kube::Client& client, model::ObjectKey key, TaskGroup& group, Options options);
  ~GangFollow();

  // Returns the state at the end. A job that is deleted meanwhile is Stopped.
  Task<Result<JobInfo>> run(model::AppWrapper wrapper);
  // The last part of a log could not be read.
  const std::optional<Error>& log_error() const { return log_error_; }

 private:
  struct Replica {
    model::ObjectKey pod;
    std::string uid;
    std::string prefix;
  };

  Result<bool> look();
  JobInfo info() const;
  bool reached(const JobInfo& job) const;
  Task<Result<void>> list_pods_once();
  void begin_streams();
  Task<void> stream(Replica replica, std::optional<std::int64_t> tail);
  Task<Result<void>> read_log(const Replica& replica, kube::LogOptions options,
                              class LineFeed& lines);
  bool is_over(const std::string& uid) const;

  kube::Client& client_;
  model::ObjectKey key_;
  TaskGroup& group_;
  Options options_;
  WaitList changed_;
  std::unique_ptr<Followed<model::AppWrapper>> wrappers_;
  std::unique_ptr<Followed<model::Pod>> pods_;
  model::AppWrapper wrapper_;
  bool gone_ = false;
  bool later_ = false;  // streams that begin now are shown from their beginning
  std::map<std::string, model::Pod> known_;  // by UID; also those that are gone
  std::set<std::string> present_;            // of those, the ones that are there
  std::set<std::string> begun_;
  std::unique_ptr<TaskGroup> streams_;
  std::optional<Error> log_error_;
};

}  // namespace codeflare::sdk::internal
