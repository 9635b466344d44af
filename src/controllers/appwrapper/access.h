#pragma once

#include "controllers/appwrapper/queue_lease.h"
#include "queue/marks.h"
#include "runtime/access.h"

namespace codeflare::controllers {

inline constexpr runtime::Right kLeaseRights[] = {
    {"create", "coordination.k8s.io", "leases", "leader election"},
    {"get watch patch", "coordination.k8s.io", "leases", "leader election", kQueueLease},
    {"create", "", "namespaces", "namespace of the Lease, if it is missing"},
};

inline constexpr runtime::Right kQueueRights[] = {
    {"get list watch patch delete", "workload.codeflare.dev", "appwrappers",
     "the queue itself; finalizers; expired AppWrappers"},
    {"update", "workload.codeflare.dev", "appwrappers/status", "status of AppWrappers"},
    {"list watch", "", "nodes resourcequotas", "capacity, and quotas of namespaces"},
    {"get list watch delete", "", "pods", "pods of AppWrappers, and room taken by all others"},
    {"create", "", "configmaps", "published settings"},
    {"list watch patch", "", "configmaps", "pause, and published settings for `explain`",
     queue::kQueueConfigMap},
};

inline constexpr runtime::Right kLegacyQueueRights[] = {
    {"get list watch patch delete", "mcad.ibm.com", "appwrappers", "AppWrappers of mcad.ibm.com"},
    {"update", "mcad.ibm.com", "appwrappers/status", "status of AppWrappers of mcad.ibm.com"},
};

inline constexpr runtime::Right kBindRights[] = {
    {"create", "", "pods/binding", "binding pods to their planned nodes"},
    {"patch", "", "pods/status", "PodScheduled of pods that do not fit"},
};

// `codeflare queue idle`.
inline constexpr runtime::Right kIdleRights[] = {
    {"list", "workload.codeflare.dev", "appwrappers", "check that no work holds nodes"},
    {"list", "mcad.ibm.com", "appwrappers", "check that no work holds nodes"},
    {"list", "breezeml.ai", "trainingjobs", "check that no work holds nodes"},
};

// The kinds of most AppWrappers. A patch adopts what MCAD created.
inline constexpr runtime::Right kWrappedRights[] = {
    {"get list watch patch delete", "", "configmaps persistentvolumeclaims pods secrets services",
     "wrapped objects"},
    {"get list watch patch delete", "apps", "deployments replicasets statefulsets",
     "wrapped objects"},
    {"get list watch patch delete", "batch", "cronjobs jobs", "wrapped objects"},
    {"get list watch patch delete", "breezeml.ai", "trainingjobs", "wrapped objects"},
    {"get list watch patch delete", "networking.k8s.io", "ingresses", "wrapped objects"},
    {"get list watch patch delete", "ray.io", "rayclusters rayjobs", "wrapped objects"},
    {"get list watch patch delete", "kubeflow.org", "pytorchjobs", "wrapped objects"},
    {"get list watch patch delete", "jobset.x-k8s.io", "jobsets", "wrapped objects"},
    {"get list watch patch delete", "scheduling.sigs.k8s.io", "podgroups", "wrapped objects"},
};
inline constexpr runtime::Right kWrapAnythingRights[] = {
    {"get list watch patch delete", "*", "*", "wrapped objects of any kind"},
};

// Without a record of the submitter, wrapped objects are created in the controller's own name.
inline constexpr runtime::Right kCreateWrappedRights[] = {
    {"create", "", "configmaps persistentvolumeclaims pods secrets services", "wrapped objects"},
    {"create", "apps", "deployments replicasets statefulsets", "wrapped objects"},
    {"create", "batch", "cronjobs jobs", "wrapped objects"},
    {"create", "breezeml.ai", "trainingjobs", "wrapped objects"},
    {"create", "networking.k8s.io", "ingresses", "wrapped objects"},
    {"create", "ray.io", "rayclusters rayjobs", "wrapped objects"},
    {"create", "kubeflow.org", "pytorchjobs", "wrapped objects"},
    {"create", "jobset.x-k8s.io", "jobsets", "wrapped objects"},
    {"create", "scheduling.sigs.k8s.io", "podgroups", "wrapped objects"},
};
inline constexpr runtime::Right kCreateAnythingRights[] = {
    {"create", "*", "*", "wrapped objects of any kind"},
};

}  // namespace codeflare::controllers
