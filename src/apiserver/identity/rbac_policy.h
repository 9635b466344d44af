#pragma once

#include "apiserver/identity/rbac_rule.h"
#include "apiserver/request/authorizer.h"
#include "base/result.h"
#include "json/value.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::apiserver {

enum class RbacKind : std::uint8_t { role, cluster_role, role_binding, cluster_role_binding };

// Roles and bindings in a form that answers fast: bindings are found by subject, rules by group
// and resource. Members of system:masters may do everything. The rules of an aggregated ClusterRole
// follow its selectors at once, whatever stands in its own rules.
//   RbacPolicy policy;
//   policy.put(RbacKind::cluster_role, object);
//   if (policy.authorize(user, {.verb = "get", .resource = "pods", .ns = "a"}).allowed) ...
class RbacPolicy final : public Authorizer {
 public:
  RbacPolicy();
  ~RbacPolicy() override;

  // Replaces the object of the same name. An unreadable object grants nothing.
  void put(RbacKind kind, const json::Value& object);
  void remove(RbacKind kind, std::string_view ns, std::string_view name);

  Decision authorize(const User& user, const Access& access) const override;

  // All rules that hold for the user in the namespace (cluster-wide ones when it is empty), in the
  // order of their bindings; `errors` names bindings' roles that are missing.
  struct Rules {
    PolicyRules rules{};
    std::vector<std::string> errors{};
  };
  Rules rules_for(const User& user, std::string_view ns) const;

  // The rules behind a roleRef; `ns` is the binding's. `not_found` in upstream's words.
  Result<PolicyRules> role_rules(std::string_view role_kind, std::string_view ns,
                                 std::string_view name) const;

  // Aggregated ClusterRoles whose own rules are not what their selectors gather, in order of name.
  struct Outdated {
    std::string name{};
    PolicyRules rules{};
  };
  std::vector<Outdated> outdated_aggregates() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace codeflare::apiserver
