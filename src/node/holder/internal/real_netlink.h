#pragma once

#include "base/posix.h"
#include "base/result.h"
#include "node/holder/ipv4.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace codeflare::node::internal {

// The part of rtnetlink that we need, in the network namespace in which it was opened. Waits for
// each answer of the kernel, which comes at once.
class Netlink {
 public:
  static Result<Netlink> open();

  using Mac = std::array<std::uint8_t, 6>;
  // A bridge whose own hardware address stays the same whoever is on it.
  Result<void> add_bridge(const std::string& name, const Mac& mac);
  struct Veth {
    std::string name;
    int bridge = 0;  // that this end is a port of
    std::string peer_name;
    int peer_namespace = -1;  // a descriptor: where the other end is
  };
  Result<void> add_veth(const Veth& veth);
  // Fine when there is none.
  Result<void> remove_link(const std::string& name);
  Result<void> set_up(int link);

  Result<void> add_address(int link, Ipv4 address, int prefix);
  Result<void> add_default_route(Ipv4 gateway);
  // All addresses of the block are this machine's own; fine when they were before.
  Result<void> add_local_block(const Ipv4Block& block, int link);

 private:
  explicit Netlink(FileDescriptor socket) : socket_(std::move(socket)) {}
  struct Message;
  Result<void> ask(Message& message, std::string_view what);

  FileDescriptor socket_;
  std::uint32_t sequence_ = 0;
};

// Of the namespace that this process is in; not_found when there is none of that name.
Result<int> link_index(const std::string& name);

inline constexpr int kLoopback = 1;  // in every network namespace

}  // namespace codeflare::node::internal
