#pragma once

#include "base/async/task_group.h"
#include "kube/watcher.h"

#include <string>
#include <utility>
#include <vector>

namespace codeflare::kube::testing {

// Follows a watcher and writes down what it says: "begin", "init a@101", "done@101", "apply a@102",
// "delete a@103", "progress@103". For tests only.
class WatchRecorder {
 public:
  WatchRecorder(Env env, Client& client, ResourceType type, WatcherOptions options)
      : loop_(env.loop), watcher_(client, std::move(type), std::move(options)), group_(env.loop) {
    group_.spawn(follow());
  }
  ~WatchRecorder() { run(loop_, group_.close()); }

  // The events since the last call.
  std::vector<std::string> take() { return std::exchange(seen_, {}); }
  Watcher& watcher() { return watcher_; }

 private:
  Task<void> follow() {
    while (true) {
      Result<WatcherEvent> event = co_await watcher_.next();
      if (!event) {
        co_return;
      }
      seen_.push_back(describe(*event));
    }
  }

  static std::string describe(const WatcherEvent& event) {
    const std::string name = event.object ? std::string(event.object->name()) : std::string();
    const std::string at = "@" + (event.object ? std::string(event.object->resource_version())
                                               : event.resource_version);
    switch (event.type) {
      case WatcherEvent::Type::init_begin:
        return "begin";
      case WatcherEvent::Type::init_object:
        return "init " + name + at;
      case WatcherEvent::Type::init_done:
        return "done" + at;
      case WatcherEvent::Type::applied:
        return "apply " + name + at;
      case WatcherEvent::Type::deleted:
        return "delete " + name + at;
      case WatcherEvent::Type::progress:
        return "progress" + at;
    }
    return "?";
  }

  Loop& loop_;
  Watcher watcher_;
  TaskGroup group_;
  std::vector<std::string> seen_;
};

}  // namespace codeflare::kube::testing
