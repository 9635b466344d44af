#pragma once

#include "sched/spec.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace codeflare::sched {

using Index = std::uint32_t;
inline constexpr Index kNone = ~Index{0};

// Rows of amounts, one column per resource, in one piece of memory. Eight columns, the least
// width, are one cache line.
class Matrix {
 public:
  static constexpr std::size_t kWidthMin = 8;

  explicit Matrix(std::size_t width = kWidthMin) : width_(width) {}

  Amount* row(Index index) { return cells_.data() + std::size_t{index} * width_; }
  const Amount* row(Index index) const { return cells_.data() + std::size_t{index} * width_; }
  std::size_t width() const { return width_; }
  Index rows() const { return static_cast<Index>(cells_.size() / width_); }

  void grow_to(Index rows) { cells_.resize(std::max(cells_.size(), std::size_t{rows} * width_)); }
  void clear_row(Index index) { std::fill_n(row(index), width_, Amount{0}); }
  void copy_row(Index to, const Amount* from) { std::copy_n(from, width_, row(to)); }

  // Makes room for more resources; every row keeps its amounts.
  void widen(std::size_t width) {
    if (width <= width_) {
      return;
    }
    std::vector<Amount> wider(std::size_t{rows()} * width);
    for (std::size_t r = 0; r < rows(); ++r) {
      std::copy_n(cells_.data() + r * width_, width_, wider.data() + r * width);
    }
    cells_ = std::move(wider);
    width_ = width;
  }

  std::size_t memory_bytes() const { return cells_.capacity() * sizeof(Amount); }

 private:
  std::size_t width_;
  std::vector<Amount> cells_;
};

}  // namespace codeflare::sched
