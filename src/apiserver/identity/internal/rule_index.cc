#include "apiserver/identity/internal/rule_index.h"

#include <utility>

namespace codeflare::apiserver::internal {

namespace {

std::string key_of(std::string_view group, std::string_view resource) {
  std::string key;
  key.reserve(group.size() + resource.size() + 1);
  return key.append(resource).append(1, '\n').append(group);
}

}  // namespace

AccessKeys::AccessKeys(const Access& access) : access_(access) {
  if (access.resource.empty()) {
    return;
  }
  auto add = [&](std::string_view resource) {
    keys_[size_++] = key_of(access.group, resource);
    keys_[size_++] = key_of("*", resource);
  };
  add("*");
  if (access.subresource.empty()) {
    add(access.resource);
  } else {
    add(access.resource + '/' + access.subresource);
    add("*/" + access.subresource);
  }
}

RuleIndex::RuleIndex(PolicyRules rules) : rules_(std::move(rules)) {
  for (std::uint32_t i = 0; i < rules_.size(); ++i) {
    for (const std::string& group : rules_[i].api_groups) {
      for (const std::string& resource : rules_[i].resources) {
        by_resource_[key_of(group, resource)].push_back(i);
      }
    }
    if (!rules_[i].non_resource_urls.empty()) {
      with_paths_.push_back(i);
    }
  }
}

bool RuleIndex::allows(const AccessKeys& keys) const {
  const Access& access = keys.access();
  if (access.resource.empty()) {
    for (std::uint32_t i : with_paths_) {
      if (rules_[i].allows(access)) {
        return true;
      }
    }
    return false;
  }
  for (std::size_t k = 0; k < keys.size(); ++k) {
    auto found = by_resource_.find(keys[k]);
    if (found == by_resource_.end()) {
      continue;
    }
    for (std::uint32_t i : found->second) {
      if (rules_[i].allows(access)) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace codeflare::apiserver::internal
