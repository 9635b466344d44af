#include "json/value.h"

#include "json/internal/decimal.h"
#include "json/internal/go_float.h"
#include "json/internal/measure.h"
#include "json/member_index.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <memory>
#include <type_traits>
#include <utility>

namespace codeflare::json {

namespace {

static_assert(std::is_trivially_copyable_v<Value> && std::is_trivially_copyable_v<Member>);

bool objects_equal(const Value& a, const Value& b) {
  std::span<const Member> of_a = a.members();
  std::span<const Member> of_b = b.members();
  std::size_t same = 0;  // usually both sides come in one order
  while (same < of_a.size() && of_a[same].key == of_b[same].key) {
    if (!equal(of_a[same].value, of_b[same].value)) {
      return false;
    }
    ++same;
  }
  MemberIndex rest_of_b(of_b.subspan(same));
  return std::ranges::all_of(of_a.subspan(same), [&](const Member& member) {
    const Value* twin = rest_of_b.find(member.key);
    return twin != nullptr && equal(member.value, *twin);
  });
}

}  // namespace

std::string_view to_string(Kind kind) {
  switch (kind) {
    case Kind::null:
      return "null";
    case Kind::boolean:
      return "boolean";
    case Kind::number:
      return "number";
    case Kind::string:
      return "string";
    case Kind::array:
      return "array";
    case Kind::object:
      return "object";
  }
  return "unknown";
}

Value Value::boolean(bool value) {
  Value result(Kind::boolean, 0, nullptr);
  result.bool_ = value;
  return result;
}

Value Value::integer(Arena& arena, std::int64_t value) {
  std::array<char, 24> buffer;
  auto [end, error] = std::to_chars(buffer.begin(), buffer.end(), value);
  return number_text(arena.copy({buffer.begin(), end}));
}

Value Value::real(Arena& arena, double value) {
  CHECK(std::isfinite(value));
  return number_text(arena.copy(internal::go_json_number(value)));
}

Value Value::number_text(std::string_view text) {
  CHECK(!text.empty());
  return Value(Kind::number, text.size(), text.data());
}

Value Value::string_view_of(std::string_view text) {
  return Value(Kind::string, text.size(), text.data());
}

Value Value::string(Arena& arena, std::string_view text) {
  return string_view_of(arena.copy(text));
}

Value Value::array_of(std::span<Value> items) {
  Value result(Kind::array, items.size(), nullptr);
  result.items_ = items.data();
  return result;
}

Value Value::object_of(std::span<Member> members) {
  Value result(Kind::object, members.size(), nullptr);
  result.members_ = members.data();
  return result;
}

std::optional<std::int64_t> Value::to_int64() const {
  return is_number() ? internal::integral(number()) : std::nullopt;
}

std::optional<double> Value::to_double() const {
  if (!is_number()) {
    return std::nullopt;
  }
  std::string_view text = number();
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc()) {
    return value;
  }
  // Out of range: too small is zero, too large is not a double.
  internal::Decimal decimal = internal::decompose(text);
  bool negative_exponent = text.find("e-") != text.npos || text.find("E-") != text.npos;
  bool small = decimal.huge_exponent ? negative_exponent : decimal.magnitude < 0;
  return small ? std::optional(decimal.negative ? -0.0 : 0.0) : std::nullopt;
}

const Value* Value::find(std::string_view key) const {
  for (const Member& member : members()) {
    if (member.key == key) {
      return &member.value;
    }
  }
  return nullptr;
}

Value* Value::find(std::string_view key) {
  return const_cast<Value*>(std::as_const(*this).find(key));
}

const Value* Value::get(std::initializer_list<std::string_view> path) const {
  const Value* at = this;
  for (std::string_view key : path) {
    at = at->find(key);
    if (at == nullptr) {
      return nullptr;
    }
  }
  return at;
}

std::string_view Value::string_or_empty(std::string_view key) const {
  const Value* found = find(key);
  return found != nullptr && found->is_string() ? found->as_string() : std::string_view();
}

std::size_t Value::capacity() const {
  return capacity_log2_ == 0 ? size_ : std::size_t{1} << capacity_log2_;
}

// Makes room for one more child; the old storage stays in the arena unused.
void Value::grow(Arena& arena) {
  if (size_ < capacity()) {
    return;
  }
  std::size_t wanted = std::bit_ceil(std::max<std::size_t>(std::size_t{size_} + 1, 4));
  CHECK(wanted <= UINT32_MAX);
  capacity_log2_ = static_cast<std::uint8_t>(std::countr_zero(wanted));
  if (kind_ == Kind::array) {
    auto* items = static_cast<Value*>(arena.allocate(wanted * sizeof(Value), alignof(Value)));
    std::uninitialized_copy_n(items_, size_, items);
    items_ = items;
  } else {
    auto* members = static_cast<Member*>(arena.allocate(wanted * sizeof(Member), alignof(Member)));
    std::uninitialized_copy_n(members_, size_, members);
    members_ = members;
  }
}

Value& Value::append_member(Arena& arena, std::string_view key, Value value) {
  grow(arena);
  auto* member = new (members_ + size_) Member{key, value};
  ++size_;
  return member->value;
}

Value& Value::set(Arena& arena, std::string_view key, Value value) {
  CHECK(kind_ == Kind::object);
  if (Value* found = find(key); found != nullptr) {
    return *found = value;
  }
  return append_member(arena, arena.copy(key), value);
}

Value& Value::set_static(Arena& arena, std::string_view key, Value value) {
  CHECK(kind_ == Kind::object);
  if (Value* found = find(key); found != nullptr) {
    return *found = value;
  }
  return append_member(arena, key, value);
}

Value& Value::append(Arena& arena, std::string_view key, Value value) {
  CHECK(kind_ == Kind::object);
  return append_member(arena, arena.copy(key), value);
}

bool Value::erase(std::string_view key) {
  std::span<Member> all = members();
  auto found = std::ranges::find(all, key, &Member::key);
  if (found == all.end()) {
    return false;
  }
  std::copy(found + 1, all.end(), found);
  --size_;
  return true;
}

Value& Value::push_back(Arena& arena, Value value) {
  CHECK(kind_ == Kind::array);
  grow(arena);
  auto* item = new (items_ + size_) Value(value);
  ++size_;
  return *item;
}

Value& Value::insert(Arena& arena, std::size_t index, Value value) {
  CHECK(kind_ == Kind::array && index <= size_);
  push_back(arena, value);
  std::span<Value> all = items();
  std::rotate(all.begin() + static_cast<std::ptrdiff_t>(index), all.end() - 1, all.end());
  return all[index];
}

void Value::erase_at(std::size_t index) {
  CHECK(kind_ == Kind::array && index < size_);
  std::span<Value> all = items();
  std::copy(all.begin() + static_cast<std::ptrdiff_t>(index) + 1, all.end(),
            all.begin() + static_cast<std::ptrdiff_t>(index));
  --size_;
}

Value Value::clone(Arena& arena) const {
  switch (kind_) {
    case Kind::null:
    case Kind::boolean:
      return *this;
    case Kind::number:
      return number_text(arena.copy(number()));
    case Kind::string:
      return string(arena, as_string());
    case Kind::array: {
      auto* copies = static_cast<Value*>(arena.allocate(size_ * sizeof(Value), alignof(Value)));
      for (std::size_t i = 0; i < size_; ++i) {
        new (copies + i) Value(items_[i].clone(arena));
      }
      return array_of({copies, size_});
    }
    case Kind::object: {
      auto* copies = static_cast<Member*>(arena.allocate(size_ * sizeof(Member), alignof(Member)));
      for (std::size_t i = 0; i < size_; ++i) {
        new (copies + i) Member{arena.copy(members_[i].key), members_[i].value.clone(arena)};
      }
      return object_of({copies, size_});
    }
  }
  return {};
}

bool equal(const Value& a, const Value& b) {
  if (a.kind() != b.kind() || a.size() != b.size()) {
    return false;
  }
  switch (a.kind()) {
    case Kind::null:
      return true;
    case Kind::boolean:
      return a.as_bool() == b.as_bool();
    case Kind::number:
      return internal::numbers_equal(a.number(), b.number());
    case Kind::string:
      return a.as_string() == b.as_string();
    case Kind::array:
      return std::ranges::equal(a.items(), b.items(), equal);
    case Kind::object:
      return objects_equal(a, b);
  }
  return false;
}

Document compact(const Value& value) {
  Document document;
  document.arena.reserve(internal::footprint(value));
  document.root = value.clone(document.arena);
  return document;
}

}  // namespace codeflare::json
