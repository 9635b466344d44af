#pragma once

#include "base/log.h"
#include "controllers/appwrapper/queue_driver.h"
#include "controllers/trainingjob/training_decision.h"
#include "controllers/trainingjob/training_pods.h"
#include "controllers/trainingjob/worker_pod.h"
#include "runtime/manager.h"
#include "runtime/reconciler.h"

#include <optional>

namespace codeflare::controllers::trainingjob {

// Runs TrainingJobs (breezeml.ai/v1): observes the job, its workers and the queue's word, decides
// purely, writes the status before anything else, and tells the queue what it did.
class TrainingJobReconciler final : public runtime::Reconciler {
 public:
  TrainingJobReconciler(const runtime::ControllerContext& context, QueueDriver& driver,
                        WorkerOptions options);

  Task<Result<runtime::Next>> reconcile(runtime::ObjectKey key) override;

  runtime::Waker waker() const { return waker_; }
  // Of workers that are made from now on.
  void set_training(queue::TrainingOptions training) { options_.training = std::move(training); }

 private:
  std::optional<Observed> observe(const runtime::ObjectKey& key);
  runtime::Plan plan(const Observed& observed, const Desired& desired) const;
  void add_agent_objects(const Observed& observed, const Desired& desired,
                         runtime::Plan& plan) const;
  void tell_queue(const Observed& observed, const Desired& desired);

  Env env_;
  runtime::Actor& actor_;
  runtime::Waker waker_;
  QueueDriver& driver_;
  WorkerOptions options_;
  const runtime::Store& jobs_;
  const runtime::Store& services_;
  TrainingPods pods_;
  AgentWords agents_;
};

// After add_queue_controllers with `training_jobs`, whose driver it takes.
TrainingJobReconciler& add_training_controller(runtime::Manager& manager, QueueDriver& driver,
                                               WorkerOptions options);

// The selector of the file, or an error that names it; empty without a file.
Result<model::StringMap> read_selector(Env env, const std::string& path);
// Reads the file again every few seconds; nodes and new workers follow it.
void follow_selector(runtime::Manager& manager, QueueDriver& driver,
                     TrainingJobReconciler& reconciler, TrainingSettings settings, Logger logger);

}  // namespace codeflare::controllers::trainingjob
