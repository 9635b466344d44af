#pragma once

#include "model/list.h"
#include "model/quantity.h"

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace codeflare::model {

// Amounts by resource name ("cpu", "memory", "nvidia.com/gpu"): a sorted vector, because there are
// rarely more than five.
class ResourceList {
 public:
  using Entry = std::pair<std::string, Quantity>;

  ResourceList() = default;
  ResourceList(std::initializer_list<Entry> entries);

  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }
  std::size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }

  const Quantity* find(std::string_view name) const;
  // Zero when absent.
  Quantity get(std::string_view name) const;
  void set(std::string_view name, const Quantity& amount);
  bool erase(std::string_view name);

  // Resources missing on one side count as zero; those of both sides are in the result.
  ResourceList& operator+=(const ResourceList& other);
  ResourceList& operator-=(const ResourceList& other);
  ResourceList& operator*=(std::int64_t factor);
  friend ResourceList operator+(ResourceList a, const ResourceList& b) { return a += b; }
  friend ResourceList operator-(ResourceList a, const ResourceList& b) { return a -= b; }
  friend ResourceList operator*(ResourceList a, std::int64_t factor) { return a *= factor; }
  // The larger amount of each resource.
  void raise_to(const ResourceList& other);

  // Every resource that is asked for here is covered by `available`; zero asks nothing.
  bool fits_in(const ResourceList& available) const;

  friend bool operator==(const ResourceList&, const ResourceList&) = default;

 private:
  Quantity& at(std::string_view name);

  List<Entry> entries_;
};

}  // namespace codeflare::model
