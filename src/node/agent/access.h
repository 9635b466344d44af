#pragma once

#include "runtime/access.h"

namespace codeflare::node {

// The node of `codeflare up`, whose agent is one of the controllers there.
inline constexpr runtime::Right kAgentRights[] = {
    {"get create update", "", "nodes", "registration of the node"},
    {"update", "", "nodes/status", "heartbeat of the node"},
    {"get create update", "coordination.k8s.io", "leases", "heartbeat of the node"},
    {"get list watch delete", "", "pods", "pods of the node"},
    {"patch", "", "pods/status", "status of the node's pods"},
    {"get", "", "configmaps secrets persistentvolumeclaims persistentvolumes",
     "volumes and variables of pods"},
    {"list watch", "", "services", "addresses of Services in pods"},
    {"list watch", "discovery.k8s.io", "endpointslices", "addresses behind Services"},
    {"create", "", "serviceaccounts/token", "tokens of pods"},
};

}  // namespace codeflare::node
