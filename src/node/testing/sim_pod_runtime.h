#pragma once

#include "base/async/task_group.h"
#include "base/env/env.h"
#include "node/agent/log_reader.h"
#include "node/agent/pod_runtime.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace codeflare::node::testing {

// Pods whose processes are scripted, in virtual time. The first words of a command say what its
// container does: {"run"} until it is stopped, {"polite"} the same, with code 0, {"stubborn"} until
// it is killed, {"sleep", "5"} seconds, {"exit", "3"} at once, {"missing"} cannot be started;
// {"sleep", "5", "3"} ends with 3.
class SimPodRuntime final : public PodRuntime {
 public:
  explicit SimPodRuntime(Env env) : env_(env), group_(env.loop) {}
  ~SimPodRuntime() override;

  Task<Result<std::vector<Found>>> adopt() override;
  const SandboxView* find(const std::string& uid) const override;
  Task<Result<void>> make(NewSandbox sandbox) override;
  Task<Result<void>> start(std::string uid, ContainerSpec spec) override;
  Task<Result<void>> ask_to_end(std::string uid, std::string container) override;
  Task<Result<void>> kill(std::string uid, std::string container) override;
  Task<Result<void>> cut_off(std::string uid, std::string container, Ask ask) override;
  Task<Result<void>> write_volumes(std::string uid, std::vector<VolumePlan> volumes) override;
  Task<Result<PodUsage>> usage(std::string uid) override;
  Task<Result<void>> close(std::string uid) override;
  Task<Result<void>> remove(std::string uid) override;
  std::string log_directory(const std::string& uid, const std::string& container) const override;

  // As kill -9 of the keeper, or a reboot.
  void lose_keeper(const std::string& uid);
  void lose_all();
  // Keepers that do not obey, as if they could not be reached.
  bool deaf = false;
  // Pods cannot be closed: this is said instead.
  std::string why_not_closed{};
  // Called when pods of an earlier run have been found.
  std::function<void()> on_adopt{};
  // How long it takes to close or remove a pod in which nothing runs.
  Duration tidying{};
  // The disk usage of pods, by name, and how long it takes to find out.
  std::map<std::string, PodUsage> usages{};
  std::map<std::string, Duration> looking{};

  struct Pod {
    NewSandbox sandbox;
    SandboxView view;
    std::vector<ContainerSpec> started;  // all that ever were
  };
  const std::map<std::string, Pod>& pods() const { return pods_; }
  std::size_t running() const;
  std::vector<ContainerSpec> started_in(const std::string& pod_name) const;

 private:
  Task<void> play(std::string uid, ContainerSpec spec);
  Task<void> end_soon(std::string uid, std::string container, std::int32_t attempt, bool polite);
  void finish(const std::string& uid, const std::string& container, std::int32_t attempt,
              std::int32_t code, std::int32_t signal);
  std::int64_t now() const { return env_.clock.wall().time_since_epoch().count(); }

  Env env_;
  std::map<std::string, Pod> pods_;
  TaskGroup group_;
};

// Log files out of the simulated world.
class SimLogFiles final : public LogFiles {
 public:
  explicit SimLogFiles(FileSystem& files) : files_(files) {}
  Result<std::string> read(const std::string& path, std::uint64_t offset,
                           std::size_t bytes_max) override;

 private:
  FileSystem& files_;
};

}  // namespace codeflare::node::testing
