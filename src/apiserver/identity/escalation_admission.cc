#include "apiserver/identity/escalation_admission.h"

#include "apiserver/identity/internal/go_text.h"
#include "apiserver/identity/internal/status_error.h"
#include "apiserver/schema/field_errors.h"

#include <string>
#include <utility>

namespace codeflare::apiserver {

namespace {

constexpr std::string_view kGroup = "rbac.authorization.k8s.io";

About about(const AdmissionRequest& request) {
  const json::Value* metadata = request.object->find("metadata");
  return {.group = kGroup,
          .resource = request.resource.plural,
          .name = metadata != nullptr ? metadata->string_or_empty("name") : std::string_view()};
}

bool gathers(const json::Value* role) {
  const json::Value* selectors =
      role != nullptr ? role->get({"aggregationRule", "clusterRoleSelectors"}) : nullptr;
  return selectors != nullptr && selectors->size() > 0;
}

// Letting go of an object, which the garbage collector does, grants nothing.
bool changes_only_ownership(const AdmissionRequest& request) {
  if (request.old == nullptr) {
    return false;
  }
  json::Arena arena;
  auto stripped = [&](const json::Value& object) {
    json::Value copy = object.clone(arena);
    if (json::Value* metadata = copy.find("metadata")) {
      for (std::string_view key : {"ownerReferences", "finalizers", "managedFields",
                                   "resourceVersion", "selfLink", "generation"}) {
        metadata->erase(key);
      }
    }
    return copy;
  };
  return json::equal(stripped(*request.object), stripped(*request.old));
}

const PolicyRules& everything() {
  static const PolicyRules rules = {
      {.verbs = {"*"}, .api_groups = {"*"}, .resources = {"*"}},
      {.verbs = {"*"}, .non_resource_urls = {"*"}},
  };
  return rules;
}

}  // namespace

Result<void> EscalationAdmission::validate(AdmissionRequest& request) {
  if (request.resource.group != kGroup || request.object == nullptr || request.user.is_admin() ||
      changes_only_ownership(request)) {
    return {};
  }
  std::string_view plural = request.resource.plural;
  if (plural == "roles" || plural == "clusterroles") {
    return check_role(request);
  }
  if (plural == "rolebindings" || plural == "clusterrolebindings") {
    return check_binding(request);
  }
  return {};
}

Result<void> EscalationAdmission::check_role(const AdmissionRequest& request) const {
  const Access escalate{
      .verb = "escalate",
      .group = std::string(kGroup),
      .resource = request.resource.plural,
      .ns = std::string(request.ns),
      // Unknown to the authorizer while the object is being created.
      .name =
          std::string(request.operation == Operation::create ? std::string_view() : request.name)};
  if (policy_.authorize(request.user, escalate).allowed) {
    return {};
  }
  TRY(check_held(request, read_rules(request.object->find("rules"))));
  // The gathered rules of a role are not known beforehand: it can be anything.
  if ((gathers(request.object) || gathers(request.old)) && !check_held(request, everything())) {
    return fail(
        forbidden(about(request), "must have cluster-admin privileges to use the aggregationRule"));
  }
  return {};
}

Result<void> EscalationAdmission::check_binding(const AdmissionRequest& request) const {
  const json::Value* ref = request.object->find("roleRef");
  std::string_view kind = ref != nullptr ? ref->string_or_empty("kind") : std::string_view();
  std::string_view name = ref != nullptr ? ref->string_or_empty("name") : std::string_view();
  std::string_view resource = kind == "ClusterRole" ? "clusterroles" : "roles";
  if (kind != "ClusterRole" && kind != "Role") {
    return fail(internal::wrong_request("unsupported role reference kind: " + quote(kind)));
  }
  const Access bind{.verb = "bind",
                    .group = std::string(ref->string_or_empty("apiGroup")),
                    .resource = std::string(resource),
                    .ns = std::string(request.ns),
                    .name = std::string(name)};
  if (policy_.authorize(request.user, bind).allowed) {
    return {};
  }
  auto rules = policy_.role_rules(kind, request.ns, name);
  if (!rules) {
    // The binding's own resource with the role's name: so upstream says it.
    return fail(internal::object_not_found(
        {.group = kGroup, .resource = request.resource.plural, .name = name}));
  }
  return check_held(request, *rules);
}

Result<void> EscalationAdmission::check_held(const AdmissionRequest& request,
                                             const PolicyRules& rules) const {
  RbacPolicy::Rules held = policy_.rules_for(request.user, request.ns);
  PolicyRules missing = missing_rules(held.rules, rules);
  if (missing.empty()) {
    return {};
  }
  std::string why =
      "user " + quote(request.user.name) + " (groups=" + internal::quote_list(request.user.groups) +
      ") is attempting to grant RBAC permissions not currently held:\n" + describe_missing(missing);
  if (!held.errors.empty()) {
    why += "; resolution errors: [" + internal::joined_errors(held.errors) + ']';
  }
  return fail(forbidden(about(request), why));
}

}  // namespace codeflare::apiserver
