#include "node/holder/internal/real_netlink.h"

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <span>
#include <sys/socket.h>

namespace codeflare::node::internal {

// A request as it is built: header, the family's own header, attributes.
struct Netlink::Message {
  Message(std::uint16_t type, std::uint16_t flags) {
    nlmsghdr header{};
    header.nlmsg_type = type;
    header.nlmsg_flags = static_cast<std::uint16_t>(flags | NLM_F_REQUEST | NLM_F_ACK);
    put(header);
  }

  template <typename T>
  void put(const T& plain) {
    bytes.append(reinterpret_cast<const char*>(&plain), sizeof plain);
    pad();
  }
  void attribute(unsigned short type, std::string_view value) {
    rtattr header{};
    header.rta_type = type;
    header.rta_len = static_cast<unsigned short>(RTA_LENGTH(value.size()));
    put(header);
    bytes.append(value);
    pad();
  }
  void number(unsigned short type, std::uint32_t value) {
    attribute(type, {reinterpret_cast<const char*>(&value), sizeof value});
  }
  void address(unsigned short type, Ipv4 value) { number(type, htonl(value.value)); }
  // With the zero at its end, as the kernel wants names.
  void name(unsigned short type, const std::string& value) {
    attribute(type, {value.c_str(), value.size() + 1});
  }
  // Data put between begin() and end() is inside it.
  std::size_t begin(unsigned short type) {
    const std::size_t at = bytes.size();
    attribute(type, {});
    return at;
  }
  void end(std::size_t at) {
    const auto length = static_cast<unsigned short>(bytes.size() - at);
    std::memcpy(bytes.data() + at + offsetof(rtattr, rta_len), &length, sizeof length);
  }
  void finish(std::uint32_t sequence) {
    const auto length = static_cast<std::uint32_t>(bytes.size());
    std::memcpy(bytes.data() + offsetof(nlmsghdr, nlmsg_len), &length, sizeof length);
    std::memcpy(bytes.data() + offsetof(nlmsghdr, nlmsg_seq), &sequence, sizeof sequence);
  }
  void pad() { bytes.resize((bytes.size() + 3) & ~std::size_t{3}); }

  std::string bytes;
};

namespace {

constexpr std::uint16_t kCreate = NLM_F_CREATE | NLM_F_EXCL;

ifinfomsg link_header(int index) {
  ifinfomsg header{};
  header.ifi_family = AF_UNSPEC;
  header.ifi_index = index;
  return header;
}

// The kernel's answer to the request with this number: 0 or an errno; -1: not in these bytes.
int answer_in(std::span<char> bytes, std::uint32_t sequence) {
  std::size_t at = 0;
  while (at + sizeof(nlmsghdr) <= bytes.size()) {
    nlmsghdr header{};
    std::memcpy(&header, bytes.data() + at, sizeof header);
    if (header.nlmsg_len < sizeof header || header.nlmsg_len > bytes.size() - at) {
      return -1;
    }
    if (header.nlmsg_type == NLMSG_ERROR && header.nlmsg_seq == sequence &&
        header.nlmsg_len >= sizeof header + sizeof(int)) {
      int error = 0;
      std::memcpy(&error, bytes.data() + at + sizeof header, sizeof error);
      return -error;
    }
    at += NLMSG_ALIGN(header.nlmsg_len);
  }
  return -1;
}

}  // namespace

Result<Netlink> Netlink::open() {
  FileDescriptor socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  if (!socket ||
      ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return fail(posix_error(errno, "open netlink"));
  }
  return Netlink(std::move(socket));
}

Result<void> Netlink::ask(Message& message, std::string_view what) {
  message.finish(++sequence_);
  if (::send(socket_.get(), message.bytes.data(), message.bytes.size(), 0) < 0) {
    return fail(posix_error(errno, what));
  }
  for (;;) {
    std::array<char, 8192> buffer{};
    const ssize_t size = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
    if (size < 0 && errno == EINTR) {
      continue;
    }
    if (size <= 0) {
      return fail(posix_error(errno, what));
    }
    const int answer =
        answer_in(std::span(buffer).first(static_cast<std::size_t>(size)), sequence_);
    if (answer == 0) {
      return {};
    }
    if (answer > 0) {
      return fail(posix_error(answer, what));
    }
  }
}

Result<void> Netlink::add_bridge(const std::string& name, const Mac& mac) {
  Message message(RTM_NEWLINK, kCreate);
  message.put(link_header(0));
  message.name(IFLA_IFNAME, name);
  message.attribute(IFLA_ADDRESS, {reinterpret_cast<const char*>(mac.data()), mac.size()});
  const std::size_t about = message.begin(IFLA_LINKINFO);
  message.name(IFLA_INFO_KIND, "bridge");
  message.end(about);
  return ask(message, "make bridge " + name);
}

Result<void> Netlink::add_veth(const Veth& veth) {
  Message message(RTM_NEWLINK, kCreate);
  ifinfomsg header = link_header(0);
  header.ifi_flags = IFF_UP;
  header.ifi_change = IFF_UP;
  message.put(header);
  message.name(IFLA_IFNAME, veth.name);
  message.number(IFLA_MASTER, static_cast<std::uint32_t>(veth.bridge));
  const std::size_t about = message.begin(IFLA_LINKINFO);
  message.name(IFLA_INFO_KIND, "veth");
  const std::size_t data = message.begin(IFLA_INFO_DATA);
  const std::size_t peer = message.begin(VETH_INFO_PEER);
  message.put(link_header(0));
  message.name(IFLA_IFNAME, veth.peer_name);
  message.number(IFLA_NET_NS_FD, static_cast<std::uint32_t>(veth.peer_namespace));
  message.end(peer);
  message.end(data);
  message.end(about);
  return ask(message, "make link " + veth.name);
}

Result<void> Netlink::remove_link(const std::string& name) {
  Message message(RTM_DELLINK, 0);
  message.put(link_header(0));
  message.name(IFLA_IFNAME, name);
  const Result<void> removed = ask(message, "remove link " + name);
  // ENODEV has no code of its own.
  return removed || link_index(name) ? removed : Result<void>();
}

Result<void> Netlink::set_up(int link) {
  Message message(RTM_NEWLINK, 0);
  ifinfomsg header = link_header(link);
  header.ifi_flags = IFF_UP;
  header.ifi_change = IFF_UP;
  message.put(header);
  return ask(message, "set link " + std::to_string(link) + " up");
}

Result<void> Netlink::add_address(int link, Ipv4 address, int prefix) {
  Message message(RTM_NEWADDR, kCreate);
  ifaddrmsg header{};
  header.ifa_family = AF_INET;
  header.ifa_prefixlen = static_cast<std::uint8_t>(prefix);
  header.ifa_scope = RT_SCOPE_UNIVERSE;
  header.ifa_index = static_cast<unsigned>(link);
  message.put(header);
  message.address(IFA_LOCAL, address);
  message.address(IFA_ADDRESS, address);
  return ask(message, "set address " + address.to_string());
}

Result<void> Netlink::add_default_route(Ipv4 gateway) {
  Message message(RTM_NEWROUTE, kCreate);
  rtmsg header{};
  header.rtm_family = AF_INET;
  header.rtm_table = RT_TABLE_MAIN;
  header.rtm_protocol = RTPROT_BOOT;
  header.rtm_scope = RT_SCOPE_UNIVERSE;
  header.rtm_type = RTN_UNICAST;
  message.put(header);
  message.address(RTA_GATEWAY, gateway);
  return ask(message, "set the default route to " + gateway.to_string());
}

Result<void> Netlink::add_local_block(const Ipv4Block& block, int link) {
  Message message(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE);
  rtmsg header{};
  header.rtm_family = AF_INET;
  header.rtm_dst_len = static_cast<std::uint8_t>(block.prefix);
  header.rtm_table = RT_TABLE_LOCAL;
  header.rtm_protocol = RTPROT_BOOT;
  header.rtm_scope = RT_SCOPE_HOST;
  header.rtm_type = RTN_LOCAL;
  message.put(header);
  message.address(RTA_DST, block.base);
  message.number(RTA_OIF, static_cast<std::uint32_t>(link));
  return ask(message, "make " + block.to_string() + " local");
}

Result<int> link_index(const std::string& name) {
  const unsigned index = ::if_nametoindex(name.c_str());
  if (index == 0) {
    return fail(not_found("there is no link " + name));
  }
  return static_cast<int>(index);
}

}  // namespace codeflare::node::internal
