#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "base/time.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace codeflare::elastic {

// The documents of one TrainingJob.
struct StoreKey {
  enum class Kind : std::uint8_t { membership, member, round };
  Kind kind = Kind::membership;
  std::int32_t index = 0;  // of a member

  static StoreKey membership() { return {.kind = Kind::membership}; }
  static StoreKey member(std::int32_t index) { return {.kind = Kind::member, .index = index}; }
  static StoreKey round() { return {.kind = Kind::round}; }

  // "membership", "member/3", "round".
  std::string to_string() const;
  friend auto operator<=>(const StoreKey&, const StoreKey&) = default;
};

struct StoreEntry {
  std::optional<std::string> value{};  // nothing: not written yet, or its lease has run out
  std::string version{};               // opaque; for swap()

  friend bool operator==(const StoreEntry&, const StoreEntry&) = default;
};

// The value of one key as it changes: the first call yields what is there, later ones wait for
// another value and may skip values in between. Broken connections are waited out; fails only when
// cancelled. Does not outlive its store.
class StoreWatch {
 public:
  virtual ~StoreWatch() = default;
  virtual Task<Result<StoreEntry>> next() = 0;
};

// Where the documents lie: memory_store.h, kubernetes_store.h, etcd_store.h. Loop-bound. One test
// for all of them: store_test.cc.
class Store {
 public:
  virtual ~Store() = default;

  virtual Task<Result<StoreEntry>> get(StoreKey key) = 0;
  virtual std::unique_ptr<StoreWatch> watch(StoreKey key) = 0;
  // Writes a member's value, which is there until `ttl` after the last put of it. Renewing is
  // putting the same value.
  virtual Task<Result<void>> put(StoreKey key, std::string value, Duration ttl) = 0;
  // Writes the membership or the round if it still has that version; `conflict` otherwise. After
  // another error the effect is unknown.
  virtual Task<Result<void>> swap(StoreKey key, std::string value, std::string version) = 0;
};

}  // namespace codeflare::elastic
