#pragma once

#include "bench/queue_program/scenario.h"
#include "kube/object.h"
#include "model/gvk.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// The scenario as AppWrappers and quota trees. A workload is an AppWrapper around one Run, a kind
// of this benchmark (run_crd.yaml) that has no pods: whoever plays the nodes sets its phase to
// Complete when its time is over. Admission would put the finalizer on; there is no webhook on
// either side, so the objects come as it would leave them.
namespace codeflare::bench {

extern const model::ResourceType kAppWrappers;
extern const model::ResourceType kRuns;
extern const model::ResourceType kWorkloads;  // Kueue's
extern const model::ResourceType kQuotaSubtrees;
extern const model::ResourceType kNamespaces;
extern const model::ResourceType kNodes;

std::string named_object(std::string_view api_version, std::string_view kind,
                         std::string_view name);
std::string app_wrapper(const model::ObjectKey& key, const WorkClass& work_class);
// Each cohort is a root with the sum of its queues, each queue a child that may borrow.
std::vector<std::string> quota_subtrees(const Scenario& scenario);
// So many CPUs in all that nodes never bind: only quota does, as for Kueue, which has none here.
std::vector<std::string> nodes(const Scenario& scenario);

// A Run or its AppWrapper in the course of things, for writes without a controller.
std::string run_object(const model::ObjectKey& key, const WorkClass& work_class);
std::string run_complete();
// The bodies that put its status, in order: rejected, intended, dispatched, completed.
inline constexpr int kStatusWrites = 4;
std::string status_write(int number, const kube::Object& before);

}  // namespace codeflare::bench
