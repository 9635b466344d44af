#pragma once

#include "runtime/access.h"

namespace codeflare::controllers::dispatch {

// On the hub. Secrets only where kubeconfigs of workers are; see model::managed_cluster.
inline constexpr runtime::Right kRights[] = {
    {"list watch patch", "dispatch.codeflare.dev", "managedclusters",
     "worker clusters; their finalizer"},
    {"patch", "dispatch.codeflare.dev", "managedclusters/status", "status of worker clusters"},
    {"get", "", "namespaces", "identity of this cluster, written on copies", "kube-system"},
};
// Of a worker's own controller.
inline constexpr runtime::Right kFenceRights[] = {
    {"get", "coordination.k8s.io", "leases", "signs of life of hubs (`onLost: Redispatch`)"},
};
// In the namespace codeflare-system only.
inline constexpr runtime::Right kSecretRights[] = {
    {"list watch", "", "secrets", "kubeconfigs of worker clusters"},
};

// Of the hub's account on a worker: the least that dispatch and the views need. `codeflare cluster
// add` grants them.
inline constexpr runtime::Right kWorkerRights[] = {
    {"get list watch create patch delete", "workload.codeflare.dev", "appwrappers",
     "copies of the hub's AppWrappers"},
    {"get list watch create patch delete", "breezeml.ai", "trainingjobs",
     "copies of the hub's TrainingJobs"},
    {"list watch", "", "nodes", "capacity"},
    {"get list watch", "", "pods", "room that is taken, and pods of copies"},
    {"get", "", "pods/log", "logs through the hub"},
    {"list", "", "events", "explain through the hub"},
    {"get", "", "namespaces", "namespaces that exist; identity of the cluster"},
    {"list watch", "scale.codeflare.dev", "machinetypes machinerequests",
     "machines that the cluster can have"},
    {"create", "coordination.k8s.io", "leases", "sign of life of the hub"},
};
// Of one Lease, codeflare-hub-NAME.
inline constexpr runtime::Right kWorkerLeaseRights[] = {
    {"get patch delete", "coordination.k8s.io", "leases", "sign of life of the hub"},
};
// With `submitter: Same`.
inline constexpr runtime::Right kWorkerImpersonationRights[] = {
    {"impersonate", "", "users groups serviceaccounts",
     "creation of copies in the name of their submitters"},
    {"impersonate", "authentication.k8s.io", "*", "their UIDs and extra attributes"},
};
// With `namespaces: Create`.
inline constexpr runtime::Right kWorkerNamespaceRights[] = {
    {"create", "", "namespaces", "namespaces of copies"},
};

}  // namespace codeflare::controllers::dispatch
