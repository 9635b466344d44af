#pragma once

#include "base/async/task.h"
#include "base/async/wait_list.h"
#include "base/log.h"
#include "base/result.h"
#include "controllers/raycluster/kuberay_signs.h"
#include "kube/client.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace codeflare::controllers::raycluster {

// Whether the KubeRay operator works on this cluster: two controllers must not run the same
// RayClusters. Follows Deployments and the operator's Lease by watch, so it knows of an operator
// from the operator's first second. An operator counts as gone after a minute without a sign, once
// a look has confirmed it: a watch may be cut without a word.
//   KubeRayWatch kuberay(client, logger); CO_TRY(co_await kuberay.look()); group.spawn(run());
class KubeRayWatch {
 public:
  KubeRayWatch(kube::Client& client, Logger logger);

  // Where the operator was seen; nothing: RayClusters are ours.
  std::optional<std::string> where() const;
  // When the operator came last.
  std::optional<Instant> came_at() const { return came_at_; }
  // Called when the operator has come or is gone.
  void on_change(std::function<void()> handler) { handlers_.push_back(std::move(handler)); }

  // Reads Lease and Deployment from the server, whatever the watches have told.
  Task<Result<void>> look();
  // Whether RayClusters are ours by a look that begins after this call. Calls at the same time
  // share looks.
  Task<Result<bool>> still_ours();

  // Until stopped.
  Task<void> run();

 private:
  Task<void> follow_leases();
  Task<void> follow_deployments();
  Task<void> await_end();
  void evaluate();
  void tell_gone();
  void call_handlers() const;
  KubeRaySigns::Moment moment() const;

  kube::Client& client_;
  Logger logger_;
  KubeRaySigns signs_;
  bool looked_ = false;
  std::optional<std::string> present_;  // where the operator was seen, until it is surely gone
  std::optional<Instant> came_at_;
  std::vector<std::function<void()>> handlers_;
  WaitList ends_;  // an operator will be gone unless there is another sign
  // Looks that have begun, and the last one that was answered.
  std::uint64_t begun_ = 0;
  std::uint64_t answered_ = 0;
  bool looking_ = false;
  WaitList look_ended_;
};

}  // namespace codeflare::controllers::raycluster
