#pragma once

#include "base/posix.h"
#include "base/result.h"
#include "node/holder/ipv4.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace codeflare::node::internal {

// Where a client of the proxy wants to go.
struct Destination {
  std::string host;
  std::uint16_t port = 0;
  Ipv4 client{};  // who wants it
};

// Connects, or says why not. Waits.
using Dial = std::function<Result<FileDescriptor>(const Destination&)>;

constexpr std::size_t kHttpConnectionsMax = 256;

// An HTTP proxy with a process for each connection, so that looking up names holds up nobody.
// When all connections are taken, the longest idle one of the client that has most of them ends.
// Returns when `go_on` says no, which is asked about every second, or at once when one of the
// `signals` has come; the connections end with the process then.
Result<void> run_http_proxy(const FileDescriptor& listener, const Dial& dial,
                            const std::function<bool()>& go_on,
                            const FileDescriptor& signals = FileDescriptor(),
                            std::size_t connections_max = kHttpConnectionsMax);

// Out of this machine: never to itself, nor to what is there for machines only (169.254.0.0/16).
Result<FileDescriptor> dial_outside(const std::string& host, std::uint16_t port);
// To pods and services, through the holder that listens at `socket`.
Result<FileDescriptor> dial_inside(const std::string& socket, const std::string& host,
                                   std::uint16_t port);
// As the client itself would that is a pod with a way out: to what is inside from its own network,
// by names as its namespace has them, and else out of this machine.
Result<FileDescriptor> dial_for_pod(const std::string& socket, const Destination& wanted);

}  // namespace codeflare::node::internal
