#pragma once

#include "base/async/task.h"
#include "base/async/wait_list.h"
#include "base/log.h"
#include "kube/client.h"
#include "model/app_wrapper.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace codeflare::controllers {

// Blocks the queue while the server drops `status.plan` of AppWrappers: another program's
// definition (MCAD's) is installed, and a plan that is not stored protects nobody. Applies our
// definition where that is allowed, otherwise waits for somebody to apply it. Likewise when the
// definition is deleted while we run.
//   if (wrote_a_plan && !answer.status.plan) { guard.plan_dropped(api); }
class DefinitionGuard {
 public:
  struct Options {
    // Applies our definitions, or fails. Empty: the controller leaves definitions alone.
    std::function<Task<Result<void>>()> mend;
    // The AppWrappers that the server does not serve any more; asked every few seconds.
    std::function<std::optional<model::WrapperApi>()> gone{};
    // Whether QuotaSubtrees are not served any more: worth mending, no reason to wait.
    std::function<bool()> quotas_gone{};
    // Called with the sentence that says why nothing starts; empty: work may start again.
    std::function<void(std::string why)> on_change;
    Logger logger{};
  };
  DefinitionGuard(kube::Client& client, Options options);

  // The server's answer to a status with a plan had none.
  void plan_dropped(model::WrapperApi api);
  bool blocks() const { return blocks_; }

  // Until stopped.
  Task<void> run();

 private:
  // The definition keeps plans now, does not, or cannot be read.
  enum class Look : std::uint8_t { good, bad, denied };
  Task<void> watch_for_deletion();
  Task<void> stand_guard();
  Task<void> attempt();
  Task<Look> mend();
  Task<Look> look();
  bool is_gone() const;
  void block(std::string why);
  void unblock();

  kube::Client& client_;
  Options options_;
  model::WrapperApi api_ = model::WrapperApi::workload_v1beta1;  // whose definition drops plans
  bool blocks_ = false;
  bool deleted_ = false;  // blocked because the definition is gone
  std::string told_;      // in the log
  WaitList changed_;
};

}  // namespace codeflare::controllers
