#pragma once

#include "model/codec/codec.h"
#include "model/extra.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Requests to the holder of the pod network, and its files on disk. As with keepers, one may be
// older than the program that speaks to it: fields are added, never changed, and unknown ones
// ignored.
namespace codeflare::node {

using model::Extra;

inline constexpr std::int32_t kHolderProtocol = 1;
// Names in the network of pods: the domain of its names, and the proxy at its gateway.
inline constexpr std::string_view kClusterDomain = "cluster.local";
inline constexpr std::uint16_t kEgressPort = 3128;

struct ServicePortRecord {
  std::string name;
  std::string protocol;  // "TCP" or "UDP"
  std::int32_t port = 0;
  Extra extra;

  friend bool operator==(const ServicePortRecord&, const ServicePortRecord&) = default;
};

struct EndpointRecord {
  std::string address;
  std::string hostname;
  bool ready = false;
  // Where it serves each port of the service, in the service's order; 0: it does not.
  std::vector<std::int32_t> ports;
  Extra extra;

  friend bool operator==(const EndpointRecord&, const EndpointRecord&) = default;
};

// A Service with all that stands behind it.
struct ServiceRecord {
  std::string ns;
  std::string name;
  std::string address;  // of the cluster; empty: it has none
  bool headless = false;
  bool not_ready_too = false;  // its names lead to endpoints that are not ready as well
  bool sticky = false;         // a client stays with its endpoint
  bool elsewhere = false;      // somebody else listens on its address
  std::string external_name;
  std::vector<ServicePortRecord> ports;
  std::vector<EndpointRecord> endpoints;
  Extra extra;

  friend bool operator==(const ServiceRecord&, const ServiceRecord&) = default;
};

// A pod that has a network.
struct PodRecord {
  std::string uid;
  std::string ns;
  std::string name;
  std::string address;
  Extra extra;

  friend bool operator==(const PodRecord&, const PodRecord&) = default;
};

// On disk beside the holder.
struct NetworkState {
  std::int32_t protocol = kHolderProtocol;
  std::vector<PodRecord> pods;
  std::string last_address;  // that was given
  Extra extra;

  friend bool operator==(const NetworkState&, const NetworkState&) = default;
};

struct HolderRequest {
  std::int32_t protocol = kHolderProtocol;
  // "state"
  // "attach" pod (uid, ns, name), block: makes its network, or finds it; the answer has its address
  // "detach" pod (uid)
  // "keep" names: UIDs; all other pods are detached
  // "join" pod (uid): descriptors of the user namespace and of the pod's network namespace
  // "socket" pod (uid or address; none: the holder's own network): descriptor of a TCP socket
  // "listen" address, port: descriptor of a listening TCP socket in the holder's network
  // "resolve" names (one host), pod (uid or address of who asks; none: one of namespace "default"):
  //   the answer has its address, and whether that is inside
  // "service" service: it is like this now
  // "forget" names: "NAMESPACE/NAME" of services that are gone
  // "services" names: those that there are; all others are gone
  // "shutdown": everything ends
  std::string verb;
  std::optional<PodRecord> pod;
  std::string block;  // "10.244.0.0/24", where an address is taken from
  std::optional<ServiceRecord> service;
  std::vector<std::string> names;
  std::string address;
  std::int32_t port = 0;
  Extra extra;

  friend bool operator==(const HolderRequest&, const HolderRequest&) = default;
};

struct HolderAnswer {
  std::int32_t protocol = kHolderProtocol;
  std::string error;    // empty: done
  std::string address;  // of the pod for attach, of the host for resolve
  bool inside = false;  // for resolve: pods and services are there
  std::string gateway;  // of all pods; DNS is there
  std::int64_t process = 0;
  std::vector<PodRecord> pods;
  Extra extra;

  friend bool operator==(const HolderAnswer&, const HolderAnswer&) = default;
};

const model::codec::StructInfo& describe(model::codec::Tag<ServicePortRecord>);
const model::codec::StructInfo& describe(model::codec::Tag<EndpointRecord>);
const model::codec::StructInfo& describe(model::codec::Tag<ServiceRecord>);
const model::codec::StructInfo& describe(model::codec::Tag<PodRecord>);
const model::codec::StructInfo& describe(model::codec::Tag<NetworkState>);
const model::codec::StructInfo& describe(model::codec::Tag<HolderRequest>);
const model::codec::StructInfo& describe(model::codec::Tag<HolderAnswer>);

}  // namespace codeflare::node
