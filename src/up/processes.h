#pragma once

#include "base/result.h"
#include "up/state.h"

#include <memory>
#include <string>

namespace codeflare::up {

// Other processes of this machine.
class Processes {
 public:
  virtual ~Processes() = default;
  // Asks it to end in good order (SIGTERM). Not found when that very process is gone.
  virtual Result<void> ask_to_end(const ProcessId& process) = 0;
};

std::unique_ptr<Processes> machine_processes(FileSystem& files);

// The path from the root, for those who will read it from elsewhere.
Result<std::string> absolute_path(const std::string& path);

// This process has the machine's administrator's rights.
bool is_administrator();
// The file of this program.
Result<std::string> own_program();

// Goes on in a child that belongs to nobody, with `log` for both outputs and no input; the calling
// process prints the child's number and ends here. Before anything has begun that a fork does not
// take along (loops, threads).
Result<void> go_to_background(const std::string& log);

}  // namespace codeflare::up
