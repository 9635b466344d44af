#pragma once

#include "apiserver/request/authorizer.h"
#include "json/value.h"

#include <string>
#include <string_view>
#include <vector>

namespace codeflare::apiserver {

// rbac.authorization.k8s.io/v1 PolicyRule. "*" stands for all in verbs, groups, resources and
// paths; resources also take "*/scale", paths a trailing *.
struct PolicyRule {
  std::vector<std::string> verbs{};
  std::vector<std::string> api_groups{};
  std::vector<std::string> resources{};
  std::vector<std::string> resource_names{};  // empty: all
  std::vector<std::string> non_resource_urls{};

  bool allows(const Access& access) const;
  // {APIGroups:[""], Resources:["pods"], Verbs:["get"]}, as errors show it.
  std::string to_string() const;

  friend bool operator==(const PolicyRule&, const PolicyRule&) = default;
};

using PolicyRules = std::vector<PolicyRule>;

// Null and wrongly typed members count as absent: validation is the write's business.
PolicyRules read_rules(const json::Value* rules);
json::Value to_json(json::Arena& arena, const PolicyRule& rule);

// The rules in `wanted` that no rule of `held` covers, one verb and one resource at a time.
PolicyRules missing_rules(const PolicyRules& held, const PolicyRules& wanted);
// The same with the verbs of one resource together, as lines in the order of their text.
std::string describe_missing(const PolicyRules& missing);

}  // namespace codeflare::apiserver
