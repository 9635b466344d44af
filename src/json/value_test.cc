#include "json/value.h"

#include "json/member_index.h"
#include "json/write.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace codeflare::json {
namespace {

bool numbers_equal(std::string_view a, std::string_view b) {
  return equal(Value::number_text(a), Value::number_text(b));
}

TEST(Value, default_is_null_and_has_no_children) {
  Value value;
  EXPECT_TRUE(value.is_null());
  EXPECT_EQ(value.size(), 0u);
  EXPECT_TRUE(value.items().empty());
  EXPECT_TRUE(value.members().empty());
  EXPECT_EQ(value.find("a"), nullptr);
}

TEST(Value, set_appends_new_keys_and_replaces_old_ones_in_place) {
  Arena arena;
  Value object = Value::object();
  object.set(arena, "a", Value::integer(arena, 1));
  object.set(arena, "b", Value::boolean(true));
  object.set(arena, "a", Value::string(arena, "x"));
  EXPECT_EQ(to_text(object), R"({"a":"x","b":true})");
}

TEST(Value, set_copies_its_key) {
  Arena arena;
  Value object = Value::object();
  std::string key = "some key";
  object.set(arena, key, Value());
  key.assign(key.size(), '#');
  EXPECT_NE(object.find("some key"), nullptr);
}

TEST(Value, objects_and_arrays_grow_far_beyond_their_first_room) {
  Arena arena;
  Value array = Value::array();
  Value object = Value::object();
  for (std::int64_t i = 0; i < 1'000; ++i) {
    array.push_back(arena, Value::integer(arena, i));
    object.set(arena, "k" + std::to_string(i), Value::integer(arena, i));
  }
  ASSERT_EQ(array.size(), 1'000u);
  EXPECT_EQ(array.items()[999].to_int64(), 999);
  EXPECT_EQ(object.find("k517")->to_int64(), 517);
}

TEST(Value, erase_keeps_the_order_of_the_rest) {
  Arena arena;
  Value object = Value::object();
  for (std::string_view key : {"a", "b", "c"}) {
    object.set_static(arena, key, Value());
  }
  EXPECT_TRUE(object.erase("b"));
  EXPECT_FALSE(object.erase("b"));
  EXPECT_EQ(to_text(object), R"({"a":null,"c":null})");
  object.set_static(arena, "d", Value());
  EXPECT_EQ(to_text(object), R"({"a":null,"c":null,"d":null})");
}

TEST(Value, insert_and_erase_at_shift_the_items_behind_them) {
  Arena arena;
  Value array = Value::array();
  array.insert(arena, 0, Value::integer(arena, 3));
  array.insert(arena, 0, Value::integer(arena, 1));
  array.insert(arena, 1, Value::integer(arena, 2));
  array.insert(arena, 3, Value::integer(arena, 4));
  EXPECT_EQ(to_text(array), "[1,2,3,4]");
  array.erase_at(1);
  array.erase_at(2);
  EXPECT_EQ(to_text(array), "[1,3]");
}

TEST(Value, get_walks_a_path_and_stops_at_what_is_missing) {
  Arena arena;
  Value labels = Value::object();
  labels.set(arena, "app", Value::string(arena, "web"));
  Value root = Value::object();
  root.set(arena, "metadata", Value::object()).set(arena, "labels", labels);
  ASSERT_NE(root.get({"metadata", "labels", "app"}), nullptr);
  EXPECT_EQ(root.get({"metadata", "labels"})->string_or_empty("app"), "web");
  EXPECT_EQ(root.get({"metadata", "annotations", "app"}), nullptr);
  EXPECT_EQ(root.get({"metadata", "labels", "app", "deeper"}), nullptr);
  EXPECT_EQ(root.string_or_empty("metadata"), "");
}

TEST(Value, clone_shares_nothing_with_its_source) {
  Document copy;
  {
    Arena arena;
    Value array = Value::array();
    array.push_back(arena, Value::string(arena, std::string(100, 'x')));
    Value root = Value::object();
    root.set(arena, "key", array);
    copy.root = root.clone(copy.arena);
    root.find("key")->push_back(arena, Value());
  }
  EXPECT_EQ(to_text(copy.root), R"({"key":[")" + std::string(100, 'x') + R"("]})");
}

TEST(Value, compact_takes_one_block_of_about_the_size_of_the_tree) {
  Arena arena;
  Value root = Value::object();
  for (int i = 0; i < 100; ++i) {
    root.set(arena, "key" + std::to_string(i), Value::string(arena, "value"));
  }
  Document copy = compact(root);
  EXPECT_TRUE(equal(copy.root, root));
  std::size_t needed = 100 * (sizeof(Member) + 5 + 5);
  EXPECT_LE(copy.arena.bytes_allocated(), needed + 64);
}

TEST(Value, arena_memory_survives_a_move_of_the_document) {
  Document first;
  first.root = Value::string(first.arena, "kept");
  Document second = std::move(first);
  Document third;
  third.root = Value::string(third.arena, "dropped");
  third = std::move(second);
  EXPECT_EQ(third.root.as_string(), "kept");
}

TEST(Value, arena_serves_any_size_and_alignment) {
  Arena arena;
  for (std::size_t size : {1u, 7u, 4'096u, 1u << 20, 3u}) {
    arena.allocate(size, 1);
    auto address = reinterpret_cast<std::uintptr_t>(arena.allocate(size, 16));
    EXPECT_EQ(address % 16, 0u);
  }
  EXPECT_GE(arena.bytes_allocated(), 2u << 20);
}

TEST(Value, to_int64_takes_integral_numbers_however_they_are_written) {
  auto read = [](std::string_view text) { return Value::number_text(text).to_int64(); };
  EXPECT_EQ(read("0"), 0);
  EXPECT_EQ(read("-0"), 0);
  EXPECT_EQ(read("0.000e99"), 0);
  EXPECT_EQ(read("1.0"), 1);
  EXPECT_EQ(read("1e3"), 1'000);
  EXPECT_EQ(read("1.5E1"), 15);
  EXPECT_EQ(read("1200e-2"), 12);
  EXPECT_EQ(read("-120.50e1"), -1'205);
  EXPECT_EQ(read("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(read("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(read("-9223372036854775808.0"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(read("922337203685477580.70e1"), std::numeric_limits<std::int64_t>::max());
}

TEST(Value, to_int64_refuses_fractions_and_what_does_not_fit) {
  auto read = [](std::string_view text) { return Value::number_text(text).to_int64(); };
  EXPECT_EQ(read("1.5"), std::nullopt);
  EXPECT_EQ(read("1e-1"), std::nullopt);
  EXPECT_EQ(read("9223372036854775808"), std::nullopt);
  EXPECT_EQ(read("-9223372036854775809"), std::nullopt);
  EXPECT_EQ(read("1e19"), std::nullopt);
  EXPECT_EQ(read("1e99999999999999999999"), std::nullopt);
  EXPECT_EQ(Value().to_int64(), std::nullopt);
}

TEST(Value, to_double_is_nothing_when_too_large_and_zero_when_too_small) {
  auto read = [](std::string_view text) { return Value::number_text(text).to_double(); };
  EXPECT_EQ(read("0.1"), 0.1);
  EXPECT_EQ(read("-25e-1"), -2.5);
  EXPECT_EQ(read("1e400"), std::nullopt);
  EXPECT_EQ(read("1e-400"), 0.0);
  EXPECT_EQ(read("1e-99999999999999999999"), 0.0);
  EXPECT_EQ(read("1e99999999999999999999"), std::nullopt);
}

TEST(Value, numbers_are_equal_by_exact_decimal_value) {
  EXPECT_TRUE(numbers_equal("1", "1.0"));
  EXPECT_TRUE(numbers_equal("1", "1e0"));
  EXPECT_TRUE(numbers_equal("100", "1E+2"));
  EXPECT_TRUE(numbers_equal("0.00120", "12e-4"));
  EXPECT_TRUE(numbers_equal("12.5", "0.125e2"));
  EXPECT_TRUE(numbers_equal("-0", "0.0"));
  EXPECT_TRUE(numbers_equal("0e5", "0"));
  EXPECT_TRUE(numbers_equal("1e400", "10e399"));
  EXPECT_FALSE(numbers_equal("1", "-1"));
  EXPECT_FALSE(numbers_equal("1", "10"));
  EXPECT_FALSE(numbers_equal("105", "15"));
  EXPECT_FALSE(numbers_equal("12", "123"));
  EXPECT_FALSE(numbers_equal("0.1", "0.10000000000000000001"));
  EXPECT_FALSE(numbers_equal("9007199254740993", "9007199254740992"));
  EXPECT_FALSE(numbers_equal("1e99999999999999999999", "1e99999999999999999998"));
  EXPECT_FALSE(numbers_equal("1e400", "1e401"));
}

TEST(Value, equal_ignores_the_order_of_members_but_not_of_items) {
  Arena arena;
  Value a = Value::object();
  Value b = Value::object();
  for (int i = 0; i < 100; ++i) {  // beyond the size where members are sorted
    a.set(arena, std::to_string(i), Value::integer(arena, i));
    b.set(arena, std::to_string(99 - i), Value::integer(arena, 99 - i));
  }
  EXPECT_TRUE(equal(a, b));
  *b.find("42") = Value();
  EXPECT_FALSE(equal(a, b));
  b.erase("42");
  b.set(arena, "other", Value::integer(arena, 42));
  EXPECT_FALSE(equal(a, b));

  Value x = Value::array();
  Value y = Value::array();
  x.push_back(arena, Value());
  x.push_back(arena, Value::boolean(true));
  y.push_back(arena, Value::boolean(true));
  y.push_back(arena, Value());
  EXPECT_FALSE(equal(x, y));
}

TEST(Value, erase_if_keeps_the_order_of_the_rest) {
  Arena arena;
  Value object = Value::object();
  for (int i = 0; i < 6; ++i) {
    object.append(arena, std::to_string(i), Value::integer(arena, i));
  }
  EXPECT_EQ(object.erase_if([](const Member& m) { return *m.value.to_int64() % 2 == 0; }), 3u);
  EXPECT_EQ(to_text(object), R"({"1":1,"3":3,"5":5})");
  EXPECT_EQ(Value::array().erase_if([](const Member&) { return true; }), 0u);
}

TEST(MemberIndex, finds_members_of_large_objects_in_any_order) {
  Arena arena;
  Value object = Value::object();
  for (int i = 0; i < 1000; ++i) {
    object.append(arena, std::to_string(i), Value::integer(arena, i));
  }
  MemberIndex index(object.members());
  for (int i : {0, 1, 2, 999, 500, 501, 3, 0}) {
    const Value* found = index.find(std::to_string(i));
    ASSERT_NE(found, nullptr) << i;
    EXPECT_EQ(found->to_int64(), i);
  }
  EXPECT_EQ(index.find("1000"), nullptr);
  EXPECT_EQ(MemberIndex({}).find("a"), nullptr);
}

TEST(Value, real_writes_the_shortest_text_that_reads_back) {
  Arena arena;
  EXPECT_EQ(Value::real(arena, 0.1).number(), "0.1");
  EXPECT_EQ(Value::real(arena, 1e20).number(), "100000000000000000000");
  EXPECT_EQ(Value::real(arena, 1e21).number(), "1e+21");
  EXPECT_EQ(Value::real(arena, 1.5e-7).number(), "1.5e-7");
  EXPECT_EQ(Value::real(arena, 0.000001).number(), "0.000001");
  EXPECT_EQ(Value::real(arena, -2.5).to_double(), -2.5);
}

}  // namespace
}  // namespace codeflare::json
