#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "node/stream/pod_streams.h"

#include <cstddef>
#include <string>

namespace codeflare::node {

struct ProgramOutcome {
  int exit_code = 0;     // 128 + signal when killed by one
  std::string output{};  // standard and error output as they came
};

// Runs a program in a container to its end, for probes and hooks. Output beyond the limit is
// dropped. When the task is asked to stop the program is killed.
Task<Result<ProgramOutcome>> run_program(PodStreams& pods, std::string uid, ExecOptions options,
                                         std::size_t output_bytes_max);

}  // namespace codeflare::node
