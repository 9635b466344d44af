#pragma once

#include "base/async/loop.h"
#include "base/async/wait_list.h"
#include "elastic/store.h"

#include <cstdint>
#include <map>
#include <string>

namespace codeflare::elastic {

// The documents in this process: for tests, and for a job that runs on one machine by hand.
class MemoryStore final : public Store {
 public:
  explicit MemoryStore(Loop& loop) : loop_(loop) {}
  ~MemoryStore() override;

  Task<Result<StoreEntry>> get(StoreKey key) override;
  std::unique_ptr<StoreWatch> watch(StoreKey key) override;
  Task<Result<void>> put(StoreKey key, std::string value, Duration ttl) override;
  Task<Result<void>> swap(StoreKey key, std::string value, std::string version) override;

 private:
  class Watch;
  struct Kept {
    std::optional<std::string> value{};
    std::uint64_t revision = 0;
    std::optional<TimerId> lease{};
  };
  StoreEntry entry(const StoreKey& key) const;
  void write(const StoreKey& key, std::optional<std::string> value);

  Loop& loop_;
  std::map<StoreKey, Kept> kept_;
  std::uint64_t revision_ = 0;
  WaitList changed_;
};

}  // namespace codeflare::elastic
