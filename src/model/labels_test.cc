#include "model/labels.h"

#include "json/parse.h"

#include <gtest/gtest.h>

namespace codeflare::model {
namespace {

Selector selector(std::string_view text) {
  Result<Selector> parsed = Selector::parse(text);
  EXPECT_TRUE(parsed.has_value()) << text << ": " << parsed.error().message;
  return parsed.value_or(Selector::nothing());
}

std::string complaint(std::string_view text) {
  Result<Selector> parsed = Selector::parse(text);
  EXPECT_FALSE(parsed.has_value()) << text;
  return parsed ? "" : parsed.error().message;
}

TEST(Selector, text_becomes_canonical_sorted_by_key_and_value) {
  const std::pair<const char*, const char*> cases[] = {
      {"", ""},
      {"  ", ""},
      {"b, a", "a,b"},
      {"a=1", "a=1"},
      {"a == 1", "a==1"},
      {"a!=1", "a!=1"},
      {"a=", "a="},
      {"a=,b", "a=,b"},
      {"!b,a", "a,!b"},
      {"x in (c,a,b,a)", "x in (a,b,c)"},
      {"x in (foo,,baz),y,z notin ()", "x in (,baz,foo),y,z notin ()"},
      {"x in (,)", "x in ()"},
      {"in in (in),notin notin (notin)", "in in (in),notin notin (notin)"},
      {"n>5,m<3", "m<3,n>5"},
      {"example.com/a in(b)", "example.com/a in (b)"},
      {"a=1,a!=2", "a=1,a!=2"},
  };
  for (const auto& [text, canonical] : cases) {
    EXPECT_EQ(selector(text).to_string(), canonical) << text;
    EXPECT_EQ(selector(canonical), selector(text)) << text;
  }
}

TEST(Selector, bad_text_is_refused_in_the_words_of_kubernetes) {
  EXPECT_EQ(complaint(","), "found ',', expected: !, identifier, or 'end of string'");
  EXPECT_EQ(complaint("a,"), "found '', expected: identifier after ','");
  EXPECT_EQ(complaint("a b"),
            "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt");
  EXPECT_EQ(complaint("a=b c"), "found 'c', expected: ',' or 'end of string'");
  EXPECT_EQ(complaint("!"), "unable to parse requirement: found '', expected: identifier");
  EXPECT_EQ(complaint("!a=b"), "found '=', expected: ',' or 'end of string'");
  EXPECT_EQ(complaint("a in b"), "unable to parse requirement: found 'b' expected: '('");
  EXPECT_EQ(complaint("a in (b"), "unable to parse requirement: found '', expected: ',' or ')'");
  EXPECT_EQ(complaint("a>x"),
            "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' "
            "operators, the value must be an integer");
  EXPECT_TRUE(complaint("a?=b").starts_with(
      "unable to parse requirement: key: Invalid value: \"a?\": name part must consist of"));
  EXPECT_TRUE(complaint("a=b?").starts_with(
      "unable to parse requirement: values[0][a]: Invalid value: \"b?\": a valid label must be"));
  EXPECT_FALSE(complaint(std::string("a=\0", 3)).empty());
}

TEST(Selector, absent_labels_satisfy_only_negations) {
  const StringMap labels = {{"a", "1"}, {"n", "7"}, {"e", ""}};
  for (const char* yes : {"", "a", "a=1", "a in (0,1)", "a!=2", "a notin (2)", "!b", "b!=1",
                          "b notin (1)", "n>6", "n<8", "e=", "e", "a=1,n>6,!z"}) {
    EXPECT_TRUE(selector(yes).matches(labels)) << yes;
  }
  for (const char* no : {"b", "a=2", "a in (0)", "a!=1", "a notin (1)", "!a", "n>7", "n<7", "b>1",
                         "e>0", "a=1,b", "b="}) {
    EXPECT_FALSE(selector(no).matches(labels)) << no;
  }
}

TEST(Selector, all_containers_of_labels_are_seen_alike) {
  const Selector web = selector("app=web,!gone");
  Result<json::Document> document = json::parse(R"({"app":"web","n":1})");
  ASSERT_TRUE(document.has_value());
  EXPECT_TRUE(web.matches(&document->root));
  EXPECT_FALSE(selector("n").matches(&document->root));  // not text: no label
  EXPECT_FALSE(web.matches(static_cast<const json::Value*>(nullptr)));
  EXPECT_TRUE(selector("!app").matches(static_cast<const json::Value*>(nullptr)));
  EXPECT_TRUE(web.matches(std::vector<std::pair<std::string, std::string>>{{"app", "web"}}));
}

TEST(Selector, nothing_matches_nothing_and_everything_everything) {
  EXPECT_FALSE(Selector::nothing().matches(StringMap{}));
  EXPECT_TRUE(Selector().matches(StringMap{}));
  EXPECT_TRUE(Selector().selects_everything());
  EXPECT_FALSE(Selector::nothing().selects_everything());
  EXPECT_TRUE(Selector::nothing().selects_nothing());
}

TEST(Selector, an_exact_value_is_known_for_equality_and_single_sets) {
  EXPECT_EQ(selector("a=1").exact_value("a"), "1");
  EXPECT_EQ(selector("a in (1)").exact_value("a"), "1");
  EXPECT_EQ(selector("a in (1,2)").exact_value("a"), std::nullopt);
  EXPECT_EQ(selector("a!=1").exact_value("a"), std::nullopt);
  EXPECT_EQ(selector("a=1").exact_value("b"), std::nullopt);
}

TEST(LabelSelector, absent_selects_nothing_and_empty_everything) {
  EXPECT_TRUE(to_selector(std::optional<LabelSelector>())->selects_nothing());
  EXPECT_TRUE(to_selector(LabelSelector())->selects_everything());
}

TEST(LabelSelector, labels_and_expressions_become_one_selector) {
  LabelSelector labels;
  labels.match_labels = {{"app", "web"}};
  labels.match_expressions = {{.key = "tier", .op = "In", .values = {"b", "a"}},
                              {.key = "zone", .op = "NotIn", .values = {"x"}},
                              {.key = "a", .op = "Exists"},
                              {.key = "gone", .op = "DoesNotExist"}};
  EXPECT_EQ(to_selector(labels)->to_string(), "a,app=web,!gone,tier in (a,b),zone notin (x)");
}

TEST(LabelSelector, wrong_expressions_are_refused) {
  const auto refuse = [](SelectorExpression expression) {
    LabelSelector labels;
    labels.match_expressions = {std::move(expression)};
    Result<Selector> result = to_selector(labels);
    return result ? "accepted" : result.error().message;
  };
  EXPECT_EQ(refuse({.key = "a", .op = "Gt", .values = {"1"}}),
            "\"Gt\" is not a valid label selector operator");
  EXPECT_EQ(refuse({.key = "a", .op = "In"}),
            "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty");
  EXPECT_EQ(refuse({.key = "a", .op = "Exists", .values = {"1"}}),
            "values: Invalid value: 1 values: values set must be empty for exists and does not "
            "exist");
  EXPECT_TRUE(refuse({.key = "", .op = "Exists"}).starts_with("key: Invalid value: \"\""));
}

TEST(NodeSelector, numbers_can_be_compared) {
  Result<Selector> big = to_node_selector({{.key = "gpus", .op = "Gt", .values = {"3"}}});
  ASSERT_TRUE(big.has_value());
  EXPECT_TRUE(big->matches(StringMap{{"gpus", "4"}}));
  EXPECT_FALSE(big->matches(StringMap{{"gpus", "3"}}));
  EXPECT_FALSE(big->matches(StringMap{{"gpus", "many"}}));
}

}  // namespace
}  // namespace codeflare::model
