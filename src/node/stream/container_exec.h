#pragma once

#include "base/async/task.h"
#include "base/result.h"

#include <cstddef>
#include <string>
#include <vector>

namespace codeflare::node {

struct ExecCommand {
  std::string uid;  // of the pod
  std::string container;
  std::vector<std::string> command;
  std::size_t output_bytes_max = 10u << 10;  // what comes after it is dropped
};

struct ExecOutcome {
  int exit_code = 0;     // 128 + signal when killed by one
  std::string output{};  // standard and error output as they came
};

// Runs a program inside a container that runs, beside its main process: in its namespaces, with its
// environment, under its limits. For probes and hooks; what people type goes another way.
class ContainerExec {
 public:
  virtual ~ContainerExec() = default;
  // A program that ends with an error is a result. When the task is cancelled the program is
  // killed. `not_found` when the program does not exist, `unavailable` when the container has
  // ended.
  virtual Task<Result<ExecOutcome>> run(ExecCommand command) = 0;
};

}  // namespace codeflare::node
