#include "node/machine.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sched.h>
#include <string_view>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <system_error>
#include <unistd.h>

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
  return machine;
}

}  // namespace codeflare::node
