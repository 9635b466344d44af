#include "apiserver/crd/definition.h"

#include "apiserver/crd/names.h"
#include "apiserver/schema/builtin.h"
#include "json/parse.h"
#include "json/write.h"

#include <gtest/gtest.h>

namespace codeflare::apiserver {
namespace {

const WallTime kNow = *parse_rfc3339("2026-01-10T00:00:00Z");

constexpr std::string_view kGood =
    R"({"metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com","scope":"Namespaced",
  "names":{"plural":"widgets","singular":"widget","kind":"Widget","listKind":"WidgetList","shortNames":["wd"],"categories":["all"]},
  "versions":[{"name":"v1beta1","served":true,"storage":false,"deprecated":true,"schema":{"openAPIV3Schema":{"type":"object"}}},
    {"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"size":{"type":"integer"},"color":{"type":"string"}}},"status":{"type":"object"}}}},
     "subresources":{"status":{},"scale":{"specReplicasPath":".spec.size","statusReplicasPath":".status.size"}},
     "selectableFields":[{"jsonPath":".spec.color"}],
     "additionalPrinterColumns":[{"name":"Size","type":"integer","jsonPath":".spec.size"}]}]}})";

struct Outcome {
  CompiledVersions schemas;
  std::string complaints;
};

// Every rule costs more than upstream allows.
class ExpensiveRules final : public schema::RuleCompiler {
 public:
  Result<Compiled> compile(const json::Value& /*rule*/, const Site& /*place*/) const override {
    return Compiled{.rule = std::make_shared<Holds>(), .cost_max = 20'000'000};
  }
  std::uint64_t occurrences_max(const Site& /*place*/) const override { return 1; }

 private:
  class Holds final : public schema::Rule {
    bool check(const Subject& /*subject*/, schema::RuleBudget& /*budget*/,
               FieldErrors& /*errors*/) const override {
      return true;
    }
  };
};

Outcome check(const json::Value& definition, const json::Value* old = nullptr,
              bool limit_rule_costs = true) {
  FieldErrors errors;
  Outcome outcome;
  const ExpensiveRules rules;
  outcome.schemas = validate_definition(
      definition, old,
      {.object_meta = schema::object_meta(), .rules = &rules, .limit_rule_costs = limit_rule_costs},
      errors);
  for (const model::StatusCause& cause : errors.causes()) {
    outcome.complaints +=
        (outcome.complaints.empty() ? "" : "\n") + cause.field + ": " + cause.message;
  }
  return outcome;
}

// The good definition with one JSON text in it replaced.
json::Document changed(std::string_view from, std::string_view to) {
  std::string text(kGood);
  std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  auto document = json::parse(text);
  EXPECT_TRUE(document.has_value()) << text;
  return *std::move(document);
}

std::string complaints(std::string_view from, std::string_view to) {
  json::Document document = changed(from, to);
  return check(document.root).complaints;
}

TEST(Definition, becomes_a_resource_with_all_its_versions) {
  json::Document document = changed("v1beta1", "v1beta1");
  Outcome outcome = check(document.root);
  EXPECT_EQ(outcome.complaints, "");
  EXPECT_EQ(make_resource(document.root, outcome.schemas, 7), nullptr);  // not established yet
  settle_status(document.arena, document.root, {}, kNow);
  auto resource = make_resource(document.root, outcome.schemas, 7);
  ASSERT_NE(resource, nullptr);
  EXPECT_EQ(resource->qualified_name(), "widgets.example.com");
  EXPECT_EQ(resource->kind, "Widget");
  EXPECT_EQ(resource->list_kind, "WidgetList");
  EXPECT_EQ(resource->short_names, std::vector<std::string>{"wd"});
  EXPECT_EQ(resource->categories, std::vector<std::string>{"all"});
  EXPECT_TRUE(resource->namespaced);
  EXPECT_TRUE(resource->custom);
  EXPECT_TRUE(resource->has_verb("create"));
  EXPECT_FALSE(resource->strategy->allow_unconditional_update());
  // v1 is preferred to v1beta1 whatever the order in the definition.
  ASSERT_EQ(resource->versions.size(), 2u);
  EXPECT_EQ(resource->versions[0].version, "v1");
  EXPECT_EQ(resource->storage_version, 0u);
  EXPECT_TRUE(resource->versions[0].has_status);
  EXPECT_EQ(resource->versions[0].scale->spec_replicas_path, ".spec.size");
  EXPECT_EQ(resource->versions[0].subresources.size(), 2u);
  EXPECT_EQ(resource->versions[0].selectable_fields[0].name, "spec.color");
  EXPECT_EQ(resource->versions[0].printer->columns()[1].name, "Size");
  EXPECT_EQ(resource->versions[1].deprecation_warning,
            "example.com/v1beta1 Widget is deprecated; use example.com/v1 Widget");
  EXPECT_EQ(resource->versions[1].printer->columns()[1].name, "Age");
}

TEST(Definition, rules_are_upstreams) {
  EXPECT_EQ(
      complaints("widgets.example.com", "things.example.com"),
      R"(metadata.name: Invalid value: "things.example.com": must be spec.names.plural+"."+spec.group)");
  EXPECT_EQ(
      complaints(R"("storage":true)", R"("storage":false)"),
      R"(spec.versions: Invalid value: ["v1beta1","v1"]: must have exactly one version marked as storage version)");
  EXPECT_EQ(complaints(R"("name":"v1beta1")", R"("name":"v1")"),
            R"(spec.versions: Invalid value: ["v1","v1"]: must contain unique version names)");
  EXPECT_EQ(
      complaints(R"("Namespaced")", R"("Global")"),
      R"(spec.scope: Unsupported value: "Global": supported values: "Cluster", "Namespaced")");
  EXPECT_EQ(complaints(R"("listKind":"WidgetList",)", ""), "spec.names.listKind: Required value");
  EXPECT_EQ(
      complaints(R"("WidgetList")", R"("Widget")"),
      R"(spec.names.listKind: Invalid value: "Widget": kind and listKind may not be the same)");
  EXPECT_EQ(complaints(R"(,"schema":{"openAPIV3Schema":{"type":"object"}})", ""),
            "spec.versions[0].schema.openAPIV3Schema: Required value");
  EXPECT_EQ(
      complaints(R"("jsonPath":".spec.size")", R"("jsonPath":"spec.size")"),
      R"(spec.versions[1].additionalPrinterColumns[0].JSONPath: Invalid value: "spec.size": must be a simple json path starting with .)");
  EXPECT_EQ(
      complaints(R"("specReplicasPath":".spec.size")", R"("specReplicasPath":".status.x")"),
      R"(spec.versions[1].subresources.scale.specReplicasPath: Invalid value: ".status.x": should be a json path under .spec)");
  EXPECT_EQ(
      complaints(R"([{"jsonPath":".spec.color"}])", R"([{"jsonPath":".spec.none"}])"),
      R"(spec.versions[1].selectableFields[0].jsonPath: Invalid value: ".spec.none": is an invalid path: does not refer to a valid field)");
  EXPECT_EQ(
      complaints(R"("openAPIV3Schema":{"type":"object"})",
                 R"("openAPIV3Schema":{"type":"string"})"),
      R"(spec.versions[0].schema.openAPIV3Schema.type: Invalid value: "string": must be object at the root)");
  EXPECT_EQ(complaints(R"("group":"example.com")", R"("group":"k8s.io")").substr(0, 227),
            "metadata.name: Invalid value: \"widgets.example.com\": must be "
            "spec.names.plural+\".\"+spec.group\n"
            "metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups "
            "must have approval annotation \"api-approved.kubern");
}

TEST(Definition, rules_that_cost_too_much_are_rejected_unless_they_are_in_use) {
  constexpr std::string_view kPlain = R"("spec":{"type":"object",)";
  constexpr std::string_view kRuled =
      R"("spec":{"type":"object","x-kubernetes-validations":[{"rule":"true"}],)";
  json::Document plain = changed(kPlain, kPlain);
  json::Document ruled = changed(kPlain, kRuled);
  EXPECT_TRUE(check(ruled.root)
                  .complaints.starts_with(
                      "spec.versions[1].schema.openAPIV3Schema.properties[spec].x-kubernetes-"
                      "validations[0].rule: "
                      "Forbidden: estimated rule cost exceeds budget by factor of 2.0x"))
      << check(ruled.root).complaints;
  EXPECT_NE(check(ruled.root, &plain.root).complaints, "");
  EXPECT_EQ(check(ruled.root, &ruled.root).complaints, "");
  EXPECT_EQ(check(ruled.root, nullptr, false).complaints, "");
}

TEST(Definition, an_established_one_keeps_scope_kind_group_and_plural) {
  json::Document old = changed("v1beta1", "v1beta1");
  settle_status(old.arena, old.root, {}, kNow);
  json::Document now = changed(R"("Namespaced")", R"("Cluster")");
  EXPECT_EQ(check(now.root, &old.root).complaints,
            R"(spec.scope: Invalid value: "Cluster": field is immutable)");
}

TEST(Definition, a_stored_version_may_not_leave) {
  json::Document document = changed("v1beta1", "v1beta1");
  settle_status(document.arena, document.root, {}, kNow);
  EXPECT_EQ(json::to_text(*document.root.get({"status", "storedVersions"})), R"(["v1"])");
  document.root.find("status")->set(document.arena, "storedVersions",
                                    json::parse(R"(["v0","v1"])")->root.clone(document.arena));
  EXPECT_EQ(check(document.root).complaints.substr(0, 76),
            "status.storedVersions[0]: Invalid value: \"v0\": missing from spec.versions; v");
}

TEST(Names, are_accepted_as_far_as_they_are_free) {
  json::Document document = changed("v1beta1", "v1beta1");
  ClaimedNames claimed;
  claimed.resources = {"wd"};
  settle_status(document.arena, document.root, claimed, kNow);
  EXPECT_FALSE(is_condition_true(document.root, "Established"));
  EXPECT_EQ(
      json::to_text(*document.root.get({"status", "conditions"})),
      R"([{"lastTransitionTime":"2026-01-10T00:00:00Z","message":"\"wd\" is already in use","reason":"ShortNamesConflict","status":"False","type":"NamesAccepted"},)"
      R"({"lastTransitionTime":"2026-01-10T00:00:00Z","message":"not all names are accepted","reason":"NotAccepted","status":"False","type":"Established"}])");
  EXPECT_EQ(document.root.get({"status", "acceptedNames", "shortNames"}), nullptr);
  EXPECT_EQ(document.root.get({"status", "acceptedNames"})->string_or_empty("plural"), "widgets");
  settle_status(document.arena, document.root, {}, kNow + std::chrono::seconds(5));
  EXPECT_TRUE(is_condition_true(document.root, "Established"));
  EXPECT_EQ(
      json::to_text(*document.root.get({"status", "acceptedNames"})),
      R"({"categories":["all"],"kind":"Widget","listKind":"WidgetList","plural":"widgets","shortNames":["wd"],"singular":"widget"})");
}

TEST(Definition, may_have_many_versions) {
  std::string versions;
  for (int i = 2; i < 30'000; ++i) {
    versions +=
        R"({"name":"v)" + std::to_string(i) +
        R"(","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object"}}},)";
  }
  const std::string_view first = R"("versions":[)";
  EXPECT_EQ(complaints(first, std::string(first) + versions), "");
}

}  // namespace
}  // namespace codeflare::apiserver
