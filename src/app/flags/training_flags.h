#pragma once

#include "base/result.h"
#include "controllers/trainingjob/training_settings.h"
#include "sched/spec.h"

#include <cstdint>
#include <string>

namespace CLI {
class App;
}

namespace codeflare {

// How TrainingJobs grow.
struct ElasticFlags {
  std::int64_t cooldown_seconds = 0;
  sched::ElasticPolicy policy = sched::ElasticPolicy::throughput;

  void apply(sched::Options& core) const;
};
void add_elastic_flags(CLI::App& role, ElasticFlags& flags);

// Settings of the operator of TrainingJobs, by flag or by the environment variable that each
// flag's help names.
struct TrainingFlags {
  bool off = false;  // --no-trainingjobs
  ElasticFlags elastic;
  std::string unit;
  std::string selector_path;
  std::string jfrog_path;
  std::string checkpoint_type;
  std::string checkpoint_endpoint;
  std::string checkpoint_port;
  std::string checkpoint_key_file;
  std::string rdzv_backend;
  std::string rdzv_endpoint;
  std::string rdzv_port;
  std::string rdzv_conf;
};

void add_training_flags(CLI::App& role, TrainingFlags& flags);

// Wrong values are rejected by the name of variable and flag.
Result<controllers::trainingjob::TrainingSettings> training_settings(const TrainingFlags& flags);

}  // namespace codeflare
