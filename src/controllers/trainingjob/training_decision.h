#pragma once

#include "base/time.h"
#include "controllers/trainingjob/agent_word.h"
#include "controllers/trainingjob/training_pods.h"
#include "model/training_job.h"
#include "queue/queue.h"
#include "runtime/reconciler.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace codeflare::controllers::trainingjob {

// A TrainingJob with its workers, and the queue's word about it.
struct Observed {
  model::TrainingJob job;
  std::vector<WorkerPod> pods{};
  bool has_service = false;
  queue::Standing standing{};  // of the AppWrapper that wraps it: `plan` has its own places alone
  bool wrapped = false;        // the AppWrapper stops it and starts it again
  std::string sentence{};      // why it waits
  std::vector<std::string> problems{};  // of its spec
  std::optional<AgentWord> agents{};    // absent: its pods have no agents that we follow
  std::string rendezvous_problem{};     // the agents' word is not known now: nothing is resized
  bool keeps_first = false;             // worker 0 leaves last: the others meet there
  bool fenced = false;  // what an older generation saves is rejected by the checkpoint service
};

struct Desired {
  std::optional<model::TrainingJobStatus> status;  // absent: leave it; written before pods change
  std::vector<std::int64_t> create{};              // workers with these numbers
  std::vector<WorkerPod> remove{};
  std::vector<WorkerPod> abandon{};  // on nodes that do not answer: removed without their kubelet
  bool create_service = false;
  std::vector<std::int64_t> create_leases{};  // of these workers, with the rights for them
  bool create_round = false;                  // the Lease of the round
  bool expired = false;  // ttlSecondsAfterFinished is over: the TrainingJob goes
  // For the queue, after the status is written.
  bool stop = false;       // what it holds is about to be free
  bool withdrawn = false;  // it holds nothing: back in line, not before status.cooldownTime
  bool over = false;       // it holds nothing and wants nothing any more
  std::vector<runtime::EventNote> events{};
  std::optional<Duration> look_again{};
};

// Where a TrainingJob should go from here. Pure.
//  - The plan follows the queue's places; workers are made only of a plan that is written.
//  - A worker that fails is counted once: restartCounts.user if its program failed, else infra.
//  - It succeeds when every worker of the plan has succeeded; Completed is never left again.
//  - With agents their Leases say who may train (agent_membership): it succeeds when every member
//    is done, a failure is counted with the membership that answers it, and a pod that has to go
//    is removed when it has left the membership.
//  - A worker whose node is not ready for 30 seconds is lost: it is removed, and another one is
//  made
//    elsewhere. With agents the pod is kept until nothing can train there beside the new group.
//  - Workers that the job has grown by and that cannot start (image, crash loop): back to the size
//    that trains for five minutes, with the condition GrowthFailed.
//  - Inside an AppWrapper it follows that one, whose controller stops and requeues it.
//  - Fewer than minSize ready workers for five minutes: stopped, and tried again after a pause that
//    grows from 30 seconds to 30 minutes.
Desired decide(const Observed& observed, WallTime now);

}  // namespace codeflare::controllers::trainingjob
