#pragma once

#include "base/async/task_group.h"
#include "base/env/env.h"
#include "base/log.h"
#include "node/agent/keeper_link.h"
#include "node/agent/limit_groups.h"
#include "node/agent/pod_runtime.h"
#include "node/agent/volume_writer.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace codeflare::node {

struct KeeperRuntimeOptions {
  std::string directory;  // "pods" is below it
  // What starts a keeper, before the word "pod-keeper": usually this very program.
  std::string program;
  bool isolated = true;
  LimitGroups* groups = nullptr;  // outlives it; null: keepers look after limits
  Logger logger{};
};

// Pods as real processes, each under a keeper. Whether a pod has one is said by the lock that a
// keeper holds, not by its answers: one that cannot be reached is tried again, and its pod is shown
// as it was.
class KeeperRuntime final : public PodRuntime {
 public:
  using Connect =
      std::function<Result<std::unique_ptr<net::LocalStream>>(const std::string& socket)>;
  KeeperRuntime(Env env, KeeperRuntimeOptions options, VolumeWriter& volumes, Connect connect);
  ~KeeperRuntime() override;

  Task<Result<std::vector<Found>>> adopt() override;
  std::vector<std::string> left_alone() const override { return left_alone_; }
  const SandboxView* find(const std::string& uid) const override;
  Task<Result<void>> make(NewSandbox sandbox) override;
  Task<Result<void>> start(std::string uid, ContainerSpec spec) override;
  Task<Result<void>> ask_to_end(std::string uid, std::string container) override;
  Task<Result<void>> kill(std::string uid, std::string container) override;
  Task<Result<void>> cut_off(std::string uid, std::string container, Ask ask) override;
  Task<Result<void>> write_volumes(std::string uid, std::vector<VolumePlan> volumes) override;
  Task<Result<PodUsage>> usage(std::string uid) override;
  Task<Result<PodUses>> measure(std::vector<std::string> uids) override;
  Task<Result<void>> close(std::string uid) override;
  Task<Result<void>> remove(std::string uid) override;
  std::string log_directory(const std::string& uid, const std::string& container) const override;

  // Where the keeper of a pod listens.
  std::string socket_of(const std::string& uid) const;

  // Lets go of the keepers, which live on. Has to be awaited before destruction.
  Task<void> stop();

 private:
  struct Pod {
    SandboxView view;
    std::shared_ptr<KeeperLink> link{};  // null: nobody answers
    std::uint64_t link_number = 0;       // what others say is old
    bool recovering = false;
  };
  std::string directory_of(const std::string& uid) const;
  Result<void> prepare(NewSandbox& sandbox);
  Result<void> prepare_volume(NewSandbox& sandbox, const VolumePlan& volume);
  Task<void> remove_groups(std::string uid);
  std::string trash() const;
  // Unless that is being done.
  void begin_to_empty_trash();
  // Entries that remain could not be removed: the next time it is tried again.
  Task<void> empty_trash();
  Task<Result<void>> connect(std::string uid);
  // Whether somebody keeps the pod, though he may not answer. An error says nothing about that: no
  // pod is given up for it.
  Task<Result<bool>> has_keeper(std::string uid);
  // The pod's keeper is known from now on, or about to be; false when it has none.
  Task<bool> find_keeper(std::string uid);
  // Until somebody answers, or nobody is there.
  Task<void> recover(std::string uid);
  bool without_link(const std::string& uid) const;
  Task<Result<void>> end_by_force(std::string uid);
  Task<void> adopt_pod(std::string uid);
  // Of a pod that cannot be adopted; false when they stay, because something may still run in it.
  Task<bool> remove_remains(std::string uid, Error why, bool unreadable);
  Task<void> sweep_groups(std::set<std::string> but);
  Task<void> follow(std::string uid, std::shared_ptr<KeeperLink> link);
  Task<Result<void>> call(std::string uid, KeeperRequest request);
  void lost(const std::string& uid);
  void took(const std::string& uid, std::uint64_t link_number, const KeeperAnswer& answer);

  Env env_;
  KeeperRuntimeOptions options_;
  VolumeWriter& volumes_;
  Connect connect_;
  std::map<std::string, Pod> pods_;
  std::uint64_t links_ = 0;   // that ever were
  std::uint64_t thrown_ = 0;  // directories, into the trash
  bool emptying_ = false;     // or about to
  std::vector<std::string> left_alone_;
  // Where the kernel keeps the limits of a pod; also of one whose keeper did not start.
  std::map<std::string, std::vector<std::string>> groups_of_;
  WaitList changed_;
  TaskGroup group_;
};

// Whether this system allows what isolated pods need; `unsupported` and why when it does not. Other
// errors say nothing about that: it could not be found out.
Task<Result<void>> probe_isolation(Env env, std::string program, std::string directory);

}  // namespace codeflare::node
