#pragma once

#include "controllers/appwrapper/queue_lease.h"
#include "runtime/access.h"

namespace codeflare::controllers::metering {

inline constexpr runtime::Right kRights[] = {
    {"list watch create", "usage.codeflare.dev", "usageledgers", "ledgers of namespaces"},
    {"patch", "usage.codeflare.dev", "usageledgers/status", "totals; standing of the licence"},
    {"list watch patch", "", "pods", "finalizer of pods that wait to be counted"},
    {"list watch", "", "nodes", "nodes that were lost"},
    {"get", "coordination.k8s.io", "leases", "last heartbeat of a lost node"},
    {"list watch", "breezeml.ai", "trainingjobs", "jobs whose usage is counted"},
    {"patch", "breezeml.ai", "trainingjobs/status", "status.usage of TrainingJobs"},
};

// `codeflare usage --free-pods`, before the controller is removed.
inline constexpr runtime::Right kFreeRights[] = {
    {"list patch", "", "pods", "takes the finalizer off pods that wait to be counted"},
    {"get", "coordination.k8s.io", "leases", "whether a controller counts them", kQueueLease},
};

// The release edition.
inline constexpr runtime::Right kReleaseRights[] = {
    {"get", "", "namespaces", "id of the cluster in pushed usage", "kube-system"},
    {"get", "usage.codeflare.dev", "usageledgers", "record of the licence", "licence"},
};

}  // namespace codeflare::controllers::metering
