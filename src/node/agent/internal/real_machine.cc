#include "node/agent/machine.h"

#include <algorithm>
#include <arpa/inet.h>
#include <filesystem>
#include <fstream>
#include <ifaddrs.h>
#include <memory>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sched.h>
#include <string_view>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace codeflare::node {

namespace {

std::string pretty_name() {
  std::ifstream file("/etc/os-release");
  constexpr std::string_view kKey = "PRETTY_NAME=";
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(kKey)) {
      std::string name = line.substr(kKey.size());
      std::erase(name, '"');
      return name;
    }
  }
  return "linux";
}

// As Go names it, which is what node labels say.
std::string go_architecture(std::string_view machine) {
  if (machine == "x86_64") {
    return "amd64";
  }
  return machine == "aarch64" ? "arm64" : std::string(machine);
}

bool is_for_all(const sockaddr& address) {
  if (address.sa_family == AF_INET) {
    const in_addr_t value = ntohl(reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr);
    return value >> 24 != 127 && value >> 16 != 0xa9fe;
  }
  const in6_addr& six = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  return !IN6_IS_ADDR_LOOPBACK(&six) && !IN6_IS_ADDR_LINKLOCAL(&six);
}

// Without the loopback, and what is good for one cable only; empty when there is none.
std::string first_address(int family) {
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) {
    return {};
  }
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(all, &::freeifaddrs);
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if ((one->ifa_flags & IFF_UP) == 0 || one->ifa_addr == nullptr ||
        one->ifa_addr->sa_family != family || !is_for_all(*one->ifa_addr)) {
      continue;
    }
    char text[INET6_ADDRSTRLEN];
    const socklen_t size = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    if (::getnameinfo(one->ifa_addr, size, text, sizeof text, nullptr, 0, NI_NUMERICHOST) == 0) {
      return text;
    }
  }
  return {};
}

}  // namespace

std::string without_links(const std::string& path) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  return error ? path : real.string();
}

Machine this_machine() {
  Machine machine;
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  machine.cpus = ::sched_getaffinity(0, sizeof allowed, &allowed) == 0
                     ? CPU_COUNT(&allowed)
                     : std::max<std::int64_t>(::sysconf(_SC_NPROCESSORS_ONLN), 1);
  machine.memory_bytes =
      std::int64_t{::sysconf(_SC_PHYS_PAGES)} * std::int64_t{::sysconf(_SC_PAGESIZE)};
  if (struct statvfs disk{}; ::statvfs("/", &disk) == 0) {
    machine.disk_bytes = static_cast<std::int64_t>(disk.f_blocks * disk.f_frsize);
  }
  utsname names{};
  if (::uname(&names) == 0) {
    machine.kernel = names.release;
    machine.architecture = go_architecture(names.machine);
  }
  machine.os_image = pretty_name();
  std::ifstream("/etc/machine-id") >> machine.id;
  for (const int family : {AF_INET6, AF_INET}) {
    if (std::string address = first_address(family); !address.empty()) {
      machine.address = std::move(address);
    }
  }
  return machine;
}

}  // namespace codeflare::node
