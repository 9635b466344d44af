#include "node/holder/internal/real_pod_links.h"

#include "base/check.h"
#include "base/env/file_system.h"
#include "node/system/mounts.h"

#include <cerrno>
#include <cstdio>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

namespace codeflare::node::internal {

namespace {

constexpr const char* kBridge = "cf0";
constexpr const char* kInPod = "eth0";
// Locally administered.
constexpr Netlink::Mac kBridgeMac = {0x0a, 0x58, 0x0a, 0xf4, 0x00, 0x01};

// Names of links are short; addresses are unique.
std::string link_of(Ipv4 address) {
  char name[16];
  std::snprintf(name, sizeof name, "cf%08x", address.value);
  return name;
}

Result<FileDescriptor> open_file(const std::string& path) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) {
    return fail(posix_error(errno, "open " + path));
  }
  return file;
}

// For containers, which have no capabilities: what they expect of their own network.
void allow_low_ports_and_ping() {
  static_cast<void>(write_small_file("/proc/sys/net/ipv4/ip_unprivileged_port_start", "0"));
  static_cast<void>(write_small_file("/proc/sys/net/ipv4/ping_group_range", "0 0"));
}

// There is no way out, and programs that look for one learn it at once instead of waiting for
// minutes: what is to be forwarded and has no route is answered.
void refuse_the_world_outside() {
  static_cast<void>(write_small_file("/proc/sys/net/ipv4/ip_forward", "1"));
  static_cast<void>(write_small_file("/proc/sys/net/ipv4/icmp_ratelimit", "0"));
}

}  // namespace

Result<void> PodLinks::build(const NetworkPlan& plan, const std::string& directory) {
  TRY_ASSIGN(Netlink netlink, Netlink::open());
  TRY(netlink.set_up(kLoopback));
  TRY(netlink.add_bridge(kBridge, kBridgeMac));
  TRY_ASSIGN(const int bridge, link_index(kBridge));
  TRY(netlink.add_address(bridge, plan.gateway, plan.pods.prefix));
  TRY(netlink.set_up(bridge));
  TRY(netlink.add_local_block(plan.services, kLoopback));
  refuse_the_world_outside();
  TRY(mount_tmpfs(directory, "mode=700"));
  return make_directory(directory + "/netns", 0700);
}

Result<PodLinks> PodLinks::open(const NetworkPlan& plan, const std::string& directory) {
  TRY_ASSIGN(FileDescriptor own, open_file("/proc/self/ns/net"));
  TRY_ASSIGN(Netlink netlink, Netlink::open());
  TRY_ASSIGN(const int bridge, link_index(kBridge));
  return PodLinks(plan, directory, std::move(own), std::move(netlink), bridge);
}

Result<std::vector<std::string>> PodLinks::list() const {
  const std::string path = directory_ + "/netns";
  std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(path.c_str()), &::closedir);
  if (directory == nullptr) {
    return fail(posix_error(errno, "list " + path));
  }
  std::vector<std::string> uids;
  while (const dirent* entry = ::readdir(directory.get())) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") {
      uids.push_back(name);
    }
  }
  return uids;
}

bool PodLinks::has(const std::string& uid) const {
  return ::access(path_of(uid).c_str(), F_OK) == 0;
}

// Anything that is done in the wrong network from here on would be a pod's.
void PodLinks::go_back() const {
  CHECK(::setns(own_.get(), CLONE_NEWNET) == 0);
}

Result<void> PodLinks::make_namespace(const std::string& uid) const {
  const std::string path = path_of(uid);
  TRY(make_file(path));
  if (::unshare(CLONE_NEWNET) != 0) {
    return fail(posix_error(errno, "make a network namespace"));
  }
  const bool kept = ::mount("/proc/self/ns/net", path.c_str(), nullptr, MS_BIND, nullptr) == 0;
  const int why = errno;
  allow_low_ports_and_ping();
  go_back();
  if (!kept) {
    return fail(posix_error(why, "keep a network namespace"));
  }
  return {};
}

Result<void> PodLinks::attach(const std::string& uid, Ipv4 address) {
  const auto made = [&]() -> Result<void> {
    TRY(make_namespace(uid));
    TRY_ASSIGN(const FileDescriptor network, namespace_of(uid));
    // Of one that ended in the middle of this.
    TRY(netlink_.remove_link(link_of(address)));
    TRY(netlink_.add_veth({.name = link_of(address),
                           .bridge = bridge_,
                           .peer_name = kInPod,
                           .peer_namespace = network.get()}));
    return within(uid, [&]() -> Result<void> {
      TRY_ASSIGN(Netlink inside, Netlink::open());
      TRY_ASSIGN(const int link, link_index(kInPod));
      TRY(inside.set_up(kLoopback));
      TRY(inside.add_address(link, address, plan_.pods.prefix));
      TRY(inside.set_up(link));
      return inside.add_default_route(plan_.gateway);
    });
  }();
  if (!made) {
    static_cast<void>(detach(uid, address));
  }
  return made;
}

Result<void> PodLinks::detach(const std::string& uid, Ipv4 address) {
  const std::string path = path_of(uid);
  // The namespace lives as long as processes are in it; its way out ends now.
  TRY(netlink_.remove_link(link_of(address)));
  if (::umount2(path.c_str(), MNT_DETACH) != 0 && errno != EINVAL && errno != ENOENT) {
    return fail(posix_error(errno, "let go of a network namespace"));
  }
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) {
    return fail(posix_error(errno, "remove " + path));
  }
  return {};
}

Result<void> PodLinks::add_local(Ipv4 address) {
  return netlink_.add_local_block({.base = address, .prefix = 32}, kLoopback);
}

Result<FileDescriptor> PodLinks::namespace_of(const std::string& uid) const {
  return open_file(path_of(uid));
}

Result<void> PodLinks::within(const std::string& uid,
                              const std::function<Result<void>()>& work) const {
  TRY_ASSIGN(const FileDescriptor network, namespace_of(uid));
  if (::setns(network.get(), CLONE_NEWNET) != 0) {
    return fail(posix_error(errno, "enter the network of pod " + uid));
  }
  Result<void> done = work();
  go_back();
  return done;
}

}  // namespace codeflare::node::internal
