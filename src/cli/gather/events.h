#pragma once

#include "base/async/task.h"
#include "cli/session/session.h"
#include "cli/views/explain_view.h"
#include "cli/views/wrapper_view.h"
#include "kube/client.h"
#include "model/event.h"
#include "model/pod.h"

#include <optional>
#include <string>
#include <vector>

namespace codeflare::cli {

// The Events of all AppWrappers that had this name in the session's namespace, oldest first. They
// outlive the AppWrapper: Kubernetes keeps Events for an hour. Empty: none, or the user may not
// list Events.
Task<std::vector<PastEvent>> wrapper_events(Session& session, std::string name);

// All Warning Events of a namespace; of all namespaces when it is empty. Empty: none, or the user
// may not list Events.
Task<std::vector<model::Event>> list_warnings(kube::Client& client, std::string ns);

// The newest of these against one of the pods, or against an item or what it makes, which could not
// make a pod: "pod train-x: FailedMount: ...". Nothing older than the AppWrapper counts.
std::optional<Cause> newest_warning(const std::vector<model::Event>& events,
                                    const GroupedWrapper& wrapper,
                                    const std::vector<model::Pod>& pods);

}  // namespace codeflare::cli
