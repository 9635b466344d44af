#pragma once

#include "json/value.h"
#include "model/resource_list.h"

#include <string>
#include <string_view>
#include <vector>

namespace codeflare::apiserver {

// The usage of one object in a ResourceQuota: "pods", "requests.cpu", "count/jobs.batch" ... Pods
// that have ended count only as objects.
model::ResourceList quota_usage(std::string_view qualified_name, const json::Value& object);

// One scope of a quota, or one expression of its scope selector.
struct QuotaScope {
  std::string name;  // "BestEffort", "PriorityClass", ...
  std::string op = "Exists";
  std::vector<std::string> values{};
};
std::vector<QuotaScope> quota_scopes(const json::Value& quota_spec);
// A quota with scopes counts pods only, those that are in all of them.
bool in_scopes(const std::vector<QuotaScope>& scopes, std::string_view qualified_name,
               const json::Value& object);

// "must specify limits.cpu for: a,b" when the quota bounds cpu or memory and a container leaves it
// open; empty when all is said.
std::string missing_for_quota(const model::ResourceList& hard, const json::Value& pod);

}  // namespace codeflare::apiserver
