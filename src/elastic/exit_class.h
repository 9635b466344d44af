#pragma once

#include "base/env/children.h"
#include "elastic/documents.h"

#include <string_view>

namespace codeflare::elastic {

struct ExitFacts {
  ChildExit exit{};
  bool planned = false;           // it had a notice
  bool out_of_memory = false;     // the container's group counted another kill for memory
  std::string_view last_lines{};  // of its standard error
};

// Whose fault the end of a worker is. Only ends of class `user` count against backoffLimit: a peer
// that vanished, seen as a broken connection of gloo or NCCL, is not the fault of the program.
ExitClass classify_exit(const ExitFacts& facts);

// The last line that says something, for the message of the job.
std::string_view last_line(std::string_view text);

}  // namespace codeflare::elastic
