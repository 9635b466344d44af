#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "cli/session/session.h"

#include <string>
#include <vector>

namespace codeflare::cli {

// Work of all namespaces that holds nodes; for people.
struct Holders {
  std::vector<std::string> wrappers;  // "team/train-abcde of Run train"
  std::vector<std::string> jobs;      // TrainingJobs in no AppWrapper: "team/bert"
  bool of_runs = false;               // some AppWrapper is of a Run
};

Task<Result<Holders>> gather_holders(Session& session);

}  // namespace codeflare::cli
