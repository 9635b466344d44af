#pragma once

#include "base/posix.h"
#include "base/result.h"
#include "node/holder/service_table.h"

#include <netinet/in.h>

namespace codeflare::node::internal {

sockaddr_in to_sockaddr(const SocketAddress& address);
SocketAddress from_sockaddr(const sockaddr_in& address);

// In the network namespace that this process is in, not blocking.
Result<FileDescriptor> tcp_socket();
Result<FileDescriptor> listen_tcp(const SocketAddress& at);
Result<FileDescriptor> bind_udp(const SocketAddress& at);

}  // namespace codeflare::node::internal
