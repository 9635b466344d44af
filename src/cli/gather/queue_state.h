#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "cli/session/session.h"
#include "cli/views/wrapper_view.h"
#include "queue/settings.h"

#include <set>
#include <string>
#include <vector>

namespace codeflare::cli {

// What the ConfigMap of the controller says.
struct QueueNote {
  bool paused = false;
  queue::Settings settings;
  std::string unseen;  // why it could not be read; empty also when there is none
};

// All AppWrappers that the caller may list.
struct QueueState {
  std::vector<GroupedWrapper> wrappers;
  bool legacy = false;  // those of MCAD's group are among them: there is one line
  QueueNote note;
  std::set<std::string> trees{};  // names of the quota trees that the caller may list
  // Only this namespace could be listed; empty: all of them.
  std::string ns;
};

Task<Result<QueueState>> look_at_queue(Session& session, std::string controller_ns);

// Says so when only a part of the line can be seen.
void tell_scope(Session& session, const QueueState& state);

// Not paused and as by default when nobody ever said otherwise, or the caller may not know.
Task<QueueNote> read_note(Session& session, std::string controller_ns);

}  // namespace codeflare::cli
