#pragma once

#include "base/posix.h"
#include "base/result.h"
#include "node/holder/address_pool.h"
#include "node/holder/internal/real_anchor.h"
#include "node/holder/internal/real_dns_server.h"
#include "node/holder/internal/real_pod_links.h"
#include "node/holder/internal/real_poller.h"
#include "node/holder/internal/real_tcp_proxy.h"
#include "node/holder/internal/real_udp_proxy.h"
#include "node/holder/service_table.h"
#include "node/wire/frame.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::node::internal {

// The network of all pods of one data directory: knows which pod has which address, answers DNS,
// brings connections to services, and gives descriptors to whoever asks at its socket. One thread.
class Holder {
 public:
  struct Parts {
    std::string directory;
    NetworkPlan plan{};
    FileDescriptor listener;
    PodLinks links;
    Anchor anchor;
    Poller poller;
  };
  explicit Holder(Parts parts);

  // Reads what was kept, begins to serve.
  Result<void> open();
  // Until somebody asks for shutdown.
  Result<void> run();

 private:
  struct Client {
    FileDescriptor socket;
    Poller::Id id = 0;
    FrameReader frames{};
  };
  struct Reply {
    HolderAnswer answer{};
    std::vector<FileDescriptor> descriptors{};
  };

  Result<void> load();
  Result<NetworkState> read_state(const std::string& text, bool in_use) const;
  Result<void> save() const;
  void anchor_ended();

  void accept_client();
  void read_client(std::uint64_t number);
  void end_client(std::uint64_t number);
  // False when the client cannot be answered.
  bool answer(const Client& client, std::string_view text);
  Result<Reply> carry_out(const HolderRequest& request);
  Result<Reply> attach(const HolderRequest& request);
  Result<void> detach(const std::string& uid);
  Result<void> keep(const std::vector<std::string>& uids);
  Result<Reply> join(const std::string& uid);
  Result<Reply> make_socket(const std::string& uid);
  Result<Reply> listen_for(const HolderRequest& request);
  Result<Reply> resolve_host(const HolderRequest& request);
  // UID of the pod that a request is about, by that or by its address; empty: none.
  std::string pod_of(const HolderRequest& request) const;
  // From now on connections to this address come to us.
  Result<void> take_address(Ipv4 address);
  // Fails when the service with this address is not served everywhere; others are not its matter.
  Result<void> services_changed(const std::string& address = {});
  std::string namespace_of(Ipv4 address) const;

  std::string directory_;
  NetworkPlan plan_;
  FileDescriptor listener_;
  PodLinks links_;
  Anchor anchor_;
  Poller poller_;
  Poller::Id anchor_id_ = 0;
  AddressPool addresses_;
  std::map<std::string, PodRecord> pods_;  // by UID
  ServiceTable services_;
  TcpProxy tcp_;
  UdpProxy udp_;
  DnsServer dns_;
  std::uint64_t turn_ = 0;
  std::uint64_t next_ = 0;
  std::map<std::uint64_t, Client> clients_;
  bool ending_ = false;
};

}  // namespace codeflare::node::internal
