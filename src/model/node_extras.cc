#include "model/node_extras.h"

#include "base/split.h"

#include <string>

namespace codeflare::model {

namespace {

constexpr std::string_view kGivenLabels = "codeflare.dev/given-labels";
constexpr std::string_view kGivenResources = "codeflare.dev/given-resources";

// "a,b": neither labels nor resources have commas in their names.
template <typename Map>
std::string names_of(const Map& map) {
  std::string names;
  for (const auto& [name, value] : map) {
    names += (names.empty() ? "" : ",") + name;
  }
  return names;
}

// As it is there, or not at all.
void take_over(StringMap& to, const StringMap& from, std::string_view key) {
  const std::string_view value = find_or_empty(from, key);
  if (value.empty()) {
    to.erase(std::string(key));
  } else {
    to.insert_or_assign(std::string(key), std::string(value));
  }
}

bool is_extended(std::string_view resource) {
  return resource.contains('/');
}

// Resources that others have added to `known` stay.
ResourceList renewed(const ResourceList& known, ResourceList wanted, std::string_view given) {
  ResourceList others = known;
  for (const std::string_view name : split(given, ',')) {
    others.erase(name);
  }
  for (const auto& [name, amount] : others) {
    if (is_extended(name) && name != kGpuResource && wanted.find(name) == nullptr) {
      wanted.set(name, amount);
    }
  }
  return wanted;
}

}  // namespace

void add_extras(Node& node, const NodeExtras& extras) {
  for (const auto& [key, value] : extras.labels) {
    node.metadata.labels.insert_or_assign(key, value);
  }
  for (const auto& [name, amount] : extras.resources) {
    node.status.capacity.set(name, amount);
    node.status.allocatable.set(name, amount);
  }
  if (!extras.labels.empty()) {
    node.metadata.annotations.insert_or_assign(std::string(kGivenLabels), names_of(extras.labels));
  }
  if (!extras.resources.empty()) {
    node.metadata.annotations.insert_or_assign(std::string(kGivenResources),
                                               names_of(extras.resources));
  }
}

void renew_extras(Node& known, const Node& wanted) {
  StringMap& annotations = known.metadata.annotations;
  for (const std::string_view key : split(find_or_empty(annotations, kGivenLabels), ',')) {
    known.metadata.labels.erase(std::string(key));
  }
  for (const auto& [key, value] : wanted.metadata.labels) {
    known.metadata.labels.insert_or_assign(key, value);
  }
  const std::string_view given = find_or_empty(annotations, kGivenResources);
  known.status.capacity = renewed(known.status.capacity, wanted.status.capacity, given);
  known.status.allocatable = renewed(known.status.allocatable, wanted.status.allocatable, given);
  for (const std::string_view key : {kGivenLabels, kGivenResources}) {
    take_over(annotations, wanted.metadata.annotations, key);
  }
}

}  // namespace codeflare::model
