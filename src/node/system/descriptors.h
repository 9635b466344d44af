#pragma once

#include "base/posix.h"
#include "base/result.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Pipes, terminals and the passing of descriptors, for keepers and inits.
namespace codeflare::node {

struct Pipe {
  FileDescriptor reading;
  FileDescriptor writing;
};
Result<Pipe> make_pipe(int flags);

// A terminal of the /dev that this process sees.
struct Terminal {
  FileDescriptor outside;
  FileDescriptor inside;
};
Result<Terminal> make_terminal(int columns, int rows);

// Two ends that keep packets apart.
Result<std::pair<FileDescriptor, FileDescriptor>> make_packet_pair();

// All of it or nothing: a socket that does not take it at once is not waited for.
Result<void> send_with_descriptors(int socket, std::string_view bytes,
                                   std::span<const int> descriptors);

struct Packet {
  std::string bytes;  // empty at the end, or when nothing is there
  std::vector<FileDescriptor> descriptors;
};
// Without waiting.
Packet receive_packet(int socket, std::size_t bytes_max);

}  // namespace codeflare::node
