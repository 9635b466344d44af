#include "apiserver/registry/registry.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <string_view>

namespace codeflare::apiserver {
namespace {

bool serves(const Resource& resource, std::string_view version) {
  const ServedVersion* found = resource.find_version(version);
  return found != nullptr && found->served;
}

// v<major>[alpha|beta<minor>]; stage 0 is not such a version, 3 is the released one.
struct ParsedVersion {
  int stage = 0;
  std::uint64_t major = 0;
  std::uint64_t minor = 0;
};

ParsedVersion parse_version(std::string_view text) {
  if (text.size() < 2 || text[0] != 'v') {
    return {};
  }
  const char* end = text.data() + text.size();
  ParsedVersion parsed;
  auto [at, error] = std::from_chars(text.data() + 1, end, parsed.major);
  if (error != std::errc() || parsed.major == 0) {
    return {};
  }
  std::string_view rest(at, end);
  if (rest.empty()) {
    parsed.stage = 3;
    return parsed;
  }
  const bool beta = rest.starts_with("beta");
  if (!beta && !rest.starts_with("alpha")) {
    return {};
  }
  rest.remove_prefix(beta ? 4 : 5);
  auto [last, bad] = std::from_chars(rest.data(), end, parsed.minor);
  if (bad != std::errc() || last != end || parsed.minor == 0) {
    return {};
  }
  parsed.stage = beta ? 2 : 1;
  return parsed;
}

}  // namespace

bool version_precedes(std::string_view a, std::string_view b) {
  const ParsedVersion left = parse_version(a);
  const ParsedVersion right = parse_version(b);
  if (left.stage != right.stage) {
    return left.stage > right.stage;
  }
  if (left.stage == 0) {
    return a < b;
  }
  return left.major != right.major ? left.major > right.major : left.minor > right.minor;
}

void Registry::add(Resource resource) {
  auto shared = std::make_shared<const Resource>(std::move(resource));
  if (!shared->custom && std::ranges::find(group_order_, shared->group) == group_order_.end()) {
    group_order_.push_back(shared->group);
  }
  auto [at, fresh] = by_collection_.try_emplace(shared->collection, shared);
  if (!fresh && at->second->group == shared->group && at->second->plural == shared->plural) {
    at->second = shared;
  }
  std::pair key(shared->group, shared->plural);
  by_plural_.insert_or_assign(std::move(key), std::move(shared));
  ++generation_;
}

void Registry::remove(std::string_view group, std::string_view plural) {
  auto at = by_plural_.find(std::pair(group, plural));
  if (at == by_plural_.end()) {
    return;
  }
  auto collection = by_collection_.find(at->second->collection);
  if (collection != by_collection_.end() && collection->second == at->second) {
    by_collection_.erase(collection);
  }
  by_plural_.erase(at);
  ++generation_;
}

ResourcePtr Registry::find(std::string_view group, std::string_view version,
                           std::string_view plural) const {
  ResourcePtr found = find(group, plural);
  return found != nullptr && serves(*found, version) ? found : nullptr;
}

ResourcePtr Registry::find_kind(std::string_view group, std::string_view version,
                                std::string_view kind) const {
  for (auto at = by_plural_.lower_bound(std::pair(group, std::string_view()));
       at != by_plural_.end() && at->first.first == group; ++at) {
    if (at->second->kind == kind && serves(*at->second, version)) {
      return at->second;
    }
  }
  return nullptr;
}

ResourcePtr Registry::find(std::string_view group, std::string_view plural) const {
  auto at = by_plural_.find(std::pair(group, plural));
  return at == by_plural_.end() ? nullptr : at->second;
}

ResourcePtr Registry::find(CollectionId collection) const {
  auto at = by_collection_.find(collection);
  return at == by_collection_.end() ? nullptr : at->second;
}

std::vector<Registry::Group> Registry::groups() const {
  std::vector<Group> groups;
  auto fill = [&](const std::string& name) {
    Group group{.name = name};
    std::set<std::string_view> seen;
    for (auto at = by_plural_.lower_bound(std::pair(std::string_view(name), std::string_view()));
         at != by_plural_.end() && at->first.first == name; ++at) {
      for (const ServedVersion& version : at->second->versions) {
        if (version.served && seen.insert(version.version).second) {
          group.versions.push_back(version.version);
        }
      }
      group.resources.push_back(at->second);
    }
    // Newest first, which is how upstream ranks the versions of its own groups, too.
    std::ranges::sort(group.versions, version_precedes);
    if (!group.versions.empty()) {
      groups.push_back(std::move(group));
    }
  };
  for (const std::string& name : group_order_) {
    fill(name);
  }
  for (auto at = by_plural_.begin(); at != by_plural_.end();) {
    const std::string& name = at->first.first;
    if (std::ranges::find(group_order_, name) == group_order_.end()) {
      fill(name);
    }
    while (at != by_plural_.end() && at->first.first == name) {
      ++at;
    }
  }
  return groups;
}

std::vector<ResourcePtr> Registry::all() const {
  std::vector<ResourcePtr> resources;
  for (const Group& group : groups()) {
    resources.insert(resources.end(), group.resources.begin(), group.resources.end());
  }
  return resources;
}

}  // namespace codeflare::apiserver
