#pragma once

#include "base/async/task.h"
#include "base/async/wait_list.h"
#include "base/env/env.h"
#include "base/log.h"
#include "model/quota_subtree.h"
#include "runtime/manager.h"
#include "runtime/reconciler.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>

namespace codeflare::controllers {

// Where the amounts come from. `changed` is called after each round of decisions.
struct QuotaSource {
  // Nothing while the queue does not know everything yet.
  std::function<std::optional<model::QuotaSubtreeStatus>(const model::QuotaSubtree&)> status;
};

// Fills the status of QuotaSubtrees: what is allocated to each node, and why a node cannot be
// charged. At most one write a second per object.
class QuotaController final : public runtime::Reconciler {
 public:
  QuotaController(const runtime::ControllerContext& context, QuotaSource source);

  Task<Result<runtime::Next>> reconcile(runtime::ObjectKey key) override;
  const runtime::Waker& waker() const { return waker_; }

 private:
  Env env_;
  kube::Client& client_;
  runtime::Informer& subject_;
  runtime::Waker waker_;
  QuotaSource source_;
  std::map<model::ObjectKey, Instant> written_;
};

// Wakes all QuotaSubtrees after decisions, at most once a second.
class QuotaPulse {
 public:
  QuotaPulse(runtime::Informer& subtrees, runtime::Waker waker);
  void changed();
  Task<void> run();

 private:
  runtime::Informer& subtrees_;
  runtime::Waker waker_;
  bool due_ = false;
  WaitList changed_;
};

}  // namespace codeflare::controllers
