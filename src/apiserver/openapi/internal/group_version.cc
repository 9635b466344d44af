#include "apiserver/openapi/internal/group_version.h"

#include <algorithm>

namespace codeflare::apiserver::openapi {

std::vector<GroupVersion> group_versions(const Registry& registry) {
  std::vector<GroupVersion> result;
  for (const Registry::Group& group : registry.groups()) {
    for (const std::string& version : group.versions) {
      GroupVersion entry{group.name, version};
      for (const ResourcePtr& resource : group.resources) {
        const ServedVersion* served = resource->find_version(version);
        if (served != nullptr && served->served) {
          entry.served.push_back({resource, served});
        }
      }
      result.push_back(std::move(entry));
    }
  }
  return result;
}

std::string schema_name(const Resource& resource, const ServedVersion& version) {
  if (version.schema != nullptr && !version.schema->type_name.empty()) {
    return std::string(version.schema->type_name);
  }
  // Groups of custom resources are domains: the other way round, as package names are.
  std::string name;
  std::string_view group = resource.group;
  while (!group.empty()) {
    std::size_t dot = group.rfind('.');
    name.append(dot == std::string_view::npos ? group : group.substr(dot + 1)).push_back('.');
    group = dot == std::string_view::npos ? std::string_view() : group.substr(0, dot);
  }
  return name + version.version + "." + resource.kind;
}

}  // namespace codeflare::apiserver::openapi
