#pragma once

#include "model/pod.h"
#include "node/agent/pod_runtime.h"

#include <string>
#include <vector>

namespace codeflare::node {

// hosts, hostname, resolv.conf, passwd and group of a pod.
std::vector<EtcFile> etc_files(const model::Pod& pod, const std::string& address,
                               const std::string& resolv_conf,
                               const std::vector<std::int64_t>& users);

}  // namespace codeflare::node
