#include "apiserver/identity/rbac_rule.h"

#include "json/parse.h"
#include "json/write.h"

#include <gtest/gtest.h>

namespace codeflare::apiserver {
namespace {

PolicyRules rules_of(std::string_view text) {
  auto parsed = json::parse(text);
  EXPECT_TRUE(parsed.has_value());
  return read_rules(&parsed->root);
}

struct Case {
  std::string rule;
  Access access;
  bool allowed;
};

TEST(PolicyRule, allows_what_verbs_groups_resources_and_names_say) {
  const std::string pods = R"([{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}])";
  const std::string all = R"([{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}])";
  const std::string scale = R"([{"verbs":["get"],"apiGroups":["apps"],"resources":["*/scale"]}])";
  const std::string named =
      R"([{"verbs":["get"],"apiGroups":[""],"resources":["pods"],"resourceNames":["a","b"]}])";
  const std::string paths = R"([{"verbs":["get"],"nonResourceURLs":["/api/*","/version"]}])";
  const Case cases[] = {
      {pods, {.verb = "get", .resource = "pods"}, true},
      {pods, {.verb = "list", .resource = "pods"}, false},
      {pods, {.verb = "get", .group = "apps", .resource = "pods"}, false},
      {pods, {.verb = "get", .resource = "pods", .subresource = "log"}, false},
      {all, {.verb = "x", .group = "y", .resource = "z", .subresource = "w"}, true},
      {all, {.verb = "get", .path = "/version"}, false},
      {scale,
       {.verb = "get", .group = "apps", .resource = "deployments", .subresource = "scale"},
       true},
      {scale,
       {.verb = "get", .group = "apps", .resource = "deployments", .subresource = "status"},
       false},
      {scale, {.verb = "get", .group = "apps", .resource = "scale"}, false},
      {named, {.verb = "get", .resource = "pods", .name = "b"}, true},
      {named, {.verb = "get", .resource = "pods", .name = "c"}, false},
      {named, {.verb = "get", .resource = "pods"}, false},
      {paths, {.verb = "get", .path = "/version"}, true},
      {paths, {.verb = "get", .path = "/version/"}, false},
      {paths, {.verb = "get", .path = "/api/v1"}, true},
      {paths, {.verb = "get", .path = "/api"}, false},
      {paths, {.verb = "get", .resource = "pods"}, false},
  };
  for (const Case& one : cases) {
    EXPECT_EQ(rules_of(one.rule)[0].allows(one.access), one.allowed)
        << one.rule << ' ' << one.access.verb << ' ' << one.access.resource << '/'
        << one.access.subresource << ' ' << one.access.path;
  }
}

TEST(PolicyRule, survives_a_round_trip_through_json) {
  PolicyRules rules = rules_of(
      R"([{"verbs":["get","list"],"apiGroups":["","apps"],"resources":["pods"],
           "resourceNames":["x"]},{"verbs":["get"],"nonResourceURLs":["/healthz"]},{"verbs":[]}])");
  ASSERT_EQ(rules.size(), 3u);
  json::Arena arena;
  json::Value list = json::Value::array();
  for (const PolicyRule& rule : rules) {
    list.push_back(arena, to_json(arena, rule));
  }
  EXPECT_EQ(read_rules(&list), rules);
  EXPECT_EQ(json::to_text(list.items()[2]), R"({"verbs":[]})");
}

TEST(PolicyRule, malformed_members_grant_nothing) {
  PolicyRules rules = rules_of(R"([{"verbs":"*","apiGroups":[1],"resources":null},7])");
  for (const PolicyRule& rule : rules) {
    EXPECT_FALSE(rule.allows({.verb = "get", .resource = "pods"}));
    EXPECT_FALSE(rule.allows({.verb = "get", .path = "/"}));
  }
}

TEST(MissingRules, are_those_that_no_single_held_rule_covers) {
  PolicyRules held = rules_of(
      R"([{"verbs":["get","list"],"apiGroups":[""],"resources":["pods","*/status"]},
          {"verbs":["*"],"apiGroups":["apps"],"resources":["deployments"],"resourceNames":["web"]},
          {"verbs":["get"],"nonResourceURLs":["/metrics/*"]}])");
  auto missing = [&](std::string_view text) {
    return describe_missing(missing_rules(held, rules_of(text)));
  };
  EXPECT_EQ(missing(R"([{"verbs":["get","list"],"apiGroups":[""],"resources":["pods"]}])"), "");
  EXPECT_EQ(missing(R"([{"verbs":["get"],"apiGroups":[""],"resources":["nodes/status"]}])"), "");
  EXPECT_EQ(missing(R"([{"verbs":["get"],"nonResourceURLs":["/metrics/x","/metrics/*"]}])"), "");
  EXPECT_EQ(missing(R"([{"verbs":["delete"],"apiGroups":["apps"],"resources":["deployments"],
                         "resourceNames":["web"]}])"),
            "");
  EXPECT_EQ(missing(R"([{"verbs":["delete"],"apiGroups":["apps"],"resources":["deployments"]}])"),
            R"({APIGroups:["apps"], Resources:["deployments"], Verbs:["delete"]})");
  EXPECT_EQ(missing(R"([{"verbs":["get","watch","create"],"apiGroups":[""],"resources":["pods"]},
                        {"verbs":["get"],"nonResourceURLs":["/logs"]}])"),
            "{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"watch\" \"create\"]}\n"
            "{NonResourceURLs:[\"/logs\"], Verbs:[\"get\"]}");
  EXPECT_EQ(missing(R"([{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}])"),
            R"({APIGroups:["*"], Resources:["*"], Verbs:["*"]})");
}

}  // namespace
}  // namespace codeflare::apiserver
