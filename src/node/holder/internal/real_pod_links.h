#pragma once

#include "base/posix.h"
#include "base/result.h"
#include "node/holder/internal/real_netlink.h"
#include "node/holder/ipv4.h"

#include <functional>
#include <string>
#include <vector>

// The kernel's side of the pod network, for a process that is root in a user namespace of its own
// and has one thread.
namespace codeflare::node::internal {

struct NetworkPlan {
  Ipv4Block pods{{0x0af40000u}, 16};      // 10.244.0.0/16
  Ipv4 gateway{0x0af40001u};              // 10.244.0.1
  Ipv4Block services{{0x0a600000u}, 12};  // 10.96.0.0/12
};

// The bridge in our own network namespace, and the networks of pods, each kept by a mount of its
// namespace. They outlive this object and this process, as long as somebody is in our mount
// namespace.
class PodLinks {
 public:
  // In namespaces that were just made: brings loopback and bridge up, and mounts a tmpfs at
  // `directory`.
  static Result<void> build(const NetworkPlan& plan, const std::string& directory);
  // Opens the links that were built before.
  static Result<PodLinks> open(const NetworkPlan& plan, const std::string& directory);

  // UIDs of the pods that have a network.
  Result<std::vector<std::string>> list() const;
  bool has(const std::string& uid) const;

  Result<void> attach(const std::string& uid, Ipv4 address);
  Result<void> detach(const std::string& uid, Ipv4 address);
  // The address is ours too, for all pods; fine when it was before.
  Result<void> add_local(Ipv4 address);
  Result<FileDescriptor> namespace_of(const std::string& uid) const;
  // Calls back inside the network of a pod.
  Result<void> within(const std::string& uid, const std::function<Result<void>()>& work) const;

 private:
  PodLinks(NetworkPlan plan, std::string directory, FileDescriptor own, Netlink netlink, int bridge)
      : plan_(plan),
        directory_(std::move(directory)),
        own_(std::move(own)),
        netlink_(std::move(netlink)),
        bridge_(bridge) {}
  std::string path_of(const std::string& uid) const { return directory_ + "/netns/" + uid; }
  Result<void> make_namespace(const std::string& uid) const;
  void go_back() const;

  NetworkPlan plan_;
  std::string directory_;
  FileDescriptor own_;  // our network namespace
  Netlink netlink_;
  int bridge_;
};

}  // namespace codeflare::node::internal
