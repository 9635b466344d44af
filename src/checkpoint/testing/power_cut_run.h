#pragma once

#include "base/env/sim_env.h"
#include "checkpoint/store.h"
#include "checkpoint/testing/cut_disk.h"

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::checkpoint {

// Writers that save checkpoints on a disk whose power goes at a random change, life after life.
// Remembers what was acknowledged and looks for it afterwards.
class PowerCutRun {
 public:
  struct Options {
    std::uint64_t seed = 1;
    int lives = 4;
    bool ignore_syncs = false;  // a planted bug
  };
  explicit PowerCutRun(Options options);

  // The first thing that was lost or wrong; empty when all is well.
  std::string run();

  std::uint64_t acknowledged() const { return acknowledged_; }
  std::uint64_t cuts() const { return cuts_; }

 private:
  using Order = std::pair<std::int64_t, std::int64_t>;  // generation, step
  struct Known {
    Order committed{-1, -1};       // newest acknowledged
    std::set<Order> attempted{};   // a commit was asked for
    std::set<CheckpointId> ids{};  // given out
    std::int64_t generation = 0;   // newest acknowledged
  };

  Env env();
  Task<void> live();
  Task<void> write(JobKey job, int saves);
  Task<Result<void>> save(JobKey job, std::int64_t generation, std::int64_t step);
  Task<void> check();
  Task<void> check_job(JobKey job);
  Task<void> check_checkpoint(JobKey job, CheckpointPtr checkpoint);
  void found(std::string what);

  Options options_;
  SimEnv world_;
  CutDisk disk_;
  std::unique_ptr<Store> store_;
  std::map<JobKey, Known> known_;
  std::string finding_;
  std::uint64_t acknowledged_ = 0;
  std::uint64_t cuts_ = 0;
};

}  // namespace codeflare::checkpoint
