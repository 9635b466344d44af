#include "apiserver/identity/internal/access_reviews.h"

#include "apiserver/identity/internal/go_text.h"
#include "apiserver/identity/internal/review_object.h"
#include "apiserver/identity/internal/status_error.h"
#include "apiserver/schema/field_errors.h"

#include <string>
#include <utility>

namespace codeflare::apiserver::internal {

namespace {

using json::Value;

constexpr std::string_view kGroup = "authorization.k8s.io";

enum class Whom : std::uint8_t { self, anybody, anybody_here };

std::string text_at(const Value& parent, std::string_view key) {
  return std::string(parent.string_or_empty(key));
}

Access access_of(const Value& spec) {
  if (const Value* path = object_at(spec, "nonResourceAttributes")) {
    return {.verb = text_at(*path, "verb"), .path = text_at(*path, "path")};
  }
  const Value& wanted = *object_at(spec, "resourceAttributes");
  Access access{.verb = text_at(wanted, "verb"),
                .group = text_at(wanted, "group"),
                .resource = text_at(wanted, "resource"),
                .subresource = text_at(wanted, "subresource"),
                .ns = text_at(wanted, "namespace"),
                .name = text_at(wanted, "name")};
  if (access.resource.empty()) {
    // Still a question about resources, not about paths; only rules for all of them match.
    access.resource = "*";
  }
  return access;
}

User user_of(const Value& spec) {
  User user{.name = text_at(spec, "user"),
            .uid = text_at(spec, "uid"),
            .groups = strings_at(spec, "groups")};
  if (const Value* extra = object_at(spec, "extra")) {
    for (const json::Member& member : extra->members()) {
      user.extra[std::string(member.key)] = strings_at(*extra, member.key);
    }
  }
  return user;
}

// The names of the fields are those of upstream's own type.
std::string show_path(const Value& attributes) {
  return R"({"Path":)" + quote(attributes.string_or_empty("path")) + R"(,"Verb":)" +
         quote(attributes.string_or_empty("verb")) + '}';
}

// A review has no name; one in a namespace may say which.
void check_metadata(const Value& review, bool namespaced, FieldErrors& errors) {
  const Value* metadata = object_at(review, "metadata");
  if (metadata == nullptr) {
    return;
  }
  for (const json::Member& member : metadata->members()) {
    bool fine = member.key == "managedFields" || (namespaced && member.key == "namespace") ||
                member.value.is_null();
    if (!fine) {
      errors.invalid("metadata", show(*metadata),
                     namespaced ? "must be empty except for namespace" : "must be empty");
      return;
    }
  }
}

void check_selector(const Value& wanted, std::string_view key, FieldErrors& errors) {
  const Value* selector = object_at(wanted, key);
  if (selector == nullptr) {
    return;
  }
  std::string path = "spec.resourceAttributes." + std::string(key);
  std::string_view raw = selector->string_or_empty("rawSelector");
  const Value* requirements = selector->find("requirements");
  bool has_requirements = requirements != nullptr && requirements->size() > 0;
  if (!raw.empty() && has_requirements) {
    errors.invalid_text(path + ".rawSelector", raw,
                        "may not specified at the same time as requirements");
  }
  if (raw.empty() && !has_requirements) {
    errors.required(path + ".requirements",
                    "when " + path + " is specified, requirements or rawSelector is required");
  }
}

// Answers whether somebody may do something.
class AccessReview final : public VirtualResource {
 public:
  AccessReview(const RbacPolicy& policy, Whom whom) : policy_(policy), whom_(whom) {}

  Task<Result<Value>> create(Call& call) override { co_return answer(call); }

 private:
  Result<Value> answer(Call& call) const {
    const Value* found = object_at(call.body, "spec");
    Value spec = found != nullptr ? *found : Value::object();
    FieldErrors errors;
    check(call, spec, errors);
    if (!errors.empty()) {
      // Upstream leaves the kind out here.
      return fail(errors.to_error(kGroup, "", ""));
    }
    Authorizer::Decision decision =
        policy_.authorize(whom_ == Whom::self ? call.user : user_of(spec), access_of(spec));
    Value status = Value::object();
    status.set_static(call.arena, "allowed", Value::boolean(decision.allowed));
    if (!decision.reason.empty()) {
      status.set_static(call.arena, "reason", Value::string(call.arena, decision.reason));
    }
    return answered(call, status);
  }

  void check(const Call& call, const Value& spec, FieldErrors& errors) const {
    const Value* resource = object_at(spec, "resourceAttributes");
    const Value* path = object_at(spec, "nonResourceAttributes");
    if (resource != nullptr && path != nullptr) {
      errors.invalid("spec.nonResourceAttributes", show_path(*path),
                     "cannot be specified in combination with resourceAttributes");
    }
    if (resource == nullptr && path == nullptr) {
      errors.invalid(
          "spec.resourceAttributes", "null",
          "exactly one of nonResourceAttributes or resourceAttributes must be specified");
    }
    if (whom_ != Whom::self && spec.string_or_empty("user").empty() &&
        strings_at(spec, "groups").empty()) {
      errors.invalid_text("spec.user", "", "at least one of user or group must be specified");
    }
    if (resource != nullptr) {
      check_selector(*resource, "fieldSelector", errors);
      check_selector(*resource, "labelSelector", errors);
    }
    check_metadata(call.body, whom_ == Whom::anybody_here, errors);
    if (whom_ == Whom::anybody_here) {
      check_place(call, resource, path, errors);
    }
  }

  static void check_place(const Call& call, const Value* resource, const Value* path,
                          FieldErrors& errors) {
    if (resource != nullptr && resource->string_or_empty("namespace") != call.info.ns) {
      errors.invalid_text("spec.resourceAttributes.namespace",
                          resource->string_or_empty("namespace"), "must match metadata.namespace");
    }
    if (path != nullptr) {
      errors.invalid("spec.nonResourceAttributes", show_path(*path),
                     "disallowed on this kind of request");
    }
  }

  const RbacPolicy& policy_;
  Whom whom_;
};

// Lists what the caller may do in a namespace.
class SelfRulesReview final : public VirtualResource {
 public:
  explicit SelfRulesReview(const RbacPolicy& policy) : policy_(policy) {}

  Task<Result<Value>> create(Call& call) override { co_return answer(call); }

 private:
  Result<Value> answer(Call& call) const {
    const Value* spec = object_at(call.body, "spec");
    std::string ns = spec != nullptr ? text_at(*spec, "namespace") : std::string();
    if (ns.empty()) {
      return fail(wrong_request("no namespace on request"));
    }
    RbacPolicy::Rules rules = policy_.rules_for(call.user, ns);
    json::Arena& arena = call.arena;
    Value resources = Value::array();
    Value paths = Value::array();
    for (const PolicyRule& rule : rules.rules) {
      if (!rule.resources.empty()) {
        PolicyRule part = rule;
        part.non_resource_urls.clear();
        resources.push_back(arena, to_json(arena, part));
      }
      if (!rule.non_resource_urls.empty()) {
        paths.push_back(arena, to_json(arena, {.verbs = rule.verbs,
                                               .non_resource_urls = rule.non_resource_urls}));
      }
    }
    Value status = Value::object();
    status.set_static(arena, "resourceRules", resources);
    status.set_static(arena, "nonResourceRules", paths);
    status.set_static(arena, "incomplete", Value::boolean(false));
    if (!rules.errors.empty()) {
      status.set_static(arena, "evaluationError",
                        Value::string(arena, joined_errors(rules.errors)));
    }
    // The answer does not repeat the question.
    call.body.set_static(arena, "spec", Value::object());
    return answered(call, status);
  }

  const RbacPolicy& policy_;
};

}  // namespace

std::unique_ptr<VirtualResource> make_self_access_review(const RbacPolicy& policy) {
  return std::make_unique<AccessReview>(policy, Whom::self);
}
std::unique_ptr<VirtualResource> make_access_review(const RbacPolicy& policy) {
  return std::make_unique<AccessReview>(policy, Whom::anybody);
}
std::unique_ptr<VirtualResource> make_local_access_review(const RbacPolicy& policy) {
  return std::make_unique<AccessReview>(policy, Whom::anybody_here);
}
std::unique_ptr<VirtualResource> make_self_rules_review(const RbacPolicy& policy) {
  return std::make_unique<SelfRulesReview>(policy);
}

}  // namespace codeflare::apiserver::internal
