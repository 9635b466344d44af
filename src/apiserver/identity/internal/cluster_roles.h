#pragma once

#include "apiserver/identity/internal/rule_index.h"
#include "apiserver/identity/rbac_policy.h"
#include "model/labels.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::apiserver::internal {

// ClusterRoles by name. The rules of aggregated ones are gathered when they are next asked for.
class ClusterRoles {
 public:
  void put(std::string_view name, const json::Value& object);
  void remove(std::string_view name);
  const RuleIndex* find(std::string_view name) const;
  std::vector<RbacPolicy::Outdated> outdated() const;

 private:
  struct Role {
    model::StringMap labels{};
    // Present: the role is aggregated.
    std::optional<std::vector<model::Selector>> selectors{};
    PolicyRules own{};      // as stored
    RuleIndex effective{};  // gathered for aggregated roles, else the own rules
  };
  void refresh() const;
  PolicyRules gather(const std::string& name, const Role& role) const;

  mutable std::map<std::string, Role, std::less<>> roles_;
  mutable bool stale_ = false;
};

}  // namespace codeflare::apiserver::internal
