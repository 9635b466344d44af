#include "model/resource_list.h"

#include "model/internal/list_life.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace codeflare::model {

namespace {

using Entries = std::vector<ResourceList::Entry>;

// Takes over what `from` has, both in order; what is missing here counts as zero. One pass: people
// may send lists of thousands of names.
template <typename Combine>
void merge(Entries& into, const Entries& from, Combine combine) {
  if (&into == &from) {
    merge(into, Entries(from), combine);
    return;
  }
  Entries merged;
  merged.reserve(into.size() + from.size());
  auto mine = into.begin();
  for (const auto& [name, amount] : from) {
    while (mine != into.end() && mine->first < name) {
      merged.push_back(std::move(*mine++));
    }
    const bool known = mine != into.end() && mine->first == name;
    merged.push_back(known ? std::move(*mine++) : ResourceList::Entry(name, Quantity()));
    combine(merged.back().second, amount);
  }
  merged.insert(merged.end(), std::move_iterator(mine), std::move_iterator(into.end()));
  into = std::move(merged);
}

}  // namespace

ResourceList::ResourceList(std::initializer_list<Entry> entries) {
  for (const Entry& entry : entries) {
    set(entry.first, entry.second);
  }
}

const Quantity* ResourceList::find(std::string_view name) const {
  auto found = std::ranges::lower_bound(entries_, name, {}, &Entry::first);
  return found == entries_.end() || found->first != name ? nullptr : &found->second;
}

Quantity ResourceList::get(std::string_view name) const {
  const Quantity* found = find(name);
  return found == nullptr ? Quantity() : *found;
}

Quantity& ResourceList::at(std::string_view name) {
  auto found = std::ranges::lower_bound(entries_, name, {}, &Entry::first);
  if (found == entries_.end() || found->first != name) {
    found = entries_.emplace(found, std::string(name), Quantity());
  }
  return found->second;
}

void ResourceList::set(std::string_view name, const Quantity& amount) {
  at(name) = amount;
}

bool ResourceList::erase(std::string_view name) {
  return std::erase_if(entries_, [&](const Entry& entry) { return entry.first == name; }) > 0;
}

ResourceList& ResourceList::operator+=(const ResourceList& other) {
  merge(entries_, other.entries_, [](Quantity& mine, const Quantity& more) { mine += more; });
  return *this;
}

ResourceList& ResourceList::operator-=(const ResourceList& other) {
  for (const auto& [name, amount] : other) {
    at(name) -= amount;
  }
  return *this;
}

ResourceList& ResourceList::operator*=(std::int64_t factor) {
  for (Entry& entry : entries_) {
    entry.second *= factor;
  }
  return *this;
}

void ResourceList::raise_to(const ResourceList& other) {
  merge(entries_, other.entries_, [](Quantity& mine, const Quantity& most) {
    if (mine < most) {
      mine = most;
    }
  });
}

bool ResourceList::fits_in(const ResourceList& available) const {
  return std::ranges::all_of(entries_, [&](const Entry& entry) {
    return entry.second.sign() <= 0 || entry.second <= available.get(entry.first);
  });
}

template struct List<ResourceList::Entry>;

}  // namespace codeflare::model
