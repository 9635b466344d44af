#pragma once

#include "base/async/task.h"
#include "cli/session/session.h"
#include "cli/views/wrapper_view.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

// Reasons why dispatched work does not run, in a word and a sentence: its pods tell them, or Events
// alone (a ResourceQuota that rejects pods, a volume that is missing).
namespace codeflare::cli {

// Nothing where all is well, or the user may not look.
Task<std::optional<Cause>> cause_of(Session& session, GroupedWrapper wrapper);

// The same for a list, by UID: looks at pods that have not started alone. One request for pods, one
// for Events, and none while all planned pods run. `ns` is empty for all namespaces.
Task<std::map<std::string, Cause>> gather_causes(Session& session, std::string ns,
                                                 std::vector<GroupedWrapper> wrappers);

}  // namespace codeflare::cli
