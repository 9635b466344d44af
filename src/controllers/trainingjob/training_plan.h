#pragma once

#include "base/time.h"
#include "controllers/trainingjob/training_pods.h"
#include "model/app_wrapper.h"
#include "model/training_job.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// The two documents that the controller writes into the status (docs/decisions/0014). Pure.
namespace codeflare::controllers::trainingjob {

// The plan that has the queue's places, with numbers: workers keep theirs, new ones get the
// smallest that are free. Where a node has more workers than places the victims are those that
// are Pending, then not ready, then the youngest; never worker 0 while `keep_first`.
model::TrainingPlan next_plan(const std::optional<model::TrainingPlan>& before,
                              const std::vector<model::PlannedPlace>& places,
                              const std::vector<WorkerPod>& pods, bool keep_first);

// A worker as far as the membership is concerned.
struct MemberFacts {
  std::int64_t index = 0;
  std::string pod{};   // UID
  bool ready = false;  // without an agent: the pod is; with one: the agent has registered
};

enum class Course : std::uint8_t { train, pause, finish };

// The membership: who trains. It follows the workers that are ready; a change has a new generation.
// The one function that decides it.
std::optional<model::TrainingMembership> next_membership(
    const std::optional<model::TrainingMembership>& before, const std::vector<MemberFacts>& workers,
    Course course);

}  // namespace codeflare::controllers::trainingjob
