#pragma once

#include "base/async/task.h"
#include "base/async/task_group.h"
#include "base/async/wait_list.h"
#include "base/env/env.h"
#include "base/result.h"
#include "bench/queue_program/record.h"
#include "bench/queue_program/scenario.h"
#include "kube/client.h"
#include "kube/watcher.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string>

namespace codeflare::bench {

// Submits the scenario as AppWrappers at its pace and plays the nodes: a Run that appears runs for
// its time and is then complete; one that is deleted was evicted and begins anew when it comes
// back. Kueue's own runner does so with Workloads, down to one stream of creates per work set.
class Runner {
 public:
  Runner(Env env, kube::Client& client, Scenario scenario);

  // Until all are finished. The kinds must be served and a controller running.
  Task<Result<void>> run();
  const Record& record() const { return record_; }

 private:
  Task<Result<void>> prepare();
  Task<void> generate(QueueRef queue, std::size_t set);
  Task<void> follow(kube::ResourceType type, void (Runner::*seen)(const kube::WatcherEvent&));
  void run_seen(const kube::WatcherEvent& event);
  void wrapper_seen(const kube::WatcherEvent& event);
  Task<void> complete(kube::ObjectKey key, std::string uid);
  Task<void> tell_progress();
  void fail_with(Error error);

  kube::Client& client_;
  Scenario scenario_;
  Record record_;
  TaskGroup group_;
  WaitList changed_;
  std::map<kube::ObjectKey, std::string> running_;  // uids of Runs
  std::optional<Error> failure_;
};

}  // namespace codeflare::bench
