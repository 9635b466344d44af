#pragma once

#include "base/result.h"
#include "base/time.h"
#include "cli/simulate/speeds.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::cli::simulate {

// A training that can run on more or fewer pods, of one GPU each.
struct Training {
  std::string id;
  Duration submitted{};
  const Application* application = nullptr;
  std::int64_t requested = 1;  // pods that its owner asked for
  std::int64_t batch = 1;      // samples of one iteration, whatever the size
  std::int64_t size_max = 1;   // as far as its speed was measured
  double iterations = 0;
  std::int32_t priority = 0;
};

// A header, then a training a line: name,time,application,num_replicas,batch_size and, if there is
// one, priority. `applications` must outlive what is returned.
Result<std::vector<Training>> read_trainings(std::string_view text, const std::string& file,
                                             const Applications& applications);

}  // namespace codeflare::cli::simulate
