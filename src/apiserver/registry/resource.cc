#include "apiserver/registry/resource.h"

#include <algorithm>

namespace codeflare::apiserver {

model::Complaints Strategy::check_name(std::string_view name, bool prefix) const {
  // A generated name may be cut behind any character: the dash at its end is not the end.
  if (prefix && name.ends_with('-')) {
    return model::check_dns1123_subdomain(std::string(name.substr(0, name.size() - 1)) + "a");
  }
  return model::check_dns1123_subdomain(name);
}

const ServedVersion* Resource::find_version(std::string_view version) const {
  auto at = std::ranges::find(versions, version, &ServedVersion::version);
  return at == versions.end() ? nullptr : &*at;
}

std::string Resource::api_version(const ServedVersion& version) const {
  return group.empty() ? version.version : group + "/" + version.version;
}

std::string Resource::storage_api_version() const {
  return stored_as.empty() ? api_version(versions[storage_version]) : stored_as;
}

bool Resource::stores(const ServedVersion& version) const {
  return stored_as.empty() && version.version == versions[storage_version].version;
}

bool Resource::is_api_version(const ServedVersion& version, std::string_view text) const {
  if (group.empty()) {
    return text == version.version;
  }
  return text.size() == group.size() + 1 + version.version.size() && text.starts_with(group) &&
         text[group.size()] == '/' && text.ends_with(version.version);
}

bool Resource::has_verb(std::string_view verb) const {
  return std::ranges::find(verbs, verb) != verbs.end();
}

}  // namespace codeflare::apiserver
