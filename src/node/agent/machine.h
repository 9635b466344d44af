#pragma once

#include <cstdint>
#include <string>

namespace codeflare::node {

// The machine that a node is.
struct Machine {
  std::int64_t cpus = 1;
  std::int64_t memory_bytes = 0;
  std::int64_t disk_bytes = 0;  // of the root file system
  std::string kernel;           // "6.1.0"
  std::string os_image;         // "Debian GNU/Linux 12 (bookworm)"
  std::string architecture;     // "amd64"
  std::string id;
  // Its first address that others may reach, by IPv4 if it can be; the loopback when there is none.
  std::string address = "127.0.0.1";
};

Machine this_machine();

// The same place without links on the way; as given when it is not there. Blocking.
std::string without_links(const std::string& path);

}  // namespace codeflare::node
