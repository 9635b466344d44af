#pragma once

#include "model/pod.h"

#include <string>

namespace codeflare::node {

// The pod's /etc/resolv.conf by its dnsPolicy and dnsConfig. `nameserver` answers for the cluster;
// `machine` is the text of the machine's own, for pods that have its network.
std::string resolv_conf(const model::Pod& pod, const std::string& nameserver,
                        const std::string& machine);

}  // namespace codeflare::node
