#include "apiserver/cel/rule_compiler.h"

#include "apiserver/schema/builtin.h"
#include "apiserver/schema/walk.h"
#include "json/parse.h"

#include <gtest/gtest.h>

namespace codeflare::apiserver {
namespace {

std::string lines(const FieldErrors& errors) {
  std::string all;
  for (const model::StatusCause& cause : errors.causes()) {
    all += (all.empty() ? "" : "\n") + cause.field + ": " + cause.message;
  }
  return all;
}

// A schema whose spec carries the rule; validates objects with that spec.
struct World {
  explicit World(std::string_view spec_schema, bool limit_rule_costs = true) {
    auto schema =
        json::parse(R"({"type":"object","properties":{"spec":)" + std::string(spec_schema) + "}}");
    EXPECT_TRUE(schema.has_value()) << spec_schema;
    CelRuleCompiler rules;
    FieldErrors errors;
    compiled = schema::compile(schema->root,
                               {.object_meta = schema::object_meta(),
                                .rules = &rules,
                                .limit_rule_costs = limit_rule_costs,
                                .path = "s"},
                               errors);
    refusal = lines(errors);
  }
  std::string check(std::string_view spec, std::string_view old = {}) const {
    EXPECT_NE(compiled, nullptr) << refusal;
    auto object = json::parse("{\"spec\":" + std::string(spec) + "}");
    auto before = json::parse("{\"spec\":" + std::string(old.empty() ? "null" : old) + "}");
    FieldErrors errors;
    schema::validate(compiled->root(), object->root, old.empty() ? nullptr : &before->root, errors);
    return lines(errors);
  }
  std::shared_ptr<const schema::CompiledSchema> compiled;
  std::string refusal;
};

std::string with_rule(std::string_view rule) {
  return R"({"type":"object","properties":{"min":{"type":"integer"},"max":{"type":"integer"},"ratio":{"type":"number"},"at":{"type":"string","format":"date-time"},"names":{"type":"array","items":{"type":"string"}}},
    "x-kubernetes-validations":[)" +
         std::string(rule) + "]}";
}

TEST(CelRule, says_what_failed_in_upstreams_words) {
  World plain(with_rule(R"j({"rule":"self.min <= self.max"})j"));
  EXPECT_EQ(plain.check(R"({"min":1,"max":2})"), "");
  EXPECT_EQ(plain.check(R"({"min":3,"max":2})"),
            R"(spec: Invalid value: "object": failed rule: self.min <= self.max)");
  EXPECT_EQ(
      plain.check(R"({"min":3})"),
      R"(spec: Invalid value: "object": no such key: max evaluating rule: self.min <= self.max)");
  World message(with_rule(
      R"j({"rule":"self.min <= self.max","message":" min above max ","reason":"FieldValueForbidden","fieldPath":".min"})j"));
  EXPECT_EQ(message.check(R"({"min":3,"max":2})"), "spec.min: Forbidden: min above max");
  // Upstream's estimate knows no bound of string(): a new definition with it is rejected.
  World expression(
      with_rule(
          R"j({"rule":"self.min <= self.max","messageExpression":"'min ' + string(self.min) + ' is above ' + string(self.max)"
})j"),
      false);
  EXPECT_EQ(expression.check(R"({"min":3,"max":2})"),
            R"(spec: Invalid value: "object": min 3 is above 2)");
}

TEST(CelRule, knows_the_types_of_the_schema) {
  // Types have no size to upstream's estimate: it rejects a new definition that compares them.
  World world(
      with_rule(
          R"j({"rule":"self.ratio / 2.0 == 0.5 && self.ratio / self.ratio == 1.0 && type(self.at) == type(timestamp('2026-01-01T00:00:00Z')) && self.at > timestamp('2026-01-01T00:00:00Z')"})j"),
      false);
  EXPECT_EQ(world.check(R"({"ratio":1,"at":"2026-01-02T00:00:00+01:00"})"), "");
}

TEST(CelRule, transition_rules_run_on_changes_only) {
  World world(with_rule(R"j({"rule":"self.min == oldSelf.min","message":"immutable"})j"));
  EXPECT_EQ(world.check(R"({"min":1})"), "");
  EXPECT_EQ(world.check(R"({"min":1})", R"({"min":1})"), "");
  EXPECT_EQ(world.check(R"({"min":2})", R"({"min":1})"),
            R"(spec: Invalid value: "object": immutable)");
  World optional(with_rule(
      R"j({"rule":"oldSelf.hasValue() || self.min == 0","optionalOldSelf":true,"message":"starts at zero"})j"));
  EXPECT_EQ(optional.check(R"({"min":1})"), R"(spec: Invalid value: "object": starts at zero)");
  EXPECT_EQ(optional.check(R"({"min":1})", R"({"min":1})"), "");
}

TEST(CelRule, what_was_wrong_before_may_stay) {
  World world(with_rule(R"j({"rule":"self.min <= self.max"})j"));
  EXPECT_EQ(world.check(R"({"min":3,"max":2})", R"({"min":3,"max":2})"), "");
  EXPECT_NE(world.check(R"({"min":4,"max":2})", R"({"min":3,"max":2})"), "");
}

TEST(CelRule, bad_rules_refuse_the_schema) {
  auto refusal = [](std::string_view rule) {
    std::string text = World(with_rule(rule)).refusal;
    std::size_t at = text.find("compilation failed");
    at = at == std::string::npos ? text.find("cel expression") : at;
    return at == std::string::npos ? text : text.substr(at, text.find('\n', at) - at);
  };
  EXPECT_EQ(refusal(R"j({"rule":"self.mni <= 1"})j"),
            "compilation failed: ERROR: <input>:1:5: undefined field 'mni'");
  EXPECT_EQ(refusal(R"j({"rule":"self.names.all(n, n.x == 1 || self.max > 1 || self.nope)"
})j"),
            "compilation failed: ERROR: <input>:1:51: undefined field 'nope'");
  EXPECT_EQ(refusal(R"j({"rule":"has(self.zzz)"
})j"),
            "compilation failed: ERROR: <input>:1:1: undefined field 'zzz'");
  EXPECT_EQ(refusal(R"j({"rule":"self.min + 1"})j"), "cel expression must evaluate to a bool");
  EXPECT_EQ(refusal(R"j({"rule":"self.min <"})j"),
            "compilation failed: ERROR: <input>:1:11: Syntax error: mismatched input '<EOF>'");
}

TEST(CelRule, an_expensive_rule_ends_the_validation) {
  World world(
      with_rule(
          R"j({"rule":"self.names.all(a, self.names.all(b, self.names.all(c, a + b + c != 'x')))"},{"rule":"false"})j"),
      false);
  std::string names = "[";
  for (int i = 0; i < 100; ++i) {
    names += (i == 0 ? "\"n" : ",\"n") + std::to_string(i) + "\"";
  }
  EXPECT_EQ(
      world.check("{\"names\":" + names + "]}"),
      "spec: Invalid value: \"object\": 'operation cancelled: actual cost limit exceeded': no "
      "further validation rules will be run due to call cost exceeds limit for rule: "
      "self.names.all(a, self.names.all(b, self.names.all(c, a + b + c != 'x')))");
}

constexpr std::string_view kAdvice =
    " (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, "
    "maps, and strings are declared)";

TEST(CelRule, a_rule_that_may_cost_too_much_is_rejected_by_its_estimate) {
  World nested(with_rule(R"j({"rule":"self.names.all(a, self.names.all(b, a != b))"})j"));
  EXPECT_EQ(nested.compiled, nullptr);
  EXPECT_EQ(nested.refusal,
            "s.properties[spec].x-kubernetes-validations[0].rule: Forbidden: estimated rule cost "
            "exceeds budget by factor of more than 100x" +
                std::string(kAdvice) +
                "\ns.properties[spec].x-kubernetes-validations[0].rule: Forbidden: contributed to "
                "estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"
                "\ns: Forbidden: x-kubernetes-validations estimated rule cost total for entire "
                "OpenAPIv3 schema exceeds budget by factor of more than 100x" +
                std::string(kAdvice));
  World message(with_rule(
      R"j({"rule":"self.min < 1","messageExpression":"self.names.map(a, self.names.map(b, a + b).join('')).join('')"})j"));
  EXPECT_TRUE(message.refusal.contains(
      "messageExpression: Forbidden: estimated messageExpression cost exceeds budget"))
      << message.refusal;
}

TEST(CelRule, bounds_make_a_rule_cheap_enough) {
  World bounded(
      R"j({"type":"object","properties":{"names":{"type":"array","maxItems":64,"items":{"type":"string","maxLength":63}}},
        "x-kubernetes-validations":[{"rule":"self.names.all(a, self.names.exists_one(b, a == b))"}]})j");
  EXPECT_EQ(bounded.refusal, "");
}

TEST(CelRule, a_rule_of_an_item_counts_for_each_item) {
  auto list_of = [](std::string_view bound) {
    return R"j({"type":"array",)j" + std::string(bound) +
           R"j("items":{"type":"object","properties":{"a":{"type":"string"}},
             "x-kubernetes-validations":[{"rule":"self.a.matches('^[^0-9]*$')"}]}})j";
  };
  EXPECT_EQ(World(list_of(R"("maxItems":10,)")).refusal, "");
  EXPECT_EQ(World(list_of(R"("maxItems":20,)")).refusal,
            "s.properties[spec].items.x-kubernetes-validations[0].rule: Forbidden: estimated rule "
            "cost exceeds budget by factor of 1.9x" +
                std::string(kAdvice));
  EXPECT_TRUE(World(list_of("")).refusal.contains("more than 100x"));
}

}  // namespace
}  // namespace codeflare::apiserver
