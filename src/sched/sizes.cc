#include "sched/sizes.h"

#include <algorithm>
#include <string>

namespace codeflare::sched {

namespace {

// Beyond it nothing is a cluster.
constexpr std::int64_t kSizeMax = std::int64_t{1} << 30;
constexpr std::size_t kListMax = 4096;

Error wrong(const std::string& what) {
  return invalid_argument("sizes: " + what);
}

}  // namespace

Result<void> check_sizes(const Sizes& sizes) {
  if (sizes.min < 1 || sizes.min > kSizeMax) {
    return fail(wrong("minimum " + std::to_string(sizes.min) + " is not between 1 and " +
                      std::to_string(kSizeMax)));
  }
  if (sizes.max < sizes.min || sizes.max > kSizeMax) {
    return fail(wrong("maximum " + std::to_string(sizes.max) + " is not between the minimum " +
                      std::to_string(sizes.min) + " and " + std::to_string(kSizeMax)));
  }
  if (sizes.step < 1) {
    return fail(wrong("step " + std::to_string(sizes.step) + " is less than 1"));
  }
  if (sizes.list.empty()) {
    return {};
  }
  if (sizes.list.size() > kListMax) {
    return fail(wrong("a list of " + std::to_string(sizes.list.size()) + " sizes, at most " +
                      std::to_string(kListMax) + " are allowed"));
  }
  const auto unordered = [](std::int64_t a, std::int64_t b) { return a >= b; };
  if (std::ranges::adjacent_find(sizes.list, unordered) != sizes.list.end()) {
    return fail(wrong("the list is not in ascending order"));
  }
  if (sizes.list.front() != sizes.min || sizes.list.back() != sizes.max) {
    return fail(wrong("the list goes from " + std::to_string(sizes.list.front()) + " to " +
                      std::to_string(sizes.list.back()) + ", the bounds from " +
                      std::to_string(sizes.min) + " to " + std::to_string(sizes.max)));
  }
  return {};
}

std::int64_t size_above(const Sizes& sizes, std::int64_t size) {
  if (size < sizes.min) {
    return sizes.min;
  }
  if (!sizes.list.empty()) {
    const auto next = std::ranges::upper_bound(sizes.list, size);
    return next == sizes.list.end() ? 0 : *next;
  }
  const std::int64_t next = sizes.min + ((size - sizes.min) / sizes.step + 1) * sizes.step;
  return next > sizes.max ? 0 : next;
}

std::int64_t size_within(const Sizes& sizes, std::int64_t size) {
  if (size < sizes.min) {
    return 0;
  }
  size = std::min(size, sizes.max);
  if (!sizes.list.empty()) {
    return *(std::ranges::upper_bound(sizes.list, size) - 1);
  }
  return sizes.min + (size - sizes.min) / sizes.step * sizes.step;
}

}  // namespace codeflare::sched
