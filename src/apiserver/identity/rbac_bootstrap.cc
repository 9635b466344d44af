#include "apiserver/identity/rbac_bootstrap.h"

#include "apiserver/identity/internal/bootstrap_parse.h"
#include "apiserver/identity/internal/bootstrap_table.h"
#include "apiserver/identity/internal/rbac_text.h"
#include "json/parse.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace codeflare::apiserver {

namespace {

using internal::BootstrapBinding;
using internal::BootstrapRole;
using json::Value;

constexpr std::string_view kGroup = "rbac.authorization.k8s.io";
constexpr std::string_view kAutoUpdate = "rbac.authorization.kubernetes.io/autoupdate";
constexpr std::string_view kAggregateTo = "rbac.authorization.k8s.io/aggregate-to-";
constexpr std::string_view kControllers = "system:controller:";

// Builds objects in one arena.
class Maker {
 public:
  explicit Maker(json::Arena& arena) : arena_(arena) {}

  BootstrapObject role(const BootstrapRole& role) {
    RbacKind kind = role.ns.empty() ? RbacKind::cluster_role : RbacKind::role;
    Value object = head(kind, role.ns, role.name);
    Value& labels = *object.find("metadata")->find("labels");
    for (const std::string& other : role.gathered_by) {
      labels.set(arena_, std::string(kAggregateTo) + other, text("true"));
    }
    if (!role.gathers.empty()) {
      Value match = Value::object();
      match.set(arena_, std::string(kAggregateTo) + role.gathers, text("true"));
      object.set_static(arena_, "aggregationRule",
                        member("clusterRoleSelectors", list(member("matchLabels", match))));
    }
    Value rules = Value::array();
    for (const PolicyRule& rule : role.rules) {
      rules.push_back(arena_, to_json(arena_, rule));
    }
    object.set_static(arena_, "rules", rules);
    return {kind, object};
  }

  BootstrapObject binding(const BootstrapBinding& binding) {
    bool cluster = binding.ns.empty();
    RbacKind kind = cluster ? RbacKind::cluster_role_binding : RbacKind::role_binding;
    Value object = head(kind, binding.ns, binding.name);
    Value ref = member("apiGroup", text(kGroup));
    ref.set_static(arena_, "kind", text(cluster ? "ClusterRole" : "Role"));
    ref.set_static(arena_, "name", text(binding.role));
    object.set_static(arena_, "roleRef", ref);
    Value subjects = Value::array();
    for (const BootstrapBinding::Subject& one : binding.subjects) {
      Value subject = member("kind", text(one.kind));
      if (one.kind != "ServiceAccount") {
        subject.set_static(arena_, "apiGroup", text(kGroup));
      }
      subject.set_static(arena_, "name", text(one.name));
      if (!one.ns.empty()) {
        subject.set_static(arena_, "namespace", text(one.ns));
      }
      subjects.push_back(arena_, subject);
    }
    if (subjects.size() > 0) {
      object.set_static(arena_, "subjects", subjects);
    }
    return {kind, object};
  }

 private:
  Value text(std::string_view value) { return Value::string(arena_, value); }
  Value member(std::string_view key, Value value) {
    Value object = Value::object();
    object.set_static(arena_, key, value);
    return object;
  }
  Value list(Value item) {
    Value array = Value::array();
    array.push_back(arena_, item);
    return array;
  }
  Value head(RbacKind kind, const std::string& ns, const std::string& name) {
    Value metadata = member("name", text(name));
    if (!ns.empty()) {
      metadata.set_static(arena_, "namespace", text(ns));
    }
    metadata.set_static(arena_, "labels",
                        member("kubernetes.io/bootstrapping", text("rbac-defaults")));
    metadata.set_static(arena_, "annotations", member(kAutoUpdate, text("true")));
    Value object = member("kind", Value::string_view_of(internal::kind_name(kind)));
    object.set_static(arena_, "apiVersion", text("rbac.authorization.k8s.io/v1"));
    object.set_static(arena_, "metadata", metadata);
    return object;
  }

  json::Arena& arena_;
};

bool is_protected(const Value& object) {
  const Value* value = object.get({"metadata", "annotations", kAutoUpdate});
  return value != nullptr && value->is_string() && value->as_string() == "false";
}

// Completes `object` by members of `wanted` under `key`, both of metadata.
bool add_members(json::Arena& arena, Value& metadata, const Value& wanted, std::string_view key) {
  const Value* more = wanted.find(key);
  Value* have = metadata.find(key);
  if (have == nullptr || !have->is_object()) {
    have = &metadata.set_static(arena, key, Value::object());
  }
  bool changed = false;
  for (const json::Member& member : more->members()) {
    const Value* old = have->find(member.key);
    if (old == nullptr || !json::equal(*old, member.value)) {
      have->set(arena, member.key, member.value);
      changed = true;
    }
  }
  return changed;
}

bool add_rules(json::Arena& arena, Value& object, const Value& wanted) {
  if (const Value* gathers = wanted.find("aggregationRule")) {
    const Value* have = object.get({"aggregationRule", "clusterRoleSelectors"});
    const Value& selector = gathers->find("clusterRoleSelectors")->items()[0];
    bool there = have != nullptr && std::ranges::any_of(have->items(), [&](const Value& one) {
                   return json::equal(one, selector);
                 });
    if (!there) {
      Value selectors = have != nullptr ? *have : Value::array();
      selectors.push_back(arena, selector);
      Value rule = Value::object();
      rule.set_static(arena, "clusterRoleSelectors", selectors);
      object.set_static(arena, "aggregationRule", rule);
    }
    return !there;
  }
  PolicyRules missing =
      missing_rules(read_rules(object.find("rules")), read_rules(wanted.find("rules")));
  if (missing.empty()) {
    return false;
  }
  Value* rules = object.find("rules");
  if (rules == nullptr || !rules->is_array()) {
    rules = &object.set_static(arena, "rules", Value::array());
  }
  for (const PolicyRule& rule : missing) {
    rules->push_back(arena, to_json(arena, rule));
  }
  return true;
}

bool add_subjects(json::Arena& arena, Value& object, const Value& wanted) {
  const Value* more = wanted.find("subjects");
  if (more == nullptr) {
    return false;
  }
  Value* have = object.find("subjects");
  if (have == nullptr || !have->is_array()) {
    have = &object.set_static(arena, "subjects", Value::array());
  }
  bool changed = false;
  for (const Value& subject : more->items()) {
    bool there = std::ranges::any_of(std::as_const(*have).items(),
                                     [&](const Value& one) { return json::equal(one, subject); });
    if (!there) {
      have->push_back(arena, subject);
      changed = true;
    }
  }
  return changed;
}

std::string new_object_text(Env env, json::Arena& arena, RbacKind kind, Value object) {
  Value& metadata = *object.find("metadata");
  metadata.set_static(arena, "uid", Value::string(arena, env.random.uuid()));
  metadata.set_static(arena, "creationTimestamp",
                      Value::string(arena, to_rfc3339(env.clock.wall())));
  return internal::stored_text(kind, object, arena);
}

// The text of the completed object; nothing when it is fine as it is.
std::optional<std::string> completed(json::Arena& arena, RbacKind kind, const Object& stored,
                                     const Value& wanted) {
  auto parsed = json::parse(stored.json());
  if (!parsed || is_protected(parsed->root)) {
    return std::nullopt;
  }
  Value object = parsed->root;
  Value* metadata = object.find("metadata");
  const Value& wanted_metadata = *wanted.find("metadata");
  bool changed = add_members(arena, *metadata, wanted_metadata, "labels");
  changed = add_members(arena, *metadata, wanted_metadata, "annotations") || changed;
  bool is_role = kind == RbacKind::role || kind == RbacKind::cluster_role;
  changed =
      (is_role ? add_rules(arena, object, wanted) : add_subjects(arena, object, wanted)) || changed;
  if (!is_role && !json::equal(*object.find("roleRef"), *wanted.find("roleRef"))) {
    object.set_static(arena, "roleRef", *wanted.find("roleRef"));
    changed = true;
  }
  return changed ? std::optional(internal::stored_text(kind, object, arena)) : std::nullopt;
}

}  // namespace

std::string_view collection_of(RbacKind kind) {
  switch (kind) {
    case RbacKind::role:
      return "roles.rbac.authorization.k8s.io";
    case RbacKind::cluster_role:
      return "clusterroles.rbac.authorization.k8s.io";
    case RbacKind::role_binding:
      return "rolebindings.rbac.authorization.k8s.io";
    case RbacKind::cluster_role_binding:
      return "clusterrolebindings.rbac.authorization.k8s.io";
  }
  return {};
}

std::vector<BootstrapObject> bootstrap_objects(json::Arena& arena) {
  Maker maker(arena);
  std::vector<BootstrapObject> objects;
  for (const BootstrapRole& role : internal::parse_roles(internal::kBootstrapClusterRoles)) {
    objects.push_back(maker.role(role));
  }
  for (BootstrapRole& role : internal::parse_roles(internal::kBootstrapControllerRoles)) {
    BootstrapBinding binding{
        .subjects = {{.kind = "ServiceAccount", .ns = "kube-system", .name = role.name}}};
    role.name = std::string(kControllers) + role.name;
    binding.name = role.name;
    binding.role = role.name;
    objects.push_back(maker.role(role));
    objects.push_back(maker.binding(binding));
  }
  for (const BootstrapRole& role : internal::parse_roles(internal::kBootstrapRoles)) {
    objects.push_back(maker.role(role));
  }
  for (const BootstrapBinding& one : internal::parse_bindings(internal::kBootstrapBindings)) {
    objects.push_back(maker.binding(one));
  }
  return objects;
}

Task<Result<std::size_t>> reconcile_bootstrap_objects(Env env, Store& store) {
  json::Arena arena;
  std::vector<Write> writes;
  for (const BootstrapObject& one : bootstrap_objects(arena)) {
    const Value& metadata = *one.object.find("metadata");
    Write write{.collection = store.collection(collection_of(one.kind)),
                .ns = std::string(metadata.string_or_empty("namespace")),
                .name = std::string(metadata.string_or_empty("name"))};
    ObjectPtr stored = store.get(write.collection, write.ns, write.name);
    if (stored == nullptr) {
      write.text = new_object_text(env, arena, one.kind, one.object);
    } else if (auto text = completed(arena, one.kind, *stored, one.object)) {
      write.op = Write::Op::update;
      write.expected = stored->revision();
      write.text = *std::move(text);
    } else {
      continue;
    }
    writes.push_back(std::move(write));
  }
  std::size_t count = writes.size();
  if (count > 0) {
    CO_TRY(co_await store.commit(std::move(writes)));
  }
  co_return count;
}

}  // namespace codeflare::apiserver
