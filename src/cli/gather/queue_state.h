#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "cli/session/session.h"
#include "cli/views/wrapper_view.h"
#include "model/training_job.h"
#include "queue/settings.h"

#include <set>
#include <string>
#include <vector>

namespace codeflare::cli {

// The content of the controller's ConfigMap.
struct QueueNote {
  bool paused = false;
  queue::Settings settings;
  std::string unseen;  // why it could not be read; empty also when there is none
};

// All work that the caller may list.
struct QueueState {
  std::vector<GroupedWrapper> wrappers;
  std::vector<model::TrainingJob> jobs{};  // in no AppWrapper
  std::string jobs_unseen{};               // why they could not be listed
  bool legacy = false;  // those of MCAD's group are among them: there is one line
  QueueNote note;
  std::set<std::string> trees{};  // names of the quota trees that the caller may list
  // Only this namespace could be listed; empty: all of them.
  std::string ns;
};

// TrainingJobs of this namespace, or of all, that stand in line for themselves; as before where
// they cannot be listed.
Task<void> look_at_jobs(Session& session, QueueState& state);

// Names of the quota trees; none when the caller may not list them.
Task<std::set<std::string>> quota_trees(Session& session);

Task<Result<QueueState>> look_at_queue(Session& session, std::string controller_ns);

// Says so when only a part of the line can be seen.
void tell_scope(Session& session, const QueueState& state);

// Not paused and as by default when nobody ever said otherwise, or the caller may not know.
Task<QueueNote> read_note(Session& session, std::string controller_ns);

}  // namespace codeflare::cli
