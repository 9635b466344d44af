#pragma once

#include "base/metrics.h"
#include "controllers/run/progress_followers.h"
#include "controllers/run/run_actor.h"
#include "controllers/run/run_decision.h"
#include "controllers/run/run_pods.h"
#include "runtime/manager.h"
#include "runtime/reconciler.h"

#include <memory>
#include <optional>

namespace codeflare::controllers::runs {

// Compiles Runs (codeflare.dev/v1alpha1) into AppWrappers and reports how they fare.
class RunReconciler final : private RunActorHolder,
                            public runtime::StoryReconciler<Observed, Desired> {
 public:
  RunReconciler(const runtime::ControllerContext& context,
                std::shared_ptr<ProgressFollowers> followers, platform::CompileOptions options);

  std::optional<Observed> observe(const runtime::ObjectKey& key) const override;
  Desired desired(const Observed& observed, WallTime now) const override;
  runtime::Plan diff(const Observed& observed, const Desired& desired) const override;

 private:
  // Collects the input of the Run.
  void gather(platform::CompileInput& input) const;

  const runtime::Store& runs_;
  const runtime::Store& wrappers_;
  const runtime::Store& applications_;
  const runtime::Store& data_sets_;
  const runtime::Store& sizes_;
  const runtime::Store& policies_;
  const runtime::Store& namespaces_;
  RunPods pods_;
  std::shared_ptr<ProgressFollowers> followers_;
  platform::CompileOptions options_;
};

// `metrics` may be null.
RunReconciler& add_run_controller(runtime::Manager& manager, MetricsRegistry* metrics);

}  // namespace codeflare::controllers::runs
