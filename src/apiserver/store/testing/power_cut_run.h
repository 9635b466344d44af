#pragma once

#include "apiserver/store/sqlite_log.h"
#include "apiserver/store/store.h"
#include "apiserver/store/testing/power_cut_disk.h"
#include "base/async/task_group.h"
#include "base/env/sim_env.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace codeflare::apiserver {

// Random writers on a store whose disk loses power at random moments, life after life, with failing
// syncs and full disks in between. Remembers what was acknowledged and looks for it afterwards.
// With a flip, one bit of a file changes at the end: the next start must notice, or nothing is
// lost.
class PowerCutRun {
 public:
  struct Options {
    std::uint64_t seed = 1;
    SqliteLogOptions::Durability durability = SqliteLogOptions::Durability::full;
    int lives = 3;
    int writers = 4;
    bool faults = true;  // failing syncs and full disks
    bool flip = false;
  };
  explicit PowerCutRun(Options options);

  // The losses and errors; empty when all is well.
  std::vector<std::string> run();

  std::uint64_t acknowledged() const { return acknowledged_; }
  std::uint64_t rebuilds();
  std::uint64_t cuts_while_open() const { return cuts_while_open_; }
  enum class Flip : std::uint8_t { none, harmless, reported, repaired };
  Flip flip() const { return flip_; }
  // "store-1.db-wal: bit 17: data_loss: ...".
  const std::string& flip_story() const { return flip_story_; }

 private:
  using State = std::optional<std::string>;  // the data; nothing: not there
  struct Known {
    State acknowledged;
    std::vector<State> attempted;  // since then; each may have happened
    std::set<State> ever{State()};
  };

  void live();
  void end_life();
  void flip_bit();
  void check_repaired();
  // Starts, looks, writes, and starts again.
  Result<void> start_twice();
  Result<std::unique_ptr<Store>> open();
  void check(Store& store);
  State state_of(Store& store, const std::string& name);
  Write random_write(const std::string& name, const std::string& data);
  Task<void> write_until_dead(int writer);
  // False: no use going on.
  Task<bool> write_once(std::vector<std::string> names);
  Task<void> make_trouble();
  static std::string data_of(const Object& object);

  Options options_;
  SimEnv sim_;
  PowerCutDisk disk_;
  MetricsRegistry metrics_;
  std::unique_ptr<Store> store_;
  CollectionId pods_ = 0;
  std::map<std::string, Known> known_;
  Revision revision_ = 0;  // the highest that was acknowledged
  std::uint64_t counter_ = 0;
  std::uint64_t acknowledged_ = 0;
  std::uint64_t cuts_while_open_ = 0;
  Flip flip_ = Flip::none;
  std::string flip_story_;
  std::vector<std::string> findings_;
};

}  // namespace codeflare::apiserver
