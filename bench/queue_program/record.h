#pragma once

#include "base/clock.h"
#include "base/time.h"
#include "model/gvk.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace codeflare::bench {

// When workloads were first seen, admitted, evicted and finished, by this process's clock: the same
// for both contestants, and finer than the whole seconds in their objects.
class Record {
 public:
  explicit Record(Clock& clock) : clock_(clock) {}

  // Repetitions change nothing.
  void created(const model::ObjectKey& key);
  void admitted(const model::ObjectKey& key);
  void evicted(const model::ObjectKey& key);
  void finished(const model::ObjectKey& key);

  std::int64_t created_count() const { return static_cast<std::int64_t>(entries_.size()); }
  std::int64_t admitted_count() const { return admitted_count_; }
  std::int64_t evicted_count() const { return evicted_count_; }
  std::int64_t finished_count() const { return finished_count_; }

  // One JSON object: wall time from the first creation to the last end, counts, and for each class
  // how long it took until the first admission and until the last, the one that counted.
  std::string report() const;

 private:
  struct Entry {
    Instant created{};
    std::optional<Instant> first_admitted{};
    std::optional<Instant> last_admitted{};
    std::optional<Instant> finished{};
    bool runs = false;
  };
  Entry& entry(const model::ObjectKey& key);

  Clock& clock_;
  std::map<model::ObjectKey, Entry> entries_;
  std::int64_t admitted_count_ = 0;
  std::int64_t evicted_count_ = 0;
  std::int64_t finished_count_ = 0;
};

}  // namespace codeflare::bench
