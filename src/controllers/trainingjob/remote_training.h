#pragma once

#include "controllers/appwrapper/queue_driver.h"
#include "controllers/appwrapper/remote_copies.h"
#include "controllers/trainingjob/remote_status.h"
#include "controllers/trainingjob/training_decision.h"
#include "runtime/finalizer.h"
#include "runtime/reconciler.h"

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace codeflare::controllers::trainingjob {

struct RemoteOptions {
  std::shared_ptr<RemoteCopies> copies{};  // null: no clusters are managed here
  // A copy that the queue of its cluster does not start for so long is deleted.
  Duration patience = std::chrono::seconds(30);
  // Numbers and messages are written at most this often.
  Duration counts_every = std::chrono::seconds(5);
};

// TrainingJobs whose places are on a worker cluster. One step for each call: the finalizer, the
// plan, the copy, then what the copy says; and back, where the plan goes when the worker's server
// has no copy any more.
class RemoteTraining {
 public:
  RemoteTraining(Env env, runtime::Actor& actor, QueueDriver& driver, RemoteOptions options);

  // The job is dispatched, is about to be, or leaves a copy behind that is to go with it.
  bool concerns(const kube::Object& object, const Observed& observed) const;
  Task<Result<runtime::Next>> reconcile(kube::ObjectRef object, const Observed& observed);
  void forget(const model::ObjectKey& key);

 private:
  // In this process alone; another one begins anew.
  struct Memory {
    std::string uid;
    std::optional<Instant> written{};      // what the copy says
    std::optional<Instant> waits_since{};  // the queue of its cluster has not started it
    std::string reason{};                  // why it is withdrawn
    std::string message{};
  };
  Memory& memory(const model::TrainingJob& job);

  Task<Result<runtime::Next>> send(kube::ObjectRef object, const Observed& observed);
  Task<Result<runtime::Next>> follow(const Observed& observed);
  // Why the copy is to go; nothing: it is not.
  struct Withdrawal {
    queue::Reason reason{};
    std::string message;
  };
  std::optional<Withdrawal> why_withdrawn(const model::TrainingJob& job, const CopySeen& copy);
  Task<Result<runtime::Next>> withdraw(const model::TrainingJob& job, Withdrawal why);
  Task<Result<runtime::Next>> finish(const model::TrainingJob& job,
                                     const model::TrainingJobStatus& copy);
  // The object goes, and its copies before it.
  Task<Result<runtime::Next>> release(kube::ObjectRef object, const Observed& observed);
  Task<Result<void>> write(const model::TrainingJob& job, model::TrainingJobStatus status,
                           std::vector<runtime::EventNote> events = {});
  RemoteMoment moment(const model::TrainingJob& job) const;

  Env env_;
  runtime::Actor& actor_;
  QueueDriver& driver_;
  RemoteOptions options_;
  runtime::Finalizer finalizer_;
  std::map<model::ObjectKey, Memory> memory_;
};

}  // namespace codeflare::controllers::trainingjob
