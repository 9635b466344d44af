#pragma once

#include "elastic/documents.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace codeflare::elastic {

enum class Framework : std::uint8_t { pytorch, tensorflow, generic };
Result<Framework> parse_framework(std::string_view text);

// The setting of one worker.
struct WorkerSetting {
  Framework framework = Framework::pytorch;
  std::string run_id;  // UID of the job
  std::string socket;
  std::string state_directory;
  std::string error_file;
  std::int32_t index = 0;  // of the member
  std::int32_t local_rank = 0;
  std::int32_t nproc = 1;
  std::int64_t restarts = 0;
  std::int64_t restarts_max = 0;
  // The group; nothing for a worker that is started before there is one.
  std::optional<Round> round;
  bool threads_given = false;  // OMP_NUM_THREADS is set already
};

using WorkerVariables = std::map<std::string, std::optional<std::string>>;

// torchrun's contract for pytorch, TF_CONFIG for tensorflow, for generic programs where the agent
// is and nothing more.
WorkerVariables worker_variables(const WorkerSetting& setting);

}  // namespace codeflare::elastic
