#include "apiserver/schema/checks.h"
#include "apiserver/schema/walk.h"
#include "json/parse.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

namespace codeflare::apiserver::schema {
namespace {

json::Document read(std::string_view text) {
  auto document = json::parse(text);
  EXPECT_TRUE(document) << text;
  return std::move(*document);
}

// All causes of {"v": VALUE} under a schema for `v`, one per line.
std::string complaints(const Node& node, std::string_view value, std::string_view old = {}) {
  const std::array<Field, 1> fields = {{{.name = "v", .node = &node}}};
  const Node root{.shape = Shape::structure, .fields = fields, .checks = nullptr};
  json::Document document = read("{\"v\":" + std::string(value) + "}");
  std::optional<json::Document> before;
  if (!old.empty()) {
    before = read("{\"v\":" + std::string(old) + "}");
  }
  FieldErrors errors;
  validate(root, document.root, before ? &before->root : nullptr, errors);
  std::string lines;
  for (const model::StatusCause& cause : errors.causes()) {
    lines += (lines.empty() ? "" : "\n") + cause.field + ": " + cause.message;
  }
  return lines;
}

TEST(Validate, types_are_checked_in_upstreams_words) {
  const Node integer{.shape = Shape::integer, .bits = 32};
  EXPECT_EQ(complaints(integer, R"("x")"),
            R"(v: Invalid value: "string": v in body must be of type integer: "string")");
  EXPECT_EQ(complaints(integer, "1.5"),
            R"(v: Invalid value: "number": v in body must be of type integer: "number")");
  EXPECT_EQ(complaints(integer, "2.0"), "");
  EXPECT_EQ(complaints(integer, "null"),
            R"(v: Invalid value: "null": v in body must be of type integer: "null")");
  const Node nullable{.shape = Shape::integer, .nullable = true};
  EXPECT_EQ(complaints(nullable, "null"), "");
  const Node either{.shape = Shape::int_or_string};
  EXPECT_EQ(complaints(either, "\"50%\""), "");
  EXPECT_EQ(complaints(either, "true"),
            R"(v: Invalid value: "boolean": v in body must be of type integer,string: "boolean")");
}

TEST(Validate, bounds_of_numbers) {
  const Checks checks{.minimum = 0, .maximum = 10, .multiple_of = 2, .exclusive_maximum = true};
  const Node node{.shape = Shape::integer, .checks = &checks};
  EXPECT_EQ(complaints(node, "8"), "");
  EXPECT_EQ(complaints(node, "-2"),
            "v: Invalid value: -2: v in body should be greater than or equal to 0");
  EXPECT_EQ(complaints(node, "10"), "v: Invalid value: 10: v in body should be less than 10");
  EXPECT_EQ(complaints(node, "3"), "v: Invalid value: 3: v in body should be a multiple of 2");
  const Checks huge{.minimum = -1e300, .maximum = 1e300};
  const Node wide{.shape = Shape::integer, .checks = &huge};
  EXPECT_EQ(complaints(wide, "9223372036854775807"), "");
  const Checks fraction{.minimum = 0.5};
  const Node number{.shape = Shape::number, .checks = &fraction};
  EXPECT_EQ(complaints(number, "0.25"),
            "v: Invalid value: 0.25: v in body should be greater than or equal to 0.5");
}

TEST(Validate, strings_by_length_pattern_format_and_choice) {
  Checks checks{.pattern = *Pattern::compile("^[a-z]+$"), .length_min = 2, .length_max = 3};
  const Node node{.shape = Shape::string, .checks = &checks};
  EXPECT_EQ(complaints(node, "\"abc\""), "");
  EXPECT_EQ(complaints(node, "\"a\""),
            R"(v: Invalid value: "a": v in body should be at least 2 chars long)");
  EXPECT_EQ(complaints(node, "\"abcd\""), "v: Too long: may not be more than 3 bytes");
  EXPECT_EQ(complaints(node, "\"A1\""),
            R"(v: Invalid value: "A1": v in body should match '^[a-z]+$')");
  json::Document choices = read(R"(["A","B"])");
  const Checks choice{.enumeration = {choices.root.items()[0], choices.root.items()[1]}};
  const Node chosen{.shape = Shape::string, .checks = &choice};
  EXPECT_EQ(complaints(chosen, "\"A\""), "");
  EXPECT_EQ(complaints(chosen, "\"C\""),
            R"(v: Unsupported value: "C": supported values: "A", "B")");
  const Checks time{.format = "date-time"};
  const Node timed{.shape = Shape::string, .checks = &time};
  EXPECT_EQ(complaints(timed, "\"2026-01-02T03:04:05.5Z\""), "");
  EXPECT_EQ(complaints(timed, "\"x\""),
            R"(v: Invalid value: "x": v in body must be of type date-time: "x")");
}

TEST(Validate, required_fields_and_sizes) {
  const Node text{.shape = Shape::string};
  const std::array<Field, 1> fields = {{{.name = "a", .node = &text, .required = true}}};
  const Checks checks{.required = {"a", "b"}, .properties_max = 2};
  const Node node{.shape = Shape::structure, .fields = fields, .checks = &checks};
  EXPECT_EQ(complaints(node, R"({"b":1})"), "v.a: Required value");
  EXPECT_EQ(complaints(node, R"({"a":"","b":1,"c":1})"),
            "v: Too many: 3: must have at most 2 items");
  const Checks sizes{.items_min = 1, .items_max = 2};
  const Node list{.shape = Shape::list, .items = &text, .checks = &sizes};
  EXPECT_EQ(complaints(list, "[]"), "v: Invalid value: 0: v in body should have at least 1 items");
  EXPECT_EQ(complaints(list, R"(["a","b","c"])"), "v: Too many: 3: must have at most 2 items");
  EXPECT_EQ(complaints(list, R"(["a",1])"),
            R"(v[1]: Invalid value: "integer": v[1] in body must be of type string: "integer")");
}

TEST(Validate, branches) {
  const Checks needs_a{.required = {"a"}};
  const Checks needs_b{.required = {"b"}};
  const Node a{.checks = &needs_a};
  const Node b{.checks = &needs_b};
  const Checks any{.any_of = {&a, &b}};
  const Node any_node{.shape = Shape::map, .checks = &any};
  EXPECT_EQ(complaints(any_node, R"({"b":1})"), "");
  EXPECT_EQ(complaints(any_node, "{}"),
            "<nil>: Invalid value: \"\": \"v\" must validate at least one schema (anyOf)\nv.a: "
            "Required value");
  const Checks one{.one_of = {&a, &b}};
  const Node one_node{.shape = Shape::map, .checks = &one};
  EXPECT_EQ(complaints(one_node, R"({"a":1,"b":1})"),
            "<nil>: Invalid value: \"\": \"v\" must validate one and only one schema (oneOf). "
            "Found 2 valid alternatives");
  const Checks never{.negated = &a};
  const Node never_node{.shape = Shape::map, .checks = &never};
  EXPECT_EQ(complaints(never_node, R"({"a":1})"),
            "<nil>: Invalid value: \"\": \"v\" must not validate the schema (not)");
  const Checks all{.all_of = {&a, &b}};
  const Node all_node{.shape = Shape::map, .checks = &all};
  EXPECT_EQ(complaints(all_node, R"({"a":1})"),
            "v.b: Required value\n<nil>: Invalid value: \"\": \"v\" must validate all the schemas "
            "(allOf)");
}

TEST(Validate, sets_and_keyed_lists_hold_nothing_twice) {
  const Node text{.shape = Shape::string};
  const Node set{.shape = Shape::list, .list_type = ListType::set, .items = &text};
  EXPECT_EQ(complaints(set, R"(["a","b","a","a"])"), R"(v[2]: Duplicate value: "a")");
  const std::array<std::string_view, 1> keys = {"name"};
  const std::array<Field, 1> fields = {{{.name = "name", .node = &text}}};
  const Node item{.shape = Shape::structure, .fields = fields};
  const Node keyed{
      .shape = Shape::list, .list_type = ListType::map, .items = &item, .map_keys = keys};
  EXPECT_EQ(complaints(keyed, R"([{"name":"a"},{"name":"a"}])"),
            R"(v[1]: Duplicate value: {"name":"a"})");
  // An old object that already broke the rule is not held to it.
  EXPECT_EQ(complaints(keyed, R"([{"name":"a"},{"name":"a"}])", R"([{"name":"b"},{"name":"b"}])"),
            "");
}

TEST(Validate, embedded_resources_say_what_they_are) {
  const Node embedded{
      .shape = Shape::structure, .preserve_unknown = true, .embedded_resource = true};
  EXPECT_EQ(complaints(embedded, R"({"apiVersion":"v1","kind":"Pod"})"), "");
  EXPECT_EQ(complaints(embedded, R"({"kind":"-"})").substr(0, 60),
            "v.apiVersion: Required value\nv.kind: Invalid value: \"-\": may");
}

TEST(Validate, unchanged_values_may_stay_wrong) {
  const Checks checks{.maximum = 5};
  const Node number{.shape = Shape::integer, .checks = &checks};
  const Node text{.shape = Shape::string};
  const std::array<std::string_view, 1> keys = {"name"};
  const std::array<Field, 2> fields = {
      {{.name = "n", .node = &number}, {.name = "name", .node = &text}}};
  const Node item{.shape = Shape::structure, .fields = fields};
  const Node keyed{
      .shape = Shape::list, .list_type = ListType::map, .items = &item, .map_keys = keys};
  EXPECT_EQ(
      complaints(keyed, R"([{"name":"b","n":1},{"name":"a","n":9}])", R"([{"name":"a","n":9}])"),
      "");
  EXPECT_NE(complaints(keyed, R"([{"name":"a","n":8}])", R"([{"name":"a","n":9}])"), "");
  const Node atomic{.shape = Shape::list, .items = &item};
  EXPECT_NE(complaints(atomic, R"([{"name":"a","n":9},{"name":"b"}])", R"([{"name":"a","n":9}])"),
            "");
}

TEST(Formats, are_known_with_and_without_dashes) {
  EXPECT_TRUE(format_is_known("date-time"));
  EXPECT_TRUE(format_is_known("datetime"));
  EXPECT_FALSE(format_is_known("int32"));
}

TEST(Formats, accept_what_they_name) {
  struct Case {
    std::string_view format;
    std::string_view good;
    std::string_view bad;
  };
  for (const Case& c :
       std::vector<Case>{{"ipv4", "10.0.0.1", "10.0.0.256"},
                         {"ipv4", "010.0.0.1", "10.0.0"},
                         {"ipv6", "fe80::1", "10.0.0.1"},
                         {"cidr", "10.0.0.0/8", "10.0.0.0/33"},
                         {"mac", "01:23:45:67:89:ab", "01:23"},
                         {"uuid", "123E4567-e89b-12d3-a456-426614174000", "123"},
                         {"date", "2024-02-29", "2023-02-29"},
                         {"duration", "1h30m", "abc"},
                         {"duration", "22 ns", ""},
                         {"byte", "aGk=", "a"},
                         {"hostname", "a-b.example.com", "-a"},
                         {"uri", "https://x/y?z", "x y"},
                         {"email", "a@b.c", "a"},
                         {"isbn10", "0321751043", "0321751044"},
                         {"isbn13", "978-0321751041", "978-0321751042"},
                         {"creditcard", "4111 1111 1111 1111", "4111 1111 1111 1112"},
                         {"hexcolor", "#FFF", "#FF"},
                         {"rgbcolor", "rgb(1,2,255)", "rgb(1,2,256)"},
                         {"k8s-short-name", "a-b", "A"},
                         {"date-time", "2026-01-02T23:04:05+02:00", "2026-01-02T24:00:00Z"}}) {
    EXPECT_TRUE(format_accepts(c.format, c.good)) << c.format << " " << c.good;
    EXPECT_FALSE(format_accepts(c.format, c.bad)) << c.format << " " << c.bad;
  }
}

// A map or list of so many entries, the first number or the last first.
std::string entries(int count, bool map, bool backwards, std::string_view value) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    const std::string key = "\"k" + std::to_string(backwards ? count - i : i + 1) + "\"";
    text += (text.empty() ? "" : ",") +
            (map ? key + ":" + std::string(value) : "{\"key\":" + key + "}");
  }
  return map ? "{" + text + "}" : "[" + text + "]";
}

TEST(Validate, large_maps_and_keyed_lists_meet_their_old_values_in_any_order) {
  constexpr int kMany = 100'000;
  const Checks short_text{.length_max = 3};
  const Node text{.shape = Shape::string, .checks = &short_text};
  const Node map{.shape = Shape::map, .items = &text};
  EXPECT_EQ(complaints(map, entries(kMany, true, false, R"("too long")"),
                       entries(kMany, true, true, R"("too long")")),
            "");
  const std::array<Field, 1> fields = {{{.name = "key", .node = &text}}};
  const Node item{.shape = Shape::structure, .fields = fields};
  const std::array<std::string_view, 1> keys = {"key"};
  const Node list{
      .shape = Shape::list, .list_type = ListType::map, .items = &item, .map_keys = keys};
  EXPECT_EQ(complaints(list, entries(kMany, false, false, {}), entries(kMany, false, true, {})),
            "");
}

TEST(Validate, reports_no_more_than_anybody_reads) {
  const Node number{.shape = Shape::integer};
  const Node map{.shape = Shape::map, .items = &number};
  const std::string lines = complaints(map, entries(100'000, true, false, R"("x")"));
  EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(lines, '\n')) + 1, FieldErrors::kCausesMax);
}

}  // namespace
}  // namespace codeflare::apiserver::schema
