#include "apiserver/schema/compile.h"

#include "apiserver/schema/walk.h"
#include "json/parse.h"
#include "json/write.h"

#include <gtest/gtest.h>

#include <array>

namespace codeflare::apiserver::schema {
namespace {

const Node kString{.shape = Shape::string};
const Node kLabels{.shape = Shape::map, .items = &kString};
const std::array<Field, 3> kMetaFields = {{{.name = "generateName", .node = &kString},
                                           {.name = "labels", .node = &kLabels},
                                           {.name = "name", .node = &kString}}};
const Node kMeta{.shape = Shape::structure, .type_name = "ObjectMeta", .fields = kMetaFields};

json::Document read(std::string_view text) {
  auto document = json::parse(text);
  EXPECT_TRUE(document) << text << (document ? "" : document.error().message);
  return std::move(*document);
}

std::string lines(const FieldErrors& errors) {
  std::string all;
  for (const model::StatusCause& cause : errors.causes()) {
    all += (all.empty() ? "" : "\n") + cause.field + ": " + cause.message;
  }
  return all;
}

std::shared_ptr<const CompiledSchema> compiled(std::string_view schema) {
  FieldErrors errors;
  auto result = compile(read(schema).root, {.object_meta = kMeta, .path = "s"}, errors);
  EXPECT_NE(result, nullptr) << lines(errors);
  return result;
}

std::string refusal(std::string_view schema) {
  FieldErrors errors;
  auto result = compile(read(schema).root, {.object_meta = kMeta, .path = "s"}, errors);
  EXPECT_EQ(result == nullptr, !errors.empty());
  return lines(errors);
}

// A schema whose spec is the given one.
std::string with_spec(std::string_view spec) {
  return R"({"type":"object","properties":{"spec":)" + std::string(spec) + "}}";
}

std::string complaints(const CompiledSchema& schema, std::string_view object) {
  json::Document document = read(object);
  FieldErrors errors;
  validate(schema.root(), document.root, nullptr, errors);
  return lines(errors);
}

TEST(Compile, a_custom_resource_prunes_defaults_and_validates) {
  auto schema = compiled(with_spec(R"({"type":"object","required":["size"],"properties":{
    "size":{"type":"integer","format":"int32","minimum":1},
    "mode":{"type":"string","enum":["a","b"],"default":"a"},
    "port":{"x-kubernetes-int-or-string":true,"anyOf":[{"type":"integer"},{"type":"string"}]},
    "limits":{"type":"object","additionalProperties":{"type":"string","pattern":"^[0-9]+$"}},
    "free":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}})"));
  json::Document document = read(R"({"apiVersion":"g/v1","kind":"K","metadata":{"name":"n","x":1},
    "spec":{"size":0,"zzz":1,"port":true,"limits":{"cpu":"1m"},"free":{"deep":{"er":1}}},"other":{}})");
  std::vector<std::string> unknown;
  prune(schema->root(), document.root, &unknown);
  EXPECT_EQ(unknown, (std::vector<std::string>{"metadata.x", "other", "spec.zzz"}));
  apply_defaults(schema->root(), document.arena, document.root);
  EXPECT_EQ(document.root.get({"spec"})->string_or_empty("mode"), "a");
  EXPECT_NE(document.root.get({"spec", "free", "deep", "er"}), nullptr);
  FieldErrors errors;
  validate(schema->root(), document.root, nullptr, errors);
  EXPECT_EQ(
      lines(errors),
      "spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1\n"
      "spec.port: Invalid value: \"boolean\": spec.port in body must be of type integer,string: "
      "\"boolean\"\n"
      "<nil>: Invalid value: \"\": \"spec.port\" must validate at least one schema (anyOf)\n"
      "spec.port: Invalid value: \"boolean\": spec.port in body must be of type integer: "
      "\"boolean\"\n"
      "spec.limits.cpu: Invalid value: \"1m\": spec.limits.cpu in body should match '^[0-9]+$'");
  EXPECT_EQ(complaints(*schema, R"({"spec":{}})"), "spec.size: Required value");
}

TEST(Compile, equal_parts_are_one_node) {
  const std::string part =
      R"({"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}}})";
  auto one = compiled(with_spec(R"({"type":"object","properties":{"x":)" + part + "}}"));
  auto four = compiled(with_spec(
      R"({"type":"object","properties":{"x":)" + part + R"(,"y":)" + part + R"(,"z":)" + part +
      R"(,"w":{"type":"object","description":"differs","properties":{"b":{"type":"integer"},"a":{"type":"string","description":"d"}}}}})"));
  EXPECT_EQ(one->node_count(), four->node_count());
}

TEST(Compile, metadata_may_restrict_the_name_only) {
  auto schema = compiled(
      R"({"type":"object","properties":{"metadata":{"type":"object","properties":{"name":{"type":"string","maxLength":3}}}}})");
  EXPECT_EQ(complaints(*schema, R"({"metadata":{"name":"abcd"}})"),
            "metadata.name: Too long: may not be more than 3 bytes");
  EXPECT_EQ(
      refusal(
          R"({"type":"object","properties":{"metadata":{"type":"object","properties":{"labels":{"type":"object"}}}}})"),
      "s.properties[metadata]: Forbidden: must not specify anything other than name and "
      "generateName, but metadata is implicitly specified");
}

TEST(Compile, embedded_resources_keep_their_metadata) {
  auto schema = compiled(with_spec(
      R"({"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true})"));
  json::Document document = read(
      R"({"spec":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x","bogus":1},"spec":{"a":1}}})");
  prune(schema->root(), document.root, nullptr);
  EXPECT_EQ(json::to_text(document.root),
            R"({"spec":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"},"spec":{"a":1}}})");
}

TEST(Compile, what_is_not_structural_is_refused_in_upstreams_words) {
  EXPECT_EQ(refusal("{}"), "s.type: Required value: must not be empty at the root");
  EXPECT_EQ(
      refusal(with_spec(R"({"properties":{"a":{"type":"string"}}})")),
      "s.properties[spec].type: Required value: must not be empty for specified object fields");
  EXPECT_EQ(refusal(with_spec(R"({"type":"array"})")),
            "s.properties[spec].items: Required value: must be specified");
  EXPECT_EQ(
      refusal(with_spec(
          R"({"type":"object","additionalProperties":{"type":"string"},"properties":{"a":{"type":"string"}}})")),
      "s.properties[spec].additionalProperties: Forbidden: additionalProperties and properties are "
      "mutual exclusive");
  EXPECT_EQ(
      refusal(with_spec(
          R"({"type":"object","properties":{"a":{"type":"string"}},"anyOf":[{"properties":{"a":{"type":"string"},"b":{"minimum":1}}}]})")),
      "s.properties[spec].anyOf[0].properties[a].type: Forbidden: must be empty to be structural\n"
      "s.properties[spec].properties[b]: Required value: because it is defined in "
      "s.properties[spec].anyOf[0].properties[b]");
  EXPECT_EQ(refusal(with_spec(R"({"type":"string","pattern":"("})")).substr(0, 108),
            "s.properties[spec].pattern: Invalid value: \"(\": must be a valid regular expression, "
            "but isn't: error parsing");
  EXPECT_EQ(
      refusal(with_spec(R"({"type":"float"})")),
      R"(s.properties[spec].type: Unsupported value: "float": supported values: "array", "boolean", "integer", "number", "object", "string")");
  EXPECT_EQ(
      refusal(with_spec(
          R"({"type":"array","items":{"type":"object","properties":{"k":{"type":"string"}}},"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"]})")),
      "s.properties[spec].items.properties[k].default: Required value: this property is in "
      "x-kubernetes-list-map-keys, so it must have a default or be a required property");
  EXPECT_EQ(refusal(with_spec(R"({"type":"string","$ref":"#/x"})")),
            "s.properties[spec].$ref: Forbidden: $ref is not supported");
  EXPECT_EQ(refusal(with_spec(R"({"type":"array","uniqueItems":true,"items":{"type":"string"}})")),
            "s.properties[spec].uniqueItems: Forbidden: uniqueItems cannot be set to true since "
            "the runtime complexity becomes quadratic");
}

TEST(Compile, defaults_must_fit_their_own_schema) {
  EXPECT_EQ(
      refusal(
          with_spec(R"({"type":"object","properties":{"n":{"type":"integer","default":"x"}}})")),
      R"(s.properties[spec].properties[n].default: Invalid value: "string":  in body must be of type integer: "string")");
  EXPECT_EQ(refusal(with_spec(
                R"({"type":"object","default":{"x":1},"properties":{"n":{"type":"integer"}}})")),
            R"(s.properties[spec].default: Invalid value: {"x":1}: must not have unknown fields)");
  EXPECT_EQ(refusal(R"({"type":"object","properties":{"kind":{"type":"string","default":"x"}}})"),
            "s.properties[kind].default: Forbidden: must not be set in top-level kind");
}

class FakeRules final : public RuleCompiler {
 public:
  Result<Compiled> compile(const json::Value& rule, const Site& /*place*/) const override {
    if (rule.string_or_empty("rule") == "bad") {
      return fail(invalid_argument("compilation failed"));
    }
    return Compiled{std::make_shared<Says>(),
                    rule.string_or_empty("rule").find("oldSelf") != std::string_view::npos};
  }
  std::uint64_t occurrences_max(const Site& /*place*/) const override { return 1; }

 private:
  class Says final : public Rule {
    bool check(const Subject& subject, RuleBudget&, FieldErrors& errors) const override {
      errors.invalid_text(subject.path, "object",
                          subject.old == nullptr ? "new"
                          : subject.unchanged    ? "same"
                                                 : "changed");
      return true;
    }
  };
};

std::string rule_refusal(std::string_view schema) {
  FieldErrors errors;
  FakeRules rules;
  compile(read(schema).root, {.object_meta = kMeta, .rules = &rules, .path = "s"}, errors);
  return lines(errors);
}

TEST(Compile, rules_are_compiled_and_oldSelf_needs_an_old_value) {
  EXPECT_EQ(
      rule_refusal(with_spec(R"({"type":"string","x-kubernetes-validations":[{"rule":"bad"}]})")),
      R"(s.properties[spec].x-kubernetes-validations[0].rule: Invalid value: {"Rule":"bad","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed)");
  EXPECT_EQ(
      rule_refusal(with_spec(
          R"({"type":"array","items":{"type":"string","x-kubernetes-validations":[{"rule":"oldSelf"}]}})")),
      "s.properties[spec].items.x-kubernetes-validations[0].rule: Invalid value: \"oldSelf\": "
      "oldSelf cannot be used on the uncorrelatable portion of the schema within "
      "s.properties[spec]");
  EXPECT_EQ(
      rule_refusal(with_spec(R"({"type":"string","x-kubernetes-validations":[{"rule":" "}]})")),
      "s.properties[spec].x-kubernetes-validations[0].rule: Required value: rule is not specified");
}

TEST(Compile, rules_run_where_they_stand_with_the_old_value_of_the_same_item) {
  FakeRules rules;
  FieldErrors errors;
  auto schema = compile(
      read(
          with_spec(
              R"({"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":{"type":"object","required":["k"],
    "properties":{"k":{"type":"string"},"v":{"type":"integer"}},"x-kubernetes-validations":[{"rule":"oldSelf"}]}})"))
          .root,
      {.object_meta = kMeta, .rules = &rules, .path = "s"}, errors);
  ASSERT_NE(schema, nullptr) << lines(errors);
  json::Document now = read(R"({"spec":[{"k":"c"},{"k":"b","v":2},{"k":"a","v":1}]})");
  json::Document old = read(R"({"spec":[{"k":"a","v":1},{"k":"b","v":1}]})");
  FieldErrors found;
  validate(schema->root(), now.root, &old.root, found);
  EXPECT_EQ(lines(found),
            "spec[0]: Invalid value: \"object\": new\nspec[1]: Invalid value: \"object\": "
            "changed\nspec[2]: Invalid value: \"object\": same");
  // Rules do not judge what has the wrong shape.
  json::Document wrong = read(R"({"spec":[{}]})");
  FieldErrors shapes;
  validate(schema->root(), wrong.root, nullptr, shapes);
  EXPECT_EQ(
      lines(shapes),
      "spec[0].k: Required value\n<nil>: Invalid value: null: some validation rules were not "
      "checked because the object was invalid; correct the existing errors to complete validation");
}

TEST(Compile, formats_that_nobody_checks_are_named) {
  FieldErrors errors;
  std::vector<std::string> formats;
  compile(
      read(
          with_spec(
              R"({"type":"object","properties":{"a":{"type":"string","format":"funny"},"b":{"type":"integer","format":"int32"},"c":{"type":"string","format":"ipv4"}}})"))
          .root,
      {.object_meta = kMeta, .path = "s", .unknown_formats = &formats}, errors);
  EXPECT_EQ(formats, (std::vector<std::string>{"funny"}));
}

}  // namespace
}  // namespace codeflare::apiserver::schema
