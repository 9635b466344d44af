#include "json/scan.h"

#include "json/parse.h"
#include "json/write.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace codeflare::json {
namespace {

// The slice of one path, or the error.
std::string slice(std::string_view text, std::string_view path) {
  std::array<std::string_view, 1> paths = {path};
  std::array<std::string_view, 1> slices;
  auto done = scan(text, paths, slices);
  return done ? std::string(slices[0]) : "error: " + done.error().message;
}

bool scans(std::string_view text) {
  return !slice(text, "a").starts_with("error: ");
}

TEST(Scan, finds_raw_slices_at_the_top_and_below) {
  std::string_view text = R"( { "a" : [1, {"x":"]"}] , "b" : { "c" : "d\"e" }, "n":-1.5e3 } )";
  EXPECT_EQ(slice(text, "a"), R"([1, {"x":"]"}])");
  EXPECT_EQ(slice(text, "b"), R"({ "c" : "d\"e" })");
  EXPECT_EQ(slice(text, "b.c"), R"("d\"e")");
  EXPECT_EQ(slice(text, "n"), "-1.5e3");
  EXPECT_EQ(slice(text, "b.missing"), "");
  EXPECT_EQ(slice(text, "a.x"), "");
  EXPECT_EQ(slice("{}", "a"), "");
}

TEST(Scan, is_not_fooled_by_keys_inside_strings_and_values) {
  EXPECT_EQ(slice(R"({"x":"\"a\":1","y":{"a":2},"z":[{"a":3}],"a":4})", "a"), "4");
  EXPECT_EQ(slice(R"({"x":"a","a":5})", "a"), "5");
  EXPECT_EQ(slice(R"({"x":"\\","a":6,"y":"\\\""})", "a"), "6");
  EXPECT_EQ(slice(R"({"x":"}","a":7})", "a"), "7");
}

TEST(Scan, strings_and_escapes_may_cross_any_block_of_bytes) {
  for (std::size_t padding = 0; padding < 140; ++padding) {
    std::string spaces(padding, ' ');
    for (std::string_view tricky :
         {R"("\\\\\\\\")", R"("\\\"]}")", R"("]}\\")", R"("\"\"\"{[")", R"([{"\\":"\\\\\\"}])"}) {
      std::string value = "[" + spaces + std::string(tricky) + "," + std::string(tricky) + "]";
      EXPECT_EQ(slice("{\"x\":" + value + ",\"a\":1}", "x"), value);
      EXPECT_EQ(slice("{\"x\":" + value + ",\"a\":1}", "a"), "1");
    }
    EXPECT_FALSE(scans("{\"x\":[" + spaces + "\\\"],\"a\":1}"));
    EXPECT_FALSE(scans("{\"x\":[" + spaces + "}]}"));
    EXPECT_FALSE(scans("{\"x\":[" + spaces + "\"]}"));
  }
}

TEST(Scan, a_key_with_dots_is_not_a_path) {
  EXPECT_EQ(slice(R"({"metadata.name":"no"})", "metadata.name"), "");
  EXPECT_EQ(slice(R"({"metadata":{"name.x":"no"}})", "metadata.name"), "");
  EXPECT_EQ(slice(R"({"meta":{"name":"no"}})", "metadata.name"), "");
}

TEST(Scan, escaped_keys_are_the_keys_they_mean) {
  EXPECT_EQ(slice(R"({"\u006bind":"Pod"})", "kind"), R"("Pod")");
  EXPECT_EQ(slice(R"({"k\/d":1,"kind":2})", "kind"), "2");
  EXPECT_TRUE(slice(R"({"\x":1,"kind":2})", "kind").starts_with("error: "));
}

TEST(Scan, last_duplicate_wins_as_in_parse) {
  EXPECT_EQ(slice(R"({"a":1,"a":2})", "a"), "2");
  EXPECT_EQ(slice(R"({"m":{"a":1},"m":{"b":2}})", "m.a"), "");
  EXPECT_EQ(slice(R"({"m":{"a":1},"m":null})", "m.a"), "");
}

TEST(Scan, a_path_may_be_the_beginning_of_another) {
  std::array<std::string_view, 3> paths = {"m", "m.a", "m.a.b"};
  std::array<std::string_view, 3> slices;
  ASSERT_TRUE(scan(R"({"m":{"a":{"b":1}}})", paths, slices).has_value());
  EXPECT_EQ(slices[0], R"({"a":{"b":1}})");
  EXPECT_EQ(slices[1], R"({"b":1})");
  EXPECT_EQ(slices[2], "1");
}

TEST(Scan, malformed_text_is_an_error_with_its_position) {
  for (std::string_view text : {"",
                                " ",
                                "[]",
                                "1",
                                "{",
                                "{\"a",
                                "{\"a\"",
                                "{\"a\":",
                                "{\"a\":1",
                                "{\"a\":1,",
                                "{\"a\":1,}",
                                "{\"a\":1 \"b\":2}",
                                "{\"a\" 1}",
                                "{a:1}",
                                "{\"a\":[}",
                                "{\"a\":[1}",
                                "{\"a\":{]}",
                                "{}x",
                                "{\"a\":x}",
                                "{\"a\":\"\\",
                                "{\"a\":\"\\\"",
                                "{\"a\":tru}",
                                "{,}",
                                "{\"a\":}",
                                "{}{}"}) {
    EXPECT_FALSE(scans(text)) << text;
  }
  EXPECT_EQ(slice("{\"a\":1,\n \"b\" 2}", "a"), "error: line 2, column 6 (byte 13): expected ':'");
}

TEST(Scan, depth_is_limited) {
  auto nested = [](std::size_t depth) {
    return "{\"a\":" + std::string(depth, '[') + std::string(depth, ']') + "}";
  };
  EXPECT_TRUE(scans(nested(kDepthLimit)));
  EXPECT_FALSE(scans(nested(kDepthLimit + 1)));
  EXPECT_FALSE(scans(nested(1'000'000)));
}

TEST(Scan, every_truncation_of_a_text_is_an_error) {
  std::string_view text = R"({"a":{"b":["x\\\"y",{"c":null}]},"d":12,"e":"\u00e4"})";
  ASSERT_TRUE(scans(text));
  for (std::size_t length = 0; length < text.size(); ++length) {
    // A copy of exactly that length: reading beyond it would be caught by the sanitizer.
    std::vector<char> part(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(length));
    EXPECT_FALSE(scans({part.data(), part.size()})) << length;
  }
}

TEST(Scan, unquote_decodes_only_when_it_must) {
  Arena arena;
  EXPECT_EQ(unquote(R"("plain")", arena), "plain");
  EXPECT_EQ(arena.bytes_allocated(), 0u);
  EXPECT_EQ(unquote(R"("a\n\"\\\/\b\f\r\tb")", arena), "a\n\"\\/\b\f\r\tb");
  EXPECT_EQ(unquote(R"("\u00e4\u20ac\uD83D\uDE00\u0041")", arena),
            "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"
            "A");
  EXPECT_EQ(unquote("null", arena), "");
  EXPECT_EQ(unquote("", arena), "");
  for (std::string_view raw : {"12", "true", "{}", "\"", R"("\q")", R"("\u12")", R"("\ud800")",
                               R"("\udc00")", R"("\ud800\u0041")", R"("\ud800\n")"}) {
    EXPECT_FALSE(unquote(raw, arena).has_value()) << raw;
  }
}

TEST(Scan, watch_event_gives_type_and_object) {
  auto event = scan_watch_event(R"({"type":"MODIFIED","object":{"kind":"Pod","type":"x"}})");
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->type, "MODIFIED");
  EXPECT_EQ(event->object, R"({"kind":"Pod","type":"x"})");
  EXPECT_FALSE(scan_watch_event(R"({"type":"ADDED"})").has_value());
  EXPECT_FALSE(scan_watch_event(R"({"type":1,"object":{}})").has_value());
  EXPECT_FALSE(scan_watch_event(R"({"type":"ADDED","object":null})").has_value());
}

TEST(Scan, object_head_holds_what_caches_need) {
  auto head = scan_object_head(R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"web-0",
    "namespace":"team","uid":"u-1","resourceVersion":"42","generation":3,
    "deletionTimestamp":"2025-01-02T03:04:05Z","labels":{"app":"web"},
    "ownerReferences":[{"uid":"o"}],"annotations":{"name":"no","uid":"no"}},
    "spec":{"metadata":{"name":"no"}}})");
  ASSERT_TRUE(head.has_value());
  EXPECT_EQ(head->api_version, "v1");
  EXPECT_EQ(head->kind, "Pod");
  EXPECT_EQ(head->name, "web-0");
  EXPECT_EQ(head->ns, "team");
  EXPECT_EQ(head->uid, "u-1");
  EXPECT_EQ(head->rv, "42");
  EXPECT_EQ(head->generation, 3);
  EXPECT_EQ(head->deletion_timestamp, "2025-01-02T03:04:05Z");
  EXPECT_EQ(head->labels, R"({"app":"web"})");
  EXPECT_EQ(head->owner_references, R"([{"uid":"o"}])");
}

TEST(Scan, object_head_takes_null_for_absent_and_refuses_wrong_types) {
  auto head = scan_object_head(R"({"metadata":{"name":null,"labels":null,"generation":null}})");
  ASSERT_TRUE(head.has_value());
  EXPECT_EQ(head->name, "");
  EXPECT_EQ(head->labels, "");
  EXPECT_EQ(head->generation, 0);
  auto wrong = scan_object_head(R"({"metadata":{"name":7}})");
  ASSERT_FALSE(wrong.has_value());
  EXPECT_EQ(wrong.error().message, "metadata.name: expected a string");
  for (std::string_view generation : {"true", "1.5", "\"1\"", "-", "1e", "99999999999999999999"}) {
    std::string text = "{\"metadata\":{\"generation\":" + std::string(generation) + "}}";
    EXPECT_FALSE(scan_object_head(text).has_value()) << generation;
  }
}

TEST(Scan, object_head_decodes_escaped_names_and_survives_a_move) {
  auto head = scan_object_head(R"({"metadata":{"name":"w\u0065b"}})");
  ASSERT_TRUE(head.has_value());
  ObjectHead moved = *std::move(head);
  EXPECT_EQ(moved.name, "web");
}

TEST(Scan, for_each_item_hands_out_raw_items_in_order) {
  std::vector<std::string> items;
  auto collect = [&](std::string_view raw) -> Result<void> {
    items.emplace_back(raw);
    return {};
  };
  auto head = for_each_item(R"({"kind":"PodList","apiVersion":"v1","metadata":{
    "resourceVersion":"77","continue":"tok","remainingItemCount":5},
    "items":[ {"a":[1,2]} , "x,]" ,3]})",
                            "items", collect);
  ASSERT_TRUE(head.has_value()) << head.error().message;
  EXPECT_EQ(items, (std::vector<std::string>{R"({"a":[1,2]})", R"("x,]")", "3"}));
  EXPECT_EQ(head->items, 3u);
  EXPECT_EQ(head->kind, "PodList");
  EXPECT_EQ(head->api_version, "v1");
  EXPECT_EQ(head->rv, "77");
  EXPECT_EQ(head->continue_token, "tok");
  EXPECT_EQ(head->remaining_item_count, 5);
}

TEST(Scan, for_each_item_knows_empty_null_missing_and_doubled_lists) {
  auto none = [](std::string_view) -> Result<void> { return fail(internal_error("an item")); };
  for (std::string_view text : {R"({"items":[]})", R"({"items":null})", R"({"kind":"L"})"}) {
    auto head = for_each_item(text, "items", none);
    ASSERT_TRUE(head.has_value()) << text;
    EXPECT_EQ(head->items, 0u);
    EXPECT_EQ(head->remaining_item_count, std::nullopt);
  }
  EXPECT_FALSE(for_each_item(R"({"items":[],"items":[]})", "items", none).has_value());
  EXPECT_FALSE(for_each_item(R"({"items":{}})", "items", none).has_value());
  EXPECT_FALSE(for_each_item(R"({"items":[1,]})", "items", none).has_value());
  EXPECT_FALSE(for_each_item(R"([])", "items", none).has_value());
}

TEST(Scan, for_each_item_ends_with_the_error_of_its_callee) {
  int seen = 0;
  auto refuse_second = [&](std::string_view) -> Result<void> {
    return ++seen == 2 ? Result<void>(fail(conflict("enough"))) : Result<void>();
  };
  auto head = for_each_item(R"({"items":[1,2,3]})", "items", refuse_second);
  ASSERT_FALSE(head.has_value());
  EXPECT_EQ(head.error().code, ErrorCode::conflict);
  EXPECT_EQ(seen, 2);
}

}  // namespace
}  // namespace codeflare::json
