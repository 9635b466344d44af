#include "kube/internal/discovery_parse.h"

#include "json/parse.h"

#include <algorithm>
#include <map>
#include <utility>

namespace codeflare::kube::internal {

namespace {

using json::Value;

std::span<const Value> items_of(const Value& object, std::string_view key) {
  const Value* value = object.find(key);
  return value == nullptr ? std::span<const Value>() : value->items();
}

std::vector<std::string> strings_of(const Value& object, std::string_view key) {
  std::vector<std::string> strings;
  for (const Value& item : items_of(object, key)) {
    if (item.is_string()) {
      strings.emplace_back(item.as_string());
    }
  }
  return strings;
}

// A resource of an APIGroupDiscoveryList.
std::optional<ApiResource> parse_aggregated(const Value& value, const DiscoveredVersion& in) {
  ApiResource resource;
  resource.type.group = in.group;
  resource.type.version = in.version;
  resource.type.plural = value.string_or_empty("resource");
  resource.type.namespaced = value.string_or_empty("scope") == "Namespaced";
  if (const Value* kind = value.find("responseKind")) {
    resource.type.kind = kind->string_or_empty("kind");
  }
  resource.singular = value.string_or_empty("singularResource");
  resource.short_names = strings_of(value, "shortNames");
  resource.categories = strings_of(value, "categories");
  resource.verbs = strings_of(value, "verbs");
  for (const Value& subresource : items_of(value, "subresources")) {
    resource.subresources.emplace_back(subresource.string_or_empty("subresource"));
  }
  if (resource.type.plural.empty() || resource.type.kind.empty()) {
    return std::nullopt;
  }
  return resource;
}

DiscoveryRoot parse_aggregated(const Value& root) {
  DiscoveryRoot result{.aggregated = true, .versions = {}};
  for (const Value& group : items_of(root, "items")) {
    const Value* metadata = group.find("metadata");
    for (const Value& version : items_of(group, "versions")) {
      DiscoveredVersion found;
      found.group = metadata == nullptr ? std::string_view() : metadata->string_or_empty("name");
      found.version = version.string_or_empty("version");
      found.stale = version.string_or_empty("freshness") == "Stale";
      for (const Value& item : items_of(version, "resources")) {
        if (std::optional<ApiResource> resource = parse_aggregated(item, found)) {
          found.resources.push_back(*std::move(resource));
        }
      }
      if (!found.version.empty()) {
        result.versions.push_back(std::move(found));
      }
    }
  }
  return result;
}

DiscoveryRoot parse_group_list(const Value& root) {
  DiscoveryRoot result;
  for (const Value& group : items_of(root, "groups")) {
    const std::string name(group.string_or_empty("name"));
    std::vector<std::string> versions;
    for (const Value& version : items_of(group, "versions")) {
      versions.emplace_back(version.string_or_empty("version"));
    }
    if (const Value* preferred = group.find("preferredVersion")) {
      auto first = std::ranges::find(versions, preferred->string_or_empty("version"));
      if (first != versions.end()) {
        std::rotate(versions.begin(), first, first + 1);
      }
    }
    for (std::string& version : versions) {
      if (!version.empty() && !name.empty()) {
        result.versions.push_back({.group = name, .version = std::move(version)});
      }
    }
  }
  return result;
}

}  // namespace

Result<DiscoveryRoot> parse_discovery_root(std::string_view body) {
  Result<json::Document> document = json::parse_in_place(body);
  if (!document) {
    return fail(data_loss("discovery: " + document.error().message));
  }
  const Value& root = document->root;
  const std::string_view kind = root.string_or_empty("kind");
  if (kind == "APIGroupDiscoveryList") {
    return parse_aggregated(root);
  }
  if (kind == "APIGroupList") {
    return parse_group_list(root);
  }
  if (kind == "APIVersions") {
    DiscoveryRoot result;
    for (std::string& version : strings_of(root, "versions")) {
      result.versions.push_back({.group = {}, .version = std::move(version)});
    }
    return result;
  }
  return fail(data_loss("discovery: unexpected kind \"" + std::string(kind.substr(0, 60)) + "\""));
}

Result<std::vector<ApiResource>> parse_resource_list(std::string_view body, std::string_view group,
                                                     std::string_view version) {
  Result<json::Document> document = json::parse_in_place(body);
  if (!document || document->root.string_or_empty("kind") != "APIResourceList") {
    return fail(data_loss(
        "discovery: " + (document ? std::string("no APIResourceList") : document.error().message)));
  }
  std::vector<ApiResource> resources;
  std::map<std::string, std::vector<std::string>> subresources;
  for (const Value& item : items_of(document->root, "resources")) {
    const std::string name(item.string_or_empty("name"));
    const std::size_t slash = name.find('/');
    if (slash != std::string::npos) {
      subresources[name.substr(0, slash)].push_back(name.substr(slash + 1));
      continue;
    }
    const Value* namespaced = item.find("namespaced");
    ApiResource resource;
    resource.type = {std::string(group), std::string(version),
                     std::string(item.string_or_empty("kind")), name,
                     namespaced != nullptr && namespaced->is_boolean() && namespaced->as_bool()};
    resource.singular = item.string_or_empty("singularName");
    resource.short_names = strings_of(item, "shortNames");
    resource.categories = strings_of(item, "categories");
    resource.verbs = strings_of(item, "verbs");
    if (!name.empty() && !resource.type.kind.empty()) {
      resources.push_back(std::move(resource));
    }
  }
  for (ApiResource& resource : resources) {
    if (auto at = subresources.find(resource.type.plural); at != subresources.end()) {
      resource.subresources = std::move(at->second);
    }
  }
  return resources;
}

}  // namespace codeflare::kube::internal
