#include "apiserver/identity/internal/cluster_roles.h"

#include "model/codec/codec.h"
#include "model/codec/meta.h"

#include <set>
#include <utility>

namespace codeflare::apiserver::internal {

namespace {

// Nothing when one of the selectors is malformed: such a role keeps its own rules.
std::optional<std::vector<model::Selector>> read_selectors(const json::Value& aggregation) {
  std::vector<model::Selector> selectors;
  const json::Value* list = aggregation.find("clusterRoleSelectors");
  if (list == nullptr) {
    return selectors;
  }
  for (const json::Value& item : list->items()) {
    auto parsed = model::from_json<model::LabelSelector>(item);
    if (!parsed) {
      return std::nullopt;
    }
    auto selector = model::to_selector(*parsed);
    if (!selector) {
      return std::nullopt;
    }
    selectors.push_back(*std::move(selector));
  }
  return selectors;
}

}  // namespace

void ClusterRoles::put(std::string_view name, const json::Value& object) {
  Role role;
  if (const json::Value* labels = object.get({"metadata", "labels"})) {
    for (const json::Member& label : labels->members()) {
      if (label.value.is_string()) {
        role.labels.emplace(label.key, label.value.as_string());
      }
    }
  }
  if (const json::Value* rule = object.find("aggregationRule");
      rule != nullptr && !rule->is_null()) {
    role.selectors = read_selectors(*rule);
  }
  role.own = read_rules(object.find("rules"));
  role.effective = RuleIndex(role.own);
  roles_.insert_or_assign(std::string(name), std::move(role));
  stale_ = true;
}

void ClusterRoles::remove(std::string_view name) {
  if (auto found = roles_.find(name); found != roles_.end()) {
    roles_.erase(found);
    stale_ = true;
  }
}

const RuleIndex* ClusterRoles::find(std::string_view name) const {
  refresh();
  auto found = roles_.find(name);
  return found == roles_.end() ? nullptr : &found->second.effective;
}

std::vector<RbacPolicy::Outdated> ClusterRoles::outdated() const {
  refresh();
  std::vector<RbacPolicy::Outdated> out;
  for (const auto& [name, role] : roles_) {
    if (role.selectors && role.effective.rules() != role.own) {
      out.push_back({name, role.effective.rules()});
    }
  }
  return out;
}

// An aggregated role may select other aggregated ones, so gathering goes on until nothing changes;
// each round reaches one level further. It starts from nothing, so that roles which select each
// other do not keep alive what both have lost.
void ClusterRoles::refresh() const {
  if (!std::exchange(stale_, false)) {
    return;
  }
  std::size_t rounds = 1;
  for (auto& [name, role] : roles_) {
    if (role.selectors) {
      ++rounds;
      role.effective = RuleIndex();
    }
  }
  for (bool changed = true; changed && rounds > 0; --rounds) {
    changed = false;
    for (auto& [name, role] : roles_) {
      if (!role.selectors) {
        continue;
      }
      PolicyRules gathered = gather(name, role);
      if (gathered != role.effective.rules()) {
        role.effective = RuleIndex(std::move(gathered));
        changed = true;
      }
    }
  }
}

PolicyRules ClusterRoles::gather(const std::string& name, const Role& role) const {
  PolicyRules rules;
  std::set<std::string> seen;
  for (const model::Selector& selector : *role.selectors) {
    for (const auto& [other_name, other] : roles_) {
      if (other_name == name || !selector.matches(other.labels)) {
        continue;
      }
      for (const PolicyRule& rule : other.effective.rules()) {
        if (seen.insert(rule.to_string()).second) {
          rules.push_back(rule);
        }
      }
    }
  }
  return rules;
}

}  // namespace codeflare::apiserver::internal
