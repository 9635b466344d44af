#pragma once

#include "base/env/file_system.h"
#include "base/result.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace codeflare::cli::simulate {

// How fast one application trains, as it was measured: the files of the Pollux artifact, one folder
// for each application.
//   placements.csv   placement,local_bsz,step_time,sync_time   ("31": three and one on two nodes)
//   scalability.csv  num_nodes,num_replicas,local_bsz,step_time,sync_time
//   validation-<batch size>.csv   ...,iteration,...   (the last line is the end of the training)
class Application {
 public:
  // `text` of both tables; the second may be empty.
  Result<void> read_placements(std::string_view text, const std::string& file);
  Result<void> read_scalability(std::string_view text, const std::string& file);
  Result<void> read_validation(std::int64_t batch, std::string_view text, const std::string& file);
  // Pods hold no more samples at once; 0: as many as were measured.
  void set_local_batch_max(std::int64_t most) { local_max_ = most; }

  // Iterations until the end; nothing if this batch size was not measured.
  std::int64_t iterations(std::int64_t batch) const;
  std::vector<std::int64_t> batches() const;
  // Seconds for one iteration of the whole batch on so many nodes and pods.
  double iteration_seconds(std::int64_t nodes, std::int64_t pods, std::int64_t batch) const;
  // The most pods that still have as many samples as was measured.
  std::int64_t pods_max(std::int64_t batch) const;

 private:
  struct Sample {
    double step = 0;
    double sync = 0;
    double count = 0;  // measurements in the sums
  };
  using BySize = std::map<std::int64_t, Sample>;  // by local batch
  Result<void> read(std::string_view text, const std::string& file, bool by_placement);
  Sample at(const BySize& samples, double local) const;
  Sample at_nodes(std::int64_t nodes, std::int64_t pods, double local) const;
  Sample lookup(std::int64_t nodes, std::int64_t pods, double local) const;

  std::map<std::int64_t, std::map<std::int64_t, BySize>> measured_;  // by nodes and pods
  std::map<std::int64_t, std::int64_t> iterations_;                  // by batch size
  std::int64_t local_max_ = 0;
};

using Applications = std::map<std::string, Application>;

// Every folder below `directory`.
Result<Applications> read_applications(FileSystem& files, const std::string& directory);

}  // namespace codeflare::cli::simulate
