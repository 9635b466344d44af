#include "model/resource_list.h"

#include <algorithm>

namespace codeflare::model {

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
  for (const auto& [name, amount] : other) {
    at(name) += amount;
  }
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
  for (const auto& [name, amount] : other) {
    Quantity& mine = at(name);
    if (mine < amount) {
      mine = amount;
    }
  }
}

bool ResourceList::fits_in(const ResourceList& available) const {
  return std::ranges::all_of(entries_, [&](const Entry& entry) {
    return entry.second.sign() <= 0 || entry.second <= available.get(entry.first);
  });
}

}  // namespace codeflare::model
