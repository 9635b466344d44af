#pragma once

#include "base/async/task.h"
#include "base/async/task_group.h"
#include "base/env/env.h"
#include "base/log.h"
#include "base/result.h"
#include "base/time.h"

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>

namespace codeflare::apiserver::internal {

// Keys that somebody has to look at. Each is handled by one task at a time and at most
// `workers_max` at once; added while it is being handled it is handled again; a failure comes back
// after a wait. The group outlives this and is closed first.
class Worklist {
 public:
  using Handler = std::function<Task<Result<void>>(std::string key)>;
  Worklist(Env env, TaskGroup& group, Logger log, std::size_t workers_max, Handler handler);
  Worklist(const Worklist&) = delete;
  Worklist& operator=(const Worklist&) = delete;

  void add(std::string key);
  void add_after(std::string key, Duration wait);
  // A failed key that waits for its retry counts; what was put off by add_after() does not.
  bool idle() const { return waiting_.empty() && running_.empty() && failures_.empty(); }

 private:
  void start_next();
  Task<void> handle(std::string key);
  Task<void> add_later(std::string key, Duration wait);

  Env env_;
  TaskGroup& group_;
  Logger log_;
  std::size_t workers_max_;
  Handler handler_;
  std::set<std::string> waiting_;
  std::set<std::string> running_;
  std::map<std::string, int> failures_;  // in a row
};

}  // namespace codeflare::apiserver::internal
