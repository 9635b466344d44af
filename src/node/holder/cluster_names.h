#pragma once

#include "node/holder/dns_message.h"
#include "node/holder/ipv4.h"
#include "node/holder/service_table.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

// The names of a cluster, as Kubernetes' DNS specification 1.1.0 has them. Pure.
namespace codeflare::node {

// The namespace of the pod that has the address; empty when no pod has it.
using PodNamespace = std::function<std::string(Ipv4)>;

// `turn` lets the answers about many endpoints begin with another one each time. A name that exists
// without a record of the type is answered without records; a name that does not exist, here or
// outside the cluster, as not existing.
DnsReply resolve(const ServiceTable& services, const PodNamespace& pods, const DnsQuery& query,
                 std::uint64_t turn);

// A host as somebody says it: an address, or a name of any length.
struct HostQuery {
  std::string host;  // lower case
  std::string ns;    // of who says it: what short names are relative to
  std::uint64_t turn = 0;
};

// The address of the host for a pod, as the search list of its resolver has it; an address is
// itself. Nothing when the cluster has no such name.
std::optional<Ipv4> find_host(const ServiceTable& services, const PodNamespace& pods,
                              const HostQuery& query);

}  // namespace codeflare::node
