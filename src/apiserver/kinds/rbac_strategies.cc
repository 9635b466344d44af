#include "apiserver/kinds/pod_spec.h"
#include "apiserver/kinds/strategies.h"
#include "apiserver/registry/edit.h"

#include <string>

namespace codeflare::apiserver {

namespace {

constexpr std::string_view kGroup = "rbac.authorization.k8s.io";

// RBAC names may hold what a path segment may: "system:node" is one.
model::Complaints check_path_segment(std::string_view name) {
  if (name == "." || name == "..") {
    return {"may not be '" + std::string(name) + "'"};
  }
  model::Complaints complaints;
  for (std::string_view part : {"/", "%"}) {
    if (name.find(part) != std::string_view::npos) {
      complaints.push_back("may not contain '" + std::string(part) + "'");
    }
  }
  return complaints;
}

void validate_rule(const json::Value& rule, bool namespaced, const std::string& at,
                   FieldErrors& errors) {
  if (items_at(rule, "verbs").empty()) {
    errors.required(child(at, "verbs"), "verbs must contain at least one value");
  }
  const json::Value* paths = rule.find("nonResourceURLs");
  if (paths != nullptr && paths->size() > 0) {
    if (namespaced) {
      errors.invalid(child(at, "nonResourceURLs"), show(*paths),
                     "namespaced rules cannot apply to non-resource URLs");
    }
    if (!items_at(rule, "apiGroups").empty() || !items_at(rule, "resources").empty() ||
        !items_at(rule, "resourceNames").empty()) {
      errors.invalid(child(at, "nonResourceURLs"), show(*paths),
                     "rules cannot apply to both regular resources and non-resource URLs");
    }
    return;
  }
  if (items_at(rule, "apiGroups").empty()) {
    errors.required(child(at, "apiGroups"), "resource rules must supply at least one api group");
  }
  if (items_at(rule, "resources").empty()) {
    errors.required(child(at, "resources"), "resource rules must supply at least one resource");
  }
}

class RoleStrategy final : public Strategy {
 public:
  explicit RoleStrategy(bool cluster) : cluster_(cluster) {}
  bool generation() const override { return false; }
  bool allow_create_on_update() const override { return true; }
  model::Complaints check_name(std::string_view name, bool) const override {
    return check_path_segment(name);
  }
  void validate(WriteContext&, const json::Value& role, FieldErrors& errors) const override {
    std::size_t i = 0;
    for (const json::Value& rule : items_at(role, "rules")) {
      validate_rule(rule, !cluster_, at_index("rules", i++), errors);
    }
    const json::Value* aggregation = role.find("aggregationRule");
    if (aggregation == nullptr || !aggregation->is_object()) {
      return;
    }
    const auto selectors = items_at(*aggregation, "clusterRoleSelectors");
    const std::string at = "aggregationRule.clusterRoleSelectors";
    if (selectors.empty()) {
      errors.required(at,
                      "at least one clusterRoleSelector required if aggregationRule is non-nil");
    }
    i = 0;
    for (const json::Value& selector : selectors) {
      validate_label_selector(selector, at_index(at, i++), errors);
    }
  }

 private:
  bool cluster_;
};

class RoleBindingStrategy final : public Strategy {
 public:
  explicit RoleBindingStrategy(bool cluster) : cluster_(cluster) {}
  bool generation() const override { return false; }
  bool allow_create_on_update() const override { return true; }
  model::Complaints check_name(std::string_view name, bool) const override {
    return check_path_segment(name);
  }

  void set_defaults(WriteContext& context, json::Value& binding) const override {
    default_text(context.arena, make_object(context.arena, binding, "roleRef"), "apiGroup", kGroup);
    for (json::Value& subject : items_at(binding, "subjects")) {
      if (subject.is_object() && text_at(subject, "kind") != "ServiceAccount") {
        default_text(context.arena, subject, "apiGroup", kGroup);
      }
    }
  }

  void validate(WriteContext&, const json::Value& binding, FieldErrors& errors) const override {
    const json::Value& role = object_at(binding, "roleRef");
    if (text_at(role, "apiGroup") != kGroup) {
      errors.not_supported("roleRef.apiGroup", quote(text_at(role, "apiGroup")),
                           {std::string(kGroup)});
    }
    const std::string_view kind = text_at(role, "kind");
    if (kind != "ClusterRole" && (cluster_ || kind != "Role")) {
      errors.not_supported("roleRef.kind", quote(kind),
                           cluster_ ? std::vector<std::string>{"ClusterRole"}
                                    : std::vector<std::string>{"Role", "ClusterRole"});
    }
    if (text_at(role, "name").empty()) {
      errors.required("roleRef.name", "");
    }
    std::size_t i = 0;
    for (const json::Value& subject : items_at(binding, "subjects")) {
      validate_subject(subject, at_index("subjects", i++), errors);
    }
  }

  void validate_update(WriteContext&, const json::Value& binding, const json::Value& old,
                       FieldErrors& errors) const override {
    if (!same(binding.find("roleRef"), old.find("roleRef"))) {
      const json::Value& role = object_at(binding, "roleRef");
      errors.invalid("roleRef",
                     "{\"APIGroup\":" + quote(text_at(role, "apiGroup")) +
                         ",\"Kind\":" + quote(text_at(role, "kind")) +
                         ",\"Name\":" + quote(text_at(role, "name")) + "}",
                     "cannot change roleRef");
    }
  }

 private:
  void validate_subject(const json::Value& subject, const std::string& at,
                        FieldErrors& errors) const {
    if (text_at(subject, "name").empty()) {
      errors.required(child(at, "name"), "");
    }
    const std::string_view kind = text_at(subject, "kind");
    const std::string_view group = text_at(subject, "apiGroup");
    if (kind == "ServiceAccount") {
      if (!group.empty()) {
        errors.not_supported(child(at, "apiGroup"), quote(group), {""});
      }
      if (cluster_ && text_at(subject, "namespace").empty()) {
        errors.required(child(at, "namespace"), "");
      }
    } else if (kind == "User" || kind == "Group") {
      if (group != kGroup) {
        errors.not_supported(child(at, "apiGroup"), quote(group), {std::string(kGroup)});
      }
    } else {
      errors.not_supported(child(at, "kind"), quote(kind), {"ServiceAccount", "User", "Group"});
    }
  }

  bool cluster_;
};

}  // namespace

std::shared_ptr<const Strategy> make_role_strategy(bool cluster) {
  return std::make_shared<RoleStrategy>(cluster);
}
std::shared_ptr<const Strategy> make_role_binding_strategy(bool cluster) {
  return std::make_shared<RoleBindingStrategy>(cluster);
}

}  // namespace codeflare::apiserver
