#pragma once

#include "apiserver/store/log.h"

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace codeflare::apiserver {

// The content of a "disk" in memory. It outlives the stores opened on it, so that a test or a
// simulation can let a store crash and open the next one on what was committed:
//   auto disk = std::make_shared<MemoryDisk>();
//   store = Store::open(env, open_memory_log(disk), ...);
//   disk->crash();              // from here on that store's log fails
//   co_await store->close();    // its writers hear of the failure
//   store = Store::open(env, open_memory_log(disk), ...);
class MemoryDisk {
 public:
  // The next `count` appends fail with the error. `written`: their writes are kept anyway, as when
  // a machine dies between the sync and the answer.
  struct Fault {
    Error error;
    int count = 1;
    bool written = false;
  };
  void fail_appends(Fault fault);
  void fail_rebuilds(Fault fault);
  // Fences off every log opened so far: whatever they do fails and changes nothing.
  void crash();

  Revision revision() const;
  std::size_t size() const;  // objects
  std::size_t appends() const;
  std::size_t rebuilds() const;

 private:
  friend class MemoryLog;
  struct Row {
    std::string collection;
    Revision revision = 0;
    Bytes text;
  };
  // Used by the loop (faults, counters) and by the thread that commits.
  mutable std::mutex mutex_;
  std::map<Revision, Row> rows_;  // by creation
  Revision revision_ = 0;
  std::size_t appends_ = 0;
  std::size_t rebuilds_ = 0;
  std::size_t epoch_ = 0;
  std::optional<Fault> append_fault_;
  std::optional<Fault> rebuild_fault_;
};

// --durability=memory: durable as long as the process (without a disk of its own, as the log).
std::unique_ptr<Log> open_memory_log(std::shared_ptr<MemoryDisk> disk = nullptr);

}  // namespace codeflare::apiserver
