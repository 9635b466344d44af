#include "apiserver/identity/rbac_policy.h"

#include "apiserver/identity/internal/binding_index.h"
#include "apiserver/identity/internal/cluster_roles.h"
#include "apiserver/identity/internal/go_text.h"
#include "apiserver/identity/internal/rule_index.h"
#include "apiserver/schema/field_errors.h"

#include <algorithm>
#include <map>
#include <utility>

namespace codeflare::apiserver {

using internal::BindingIndex;
using internal::RbacBinding;
using internal::RuleIndex;

struct RbacPolicy::Impl {
  using Key = std::pair<std::string, std::string>;

  internal::ClusterRoles cluster_roles{};
  std::map<Key, RuleIndex> roles{};  // by namespace and name
  BindingIndex cluster_bindings{};
  std::map<std::string, BindingIndex, std::less<>> bindings{};  // by namespace

  BindingIndex& bindings_in(std::string_view ns) {
    if (ns.empty()) {
      return cluster_bindings;
    }
    auto found = bindings.find(ns);
    return found != bindings.end() ? found->second : bindings[std::string(ns)];
  }

  const RuleIndex* find_role(std::string_view kind, std::string_view ns,
                             std::string_view name) const {
    if (kind == "ClusterRole") {
      return cluster_roles.find(name);
    }
    auto found = kind == "Role" ? roles.find(Key(ns, name)) : roles.end();
    return found == roles.end() ? nullptr : &found->second;
  }

  // Calls visitor(binding, rules or null) for what applies to the user; it returns false to end.
  template <typename Visitor>
  void visit(const User& user, std::string_view ns, Visitor&& visitor) const {
    auto visit_all = [&](const BindingIndex& index) {
      for (const RbacBinding* binding : index.find(user)) {
        if (!visitor(*binding, find_role(binding->role_kind, binding->ns, binding->role_name))) {
          return false;
        }
      }
      return true;
    };
    if (!visit_all(cluster_bindings) || ns.empty()) {
      return;
    }
    if (auto found = bindings.find(ns); found != bindings.end()) {
      visit_all(found->second);
    }
  }
};

namespace {

std::string missing_role_text(std::string_view kind, std::string_view name) {
  if (kind != "Role" && kind != "ClusterRole") {
    return "unsupported role reference kind: " + quote(kind);
  }
  return (kind == "Role" ? "role" : "clusterrole") +
         (".rbac.authorization.k8s.io " + quote(name) + " not found");
}

}  // namespace

RbacPolicy::RbacPolicy() : impl_(std::make_unique<Impl>()) {}
RbacPolicy::~RbacPolicy() = default;

void RbacPolicy::put(RbacKind kind, const json::Value& object) {
  const json::Value* metadata = object.find("metadata");
  if (metadata == nullptr) {
    return;
  }
  std::string_view name = metadata->string_or_empty("name");
  std::string_view ns = metadata->string_or_empty("namespace");
  switch (kind) {
    case RbacKind::cluster_role:
      impl_->cluster_roles.put(name, object);
      return;
    case RbacKind::role:
      impl_->roles.insert_or_assign(Impl::Key(ns, name),
                                    RuleIndex(read_rules(object.find("rules"))));
      return;
    case RbacKind::cluster_role_binding:
      impl_->cluster_bindings.put(internal::read_binding(object, "", name));
      return;
    case RbacKind::role_binding:
      if (!ns.empty()) {
        impl_->bindings_in(ns).put(internal::read_binding(object, ns, name));
      }
      return;
  }
}

void RbacPolicy::remove(RbacKind kind, std::string_view ns, std::string_view name) {
  switch (kind) {
    case RbacKind::cluster_role:
      impl_->cluster_roles.remove(name);
      return;
    case RbacKind::role:
      impl_->roles.erase(Impl::Key(ns, name));
      return;
    case RbacKind::cluster_role_binding:
      impl_->cluster_bindings.remove(name);
      return;
    case RbacKind::role_binding:
      if (auto found = impl_->bindings.find(ns); found != impl_->bindings.end()) {
        found->second.remove(name);
        if (found->second.empty()) {
          impl_->bindings.erase(found);
        }
      }
      return;
  }
}

Authorizer::Decision RbacPolicy::authorize(const User& user, const Access& access) const {
  if (user.is_admin()) {
    return {.allowed = true};
  }
  Decision decision;
  std::vector<std::string> errors;
  const internal::AccessKeys keys(access);
  impl_->visit(user, access.ns, [&](const RbacBinding& binding, const RuleIndex* rules) {
    if (rules == nullptr) {
      errors.push_back(missing_role_text(binding.role_kind, binding.role_name));
      return true;
    }
    if (!rules->allows(keys)) {
      return true;
    }
    decision.allowed = true;
    decision.reason = "RBAC: allowed by " + binding.describe(*binding.subject_of(user));
    return false;
  });
  if (!decision.allowed && !errors.empty()) {
    decision.reason = "RBAC: " + internal::joined_errors(errors);
  }
  return decision;
}

RbacPolicy::Rules RbacPolicy::rules_for(const User& user, std::string_view ns) const {
  Rules out;
  impl_->visit(user, ns, [&](const RbacBinding& binding, const RuleIndex* rules) {
    if (rules == nullptr) {
      out.errors.push_back(missing_role_text(binding.role_kind, binding.role_name));
    } else {
      out.rules.insert(out.rules.end(), rules->rules().begin(), rules->rules().end());
    }
    return true;
  });
  return out;
}

Result<PolicyRules> RbacPolicy::role_rules(std::string_view role_kind, std::string_view ns,
                                           std::string_view name) const {
  const RuleIndex* rules = impl_->find_role(role_kind, ns, name);
  if (rules == nullptr) {
    return fail(not_found(missing_role_text(role_kind, name)));
  }
  return rules->rules();
}

std::vector<RbacPolicy::Outdated> RbacPolicy::outdated_aggregates() const {
  return impl_->cluster_roles.outdated();
}

}  // namespace codeflare::apiserver
