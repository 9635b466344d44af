#pragma once

#include "controllers/job/job_decision.h"
#include "controllers/job/job_pods.h"
#include "controllers/job/job_waker.h"
#include "runtime/manager.h"
#include "runtime/reconciler.h"

#include <cstdint>
#include <optional>
#include <string>

namespace codeflare::controllers::job {

// The pod that a Job makes of its template, as JSON; `index` is its completion index or -1.
std::string pod_of(const model::Job& job, std::int64_t index);

// Runs batch/v1 Jobs: pods, counts, retries, deadlines, suspension, conditions and expiry as
// kube-controller-manager 1.34 does. Not done: successPolicy and backoffLimitPerIndex; a Job that
// asks for one of them fails at once and says so.
class JobReconciler final : public runtime::StoryReconciler<Observed, Desired> {
 public:
  explicit JobReconciler(const runtime::ControllerContext& context);

  std::optional<Observed> observe(const runtime::ObjectKey& key) const override;
  Desired desired(const Observed& observed, WallTime now) const override;
  runtime::Plan diff(const Observed& observed, const Desired& desired) const override;

 private:
  const runtime::Store& jobs_;
  JobWaker waker_;
  JobPods pods_;
};

JobReconciler& add_job_controller(runtime::Manager& manager);

}  // namespace codeflare::controllers::job
