#pragma once

#include "base/result.h"
#include "base/time.h"
#include "model/app_wrapper.h"
#include "model/gvk.h"
#include "queue/demand.h"
#include "sched/spec.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace codeflare::queue {

enum class WorkKind : std::uint8_t { app_wrapper, training_job };

// An object in the queue by UID: names may be taken again, and two kinds may hold the same name.
struct WorkId {
  std::string uid;
  model::ObjectKey key;
  model::WrapperApi api = model::WrapperApi::workload_v1beta1;  // of an AppWrapper
  WorkKind kind = WorkKind::app_wrapper;
  std::string wrapper{};  // of a TrainingJob inside an AppWrapper: the UID of that one
  friend bool operator==(const WorkId&, const WorkId&) = default;
};

// An object that waits or runs, whatever its kind: all that the queue has to know of it
// (docs/decisions/0013).
struct Work {
  WorkId id;
  std::int32_t priority = 0;
  double slope = 0;
  WallTime submitted{};
  // Labels that may name a node of a quota tree.
  std::vector<sched::Designation> quota{};
  bool suspended = false;
  bool user_known = true;
  bool deleting = false;
  bool finished = false;
  Duration expected{};
  Duration limit{};
  Duration consumed{};
  // Whose share the growth of a TrainingJob counts to.
  std::string queue{};
  // Of a TrainingJob; they may change while it runs.
  std::optional<sched::Sizes> sizes{};

  // Its holdings, as its status has them.
  std::optional<std::vector<model::PlannedPlace>> plan{};
  std::optional<WallTime> since{};
  bool goes_on = true;  // false: it holds its plan, but is being stopped
  bool from_mcad = false;
  std::optional<WallTime> not_before{};

  // Read when it joins the queue, not with each of its changes.
  std::function<Result<Demand>()> demand{};
};

// `now` stands for a missing creation time. Refers to the AppWrapper.
Work work_of(const model::AppWrapper& wrapper, model::WrapperApi api, bool user_check,
             WallTime now);

// Labels that may name a quota tree: names of trees have no slash.
std::vector<sched::Designation> designations(const model::StringMap& labels);

}  // namespace codeflare::queue
