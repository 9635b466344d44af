#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::controllers::job {

// Completion indexes as intervals: "0-2,5,7,8", the way status.completedIndexes is written (two in
// a row with a comma, more with a dash).
class IndexSet {
 public:
  // Parts that are not a number are left out, and so are indexes at or above `completions`.
  static IndexSet parse(std::string_view text, std::int64_t completions);

  void add(std::int64_t index);
  bool has(std::int64_t index) const;
  std::int64_t count() const;
  std::string to_string() const;
  // The lowest `most` indexes below `completions` that are not in the set.
  std::vector<std::int64_t> first_missing(std::size_t most, std::int64_t completions) const;

  friend bool operator==(const IndexSet&, const IndexSet&) = default;

 private:
  struct Interval {
    std::int64_t first = 0;
    std::int64_t last = 0;
    friend bool operator==(const Interval&, const Interval&) = default;
  };
  std::vector<Interval> intervals_;  // ordered, apart by at least one index
};

}  // namespace codeflare::controllers::job
