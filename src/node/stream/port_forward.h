#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "net/byte_stream.h"
#include "node/stream/channels.h"
#include "node/stream/pod_streams.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::node {

// Whose ports they are.
struct PortForwardTarget {
  PodStreams& pods;
  std::string name;
  std::string uid;
};

// Over SPDY: per connection a pair of streams, one for its bytes and one for what went wrong, until
// the client goes.
Task<void> forward_over_spdy(net::ByteStream& connection, PortForwardTarget target);
// The same bytes as messages of a WebSocket.
Task<void> forward_over_tunnel(net::ByteStream& connection, PortForwardTarget target);
// Over the channels of a WebSocket: one connection to each port, at once; ends with the last of
// them.
Task<void> forward_over_channels(net::ByteStream& connection, ChannelDialect dialect,
                                 PortForwardTarget target, std::vector<std::uint16_t> ports);

// "80,443" or one of several values.
Result<std::vector<std::uint16_t>> parse_ports(const std::vector<std::string>& values);

}  // namespace codeflare::node
