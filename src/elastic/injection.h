#pragma once

#include "base/result.h"
#include "model/pod.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace codeflare::elastic {

inline constexpr std::string_view kTrainingContainer = "trainingjob";
inline constexpr std::string_view kAgentDirectory = "/lattice";
inline constexpr std::string_view kStateDirectory = "/lattice-state";

// One worker pod of a job with injectLattice.
struct Injection {
  std::string operator_image;  // has the program codeflare as its entry point
  std::string image_pull_policy{};
  std::string job;
  std::string ns;
  std::string uid;  // of the job
  std::int32_t index = 0;
  std::int32_t size_min = 1;
  std::int32_t size_max = 1;
  std::int32_t nproc = 1;
  std::string framework = "pytorch";
  std::string backend = "kubernetes";  // or etcd
  std::string rdzv_host{};
  std::string rdzv_port{};
  std::int64_t grace_seconds = 30;
  std::int64_t restarts_max = 0;
};

// Puts the agent before the program of the container `trainingjob`: an init container of the
// operator's image copies agent and library into an emptyDir, the agent runs the original words.
// No shell, nothing is downloaded. Variables that the template sets itself stay as they are.
// invalid_argument names the field and the fix.
Result<void> inject_agent(model::PodSpec& spec, const Injection& injection);

}  // namespace codeflare::elastic
