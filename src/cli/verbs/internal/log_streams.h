#pragma once

#include "base/async/task.h"
#include "base/async/task_group.h"
#include "cli/gather/view_api.h"
#include "cli/session/session.h"
#include "model/pod.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace codeflare::cli::internal {

struct LogChoice {
  std::string container{};  // empty: all of them
  bool follow = false;
  bool timestamps = false;
  std::optional<std::int64_t> tail{};  // lines of each container
};

// Prints the logs of pods, each line behind "[POD] ". Call close() before it goes.
//   streams.begin(pods);       // again whenever pods have changed
//   co_await streams.join();
class LogStreams {
 public:
  LogStreams(Session& session, LogChoice choice)
      : session_(session), choice_(std::move(choice)), streams_(session.env().loop) {}

  // Logs are read from there instead of the session's cluster; null: from the latter again.
  void read_from(std::shared_ptr<WorkPodClient> elsewhere) { elsewhere_ = std::move(elsewhere); }

  // One container after the other, to the end. False: none has started.
  Task<bool> read(std::vector<model::Pod> pods);
  // Prints containers that have started since the last call beside each other. Those of later calls
  // are printed from their beginning. True: there are some.
  bool begin(const std::vector<model::Pod>& pods);

  std::size_t size() const { return streams_.size(); }
  Task<void> join();
  Task<void> close();
  // kDone unless a log could not be read.
  int code() const { return code_; }

 private:
  // One run of one container.
  struct Source {
    model::ObjectKey pod;
    std::string uid;
    std::string container;
    std::int32_t run = 0;
    bool alone = true;  // in its pod

    auto id() const { return std::tuple(uid, container, run); }
    std::string prefix() const { return "[" + pod.name + (alone ? "" : "/" + container) + "] "; }
  };

  std::vector<Source> sources_of(const std::vector<model::Pod>& pods) const;
  Task<void> stream(Source source, std::optional<std::int64_t> tail);
  void show(const std::string& lines);

  Session& session_;
  LogChoice choice_;
  std::set<std::tuple<std::string, std::string, std::int32_t>> begun_;
  std::shared_ptr<WorkPodClient> elsewhere_;
  TaskGroup streams_;
  int code_ = kDone;
};

}  // namespace codeflare::cli::internal
