#pragma once

#include "base/posix.h"
#include "base/result.h"

#include <cstdint>
#include <functional>
#include <string>

namespace codeflare::node::internal {

// Connects to a host and port, or says why not. Waits.
using Dial = std::function<Result<FileDescriptor>(const std::string& host, std::uint16_t port)>;

// An HTTP proxy with a process for each connection, so that looking up names holds up nobody.
// Returns when `go_on` says no, which is asked about every second.
Result<void> run_http_proxy(const FileDescriptor& listener, const Dial& dial,
                            const std::function<bool()>& go_on);

// Out of this machine: never to itself, nor to what is there for machines only (169.254.0.0/16).
Result<FileDescriptor> dial_outside(const std::string& host, std::uint16_t port);
// To pods and services, through the holder that listens at `socket`.
Result<FileDescriptor> dial_inside(const std::string& socket, const std::string& host,
                                   std::uint16_t port);

}  // namespace codeflare::node::internal
