#pragma once

#include "base/result.h"
#include "sched/internal/matrix.h"

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace codeflare::sched {

// No single amount is larger: sums over any real cluster stay far inside 64 bits.
inline constexpr Amount kAmountMax = Amount{1} << 50;
// The sum of one gang's requests of one resource.
inline constexpr Amount kGangAmountMax = Amount{1} << 56;

// Amounts of a few resources, by number, ascending; never zero.
struct Part {
  Index resource = 0;
  Amount amount = 0;
  friend bool operator==(const Part&, const Part&) = default;
};
using Request = std::vector<Part>;

// Resource names as small numbers. The packing resources come first, in packing order, so that a
// node's sort key is the front of its row.
class ResourceTable {
 public:
  explicit ResourceTable(const std::vector<std::string>& pack);

  Index intern(std::string_view name);
  Index find(std::string_view name) const;  // kNone if never seen
  const std::string& name(Index resource) const { return names_[resource]; }
  Index size() const { return static_cast<Index>(names_.size()); }
  Index pack_size() const { return pack_size_; }
  // The width that matrices need: a power of two.
  std::size_t width() const;

  // Rejects negative and absurd amounts, and names that nobody has offered or asked for before once
  // there are many: every name is a column of every node.
  Result<Request> request(const Resources& resources);
  // For what nodes offer: clamps instead of rejecting.
  Request observed(const Resources& resources);
  // For what is used: the same, but names that nobody has offered, limited or asked for are left
  // out, as they concern nobody.
  Request used(const Resources& resources);
  Resources named(const Request& request) const;

 private:
  Request collect(const Resources& resources);
  static Request clamped(const Request& request);

  std::vector<std::string> names_;
  std::unordered_map<std::string, Index> numbers_;
  Index pack_size_ = 0;
};

inline bool fits(const Amount* available, const Request& request) {
  for (const Part& part : request) {
    if (available[part.resource] < part.amount) {
      return false;
    }
  }
  return true;
}

// How often `request` fits, at most `most`.
std::int64_t times(const Amount* available, const Request& request, std::int64_t most);

// sum += factor x request
void add(Request& sum, const Request& request, std::int64_t factor);
Amount amount_of(const Request& request, Index resource);

}  // namespace codeflare::sched
