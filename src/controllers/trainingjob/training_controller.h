#pragma once

#include "base/log.h"
#include "controllers/appwrapper/queue_driver.h"
#include "controllers/trainingjob/checkpoint_service.h"
#include "controllers/trainingjob/etcd_words.h"
#include "controllers/trainingjob/remote_training.h"
#include "controllers/trainingjob/training_decision.h"
#include "controllers/trainingjob/training_metrics.h"
#include "controllers/trainingjob/training_pods.h"
#include "controllers/trainingjob/unready_nodes.h"
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
                        WorkerOptions options, RemoteOptions remote);

  Task<Result<runtime::Next>> reconcile(runtime::ObjectKey key) override;

  runtime::Waker waker() const { return waker_; }
  // Reads etcd until stopped, if there is one.
  Task<void> follow_etcd();
  // Of workers that are made from now on.
  void set_training(queue::TrainingOptions training) { options_.training = std::move(training); }

 private:
  std::optional<Observed> observe(const runtime::ObjectKey& key);
  // The status first, where agents learn of it before pods change; then the rest.
  Task<Result<void>> act(const Observed& observed, const Desired& desired, runtime::Plan plan);
  bool uses_etcd(const model::TrainingJob& job) const;
  // Secrets that new workers need, as JSON; none when no worker is to be made.
  struct WorkerSecrets {
    std::optional<std::string> token;  // of the checkpoints, when there is a key
    std::optional<std::string> pull;   // of the agent's image, when its registry needs a login
  };
  Task<Result<WorkerSecrets>> secrets_for(const Observed& observed, const Desired& desired);
  runtime::Plan plan(const Observed& observed, const Desired& desired,
                     const WorkerSecrets& secrets) const;
  void add_agent_objects(const Observed& observed, const Desired& desired,
                         runtime::Plan& plan) const;
  void count_nodes(runtime::Informer& nodes);
  void tell_queue(const Observed& observed, const Desired& desired);

  Env env_;
  runtime::Actor& actor_;
  runtime::Waker waker_;
  QueueDriver& driver_;
  WorkerOptions options_;
  const runtime::Store& jobs_;
  const runtime::Store& services_;
  std::optional<TrainingMetrics> metrics_;
  TrainingPods pods_;
  UnreadyNodes nodes_;
  AgentWords agents_;
  std::optional<EtcdWords> etcd_;
  CheckpointKeys checkpoint_keys_;
  RemoteTraining remote_;
};

// After add_queue_controllers with `training_jobs`, whose driver it takes.
TrainingJobReconciler& add_training_controller(runtime::Manager& manager, QueueDriver& driver,
                                               WorkerOptions options, RemoteOptions remote = {});

// The selector of the file, or an error that names it; empty without a file.
Result<model::StringMap> read_selector(Env env, const std::string& path);
// Reads the file again every few seconds; nodes and new workers follow it.
void follow_selector(runtime::Manager& manager, QueueDriver& driver,
                     TrainingJobReconciler& reconciler, TrainingSettings settings, Logger logger);

}  // namespace codeflare::controllers::trainingjob
