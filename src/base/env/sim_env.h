#pragma once

#include "base/env/env.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace codeflare {

// A world made of a seed: virtual time that jumps to the next timer, seeded randomness, files in
// memory, scripted processes. One thread; the same seed gives the same run.
class SimEnv {
 public:
  struct Options {
    std::uint64_t seed = 1;
    // Picks among ready work by seed instead of first come, first served: finds code that relies
    // on the order of unrelated events.
    bool shuffle = false;
    // Virtual time that one piece of blocking work takes, at most (uniform, from the seed).
    Duration blocking_delay_max = std::chrono::milliseconds(2);
    // More steps without time moving mean that something repeats without a wait: the run aborts.
    std::uint64_t steps_per_instant_max = 10'000'000;
    WallTime wall_start = WallTime(std::chrono::seconds(1'700'000'000));
  };
  SimEnv();
  explicit SimEnv(Options options);
  ~SimEnv();
  SimEnv(const SimEnv&) = delete;
  SimEnv& operator=(const SimEnv&) = delete;

  Env env();

  // Adds to the trace; the hash also covers every step's virtual time and, with shuffle, every
  // choice.
  void trace(std::string_view what);
  std::uint64_t trace_hash() const;
  std::uint64_t steps() const;

  void set_variable(const std::string& name, std::string value);
  // Behaviour of a started program, by program name; without an entry the program is not found.
  using Program = std::function<Task<Result<CommandResult>>(Command)>;
  void set_program(const std::string& name, Program program);

  // Loses every file change that was not synced, as a power cut would.
  void crash_files();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace codeflare
