#pragma once

#include "base/time.h"
#include "model/training_job.h"
#include "queue/report.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// Why a TrainingJob has its size, as text; pure.
namespace codeflare::cli {

// A TrainingJob above its minimum.
struct GrownJob {
  std::string ns;
  std::string name;
  std::int64_t size = 0;
  std::int64_t min = 0;
  std::int64_t priority = 0;
};

struct ExplainedTraining {
  model::TrainingJob job;
  // Of a queue made of the cluster's objects; absent when too little may be seen.
  std::optional<queue::Report> report{};
  std::int64_t planned = 0;   // its size after the next steps of that queue; 0: it holds nothing
  std::string growth{};       // why it is not larger
  std::string shrinks_for{};  // whom it makes room for
  std::vector<GrownJob> grown{};  // others
  // Resources that could not be read and why: "nodes: forbidden ...".
  std::vector<std::string> missing{};
};

std::string render_training_explanation(const ExplainedTraining& explained, WallTime now);

}  // namespace codeflare::cli
