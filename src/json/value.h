#pragma once

#include "base/check.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace codeflare::json {

// Memory for one tree of values: grows in blocks, freed as a whole. Everything a Value points to
// lives in the Arena it was made in (or in longer-lived memory such as literals).
class Arena {
 public:
  Arena();
  ~Arena();
  Arena(Arena&&) noexcept;
  Arena& operator=(Arena&&) noexcept;

  void* allocate(std::size_t bytes, std::size_t alignment) {
    std::size_t padding = (~reinterpret_cast<std::uintptr_t>(next_) + 1) & (alignment - 1);
    if (next_ == nullptr || padding + bytes > static_cast<std::size_t>(end_ - next_)) [[unlikely]] {
      return allocate_slow(bytes, alignment);
    }
    char* at = next_ + padding;
    next_ = at + bytes;
    return at;
  }
  // The next `bytes` will come from one block: a known size wastes no memory.
  void reserve(std::size_t bytes);
  // Copies the text into the arena; the view lives as long as the arena.
  std::string_view copy(std::string_view text);
  // Bytes that the arena holds from the system, used or not.
  std::size_t bytes_allocated() const { return total_; }

 private:
  struct Block;
  void* allocate_slow(std::size_t bytes, std::size_t alignment);
  void add_block(std::size_t capacity);

  Block* head_ = nullptr;
  char* next_ = nullptr;
  char* end_ = nullptr;
  std::size_t total_ = 0;
};

enum class Kind : std::uint8_t { null, boolean, number, string, array, object };

std::string_view to_string(Kind kind);

struct Member;

// One JSON value, 16 bytes, trivially copyable. A copy is shallow: it shares the children, so
// change a tree only through the one place that owns it, and use clone() for an independent tree.
// Numbers keep their text: "1.0" and 12345678901234567890 are written as they were read.
class Value {
 public:
  Value() = default;  // null

  static Value boolean(bool value);
  static Value integer(Arena& arena, std::int64_t value);
  // The shortest digits that read back as the same double, which must be finite; as Go writes it.
  static Value real(Arena& arena, double value);
  // `text` must be a JSON number; it is kept as it is (not copied).
  static Value number_text(std::string_view text);
  // The view is not copied: it must live as long as the arena. Use string(arena, text) otherwise.
  static Value string_view_of(std::string_view text);
  static Value string(Arena& arena, std::string_view text);
  static Value array() { return Value(Kind::array, 0, nullptr); }
  static Value object() { return Value(Kind::object, 0, nullptr); }
  // Over children that already lie in an arena: they are not copied, keys must differ.
  static Value array_of(std::span<Value> items);
  static Value object_of(std::span<Member> members);

  Kind kind() const { return kind_; }
  bool is_null() const { return kind_ == Kind::null; }
  bool is_boolean() const { return kind_ == Kind::boolean; }
  bool is_number() const { return kind_ == Kind::number; }
  bool is_string() const { return kind_ == Kind::string; }
  bool is_array() const { return kind_ == Kind::array; }
  bool is_object() const { return kind_ == Kind::object; }

  // Each needs the matching kind (checked).
  bool as_bool() const {
    CHECK(kind_ == Kind::boolean);
    return bool_;
  }
  std::string_view as_string() const {
    CHECK(kind_ == Kind::string);
    return {text_, size_};
  }
  std::string_view number() const {  // the number's text
    CHECK(kind_ == Kind::number);
    return {text_, size_};
  }

  // The number if it is integral and fits ("1.0" and "1e3" count); nothing otherwise.
  std::optional<std::int64_t> to_int64() const;
  std::optional<double> to_double() const;

  // Children; empty for other kinds. Order is the order of the source.
  std::span<const Value> items() const;
  std::span<const Member> members() const;
  std::span<Value> items();
  std::span<Member> members();
  std::size_t size() const {  // children of an array or object, else 0
    return kind_ >= Kind::array ? size_ : 0;
  }

  // Member by name, or nullptr (also when this is not an object).
  const Value* find(std::string_view key) const;
  Value* find(std::string_view key);

  // find() down a path of member names: get({"metadata", "labels"}).
  const Value* get(std::initializer_list<std::string_view> path) const;
  // The text of a string member, or an empty view when it is absent or no string.
  std::string_view string_or_empty(std::string_view key) const;

  // Changes, for arrays and objects; memory comes from the arena, old storage is left to it.
  // set(): replaces or appends; the key is copied into the arena.
  Value& set(Arena& arena, std::string_view key, Value value);
  // As set(), but the key is not copied (literals, or text already in the arena).
  Value& set_static(Arena& arena, std::string_view key, Value value);
  // As set() for a key that the object does not have yet: no search.
  Value& append(Arena& arena, std::string_view key, Value value);
  bool erase(std::string_view key);
  // Removes the members that `gone(member)` picks, in one pass; returns their number.
  template <typename Gone>
  std::size_t erase_if(Gone gone);
  Value& push_back(Arena& arena, Value value);
  Value& insert(Arena& arena, std::size_t index, Value value);
  void erase_at(std::size_t index);

  // A deep copy whose every byte lives in `arena`.
  Value clone(Arena& arena) const;

 private:
  Value(Kind kind, std::size_t size, const char* text) : kind_(kind), text_(text) {
    CHECK(size <= UINT32_MAX);
    size_ = static_cast<std::uint32_t>(size);
  }
  std::size_t capacity() const;
  void grow(Arena& arena);
  Value& append_member(Arena& arena, std::string_view key, Value value);

  Kind kind_ = Kind::null;
  bool bool_ = false;
  // Room of arrays and objects: 0 means "exactly size_", n means 2^n. Parsed trees carry no slack.
  std::uint8_t capacity_log2_ = 0;
  std::uint32_t size_ = 0;
  union {
    const char* text_ = nullptr;
    Value* items_;
    Member* members_;
  };
};

struct Member {
  std::string_view key;
  Value value;
};

inline std::span<const Value> Value::items() const {
  return kind_ == Kind::array ? std::span<const Value>(items_, size_) : std::span<const Value>();
}
inline std::span<Value> Value::items() {
  return kind_ == Kind::array ? std::span<Value>(items_, size_) : std::span<Value>();
}
inline std::span<const Member> Value::members() const {
  return kind_ == Kind::object ? std::span<const Member>(members_, size_)
                               : std::span<const Member>();
}
inline std::span<Member> Value::members() {
  return kind_ == Kind::object ? std::span<Member>(members_, size_) : std::span<Member>();
}

template <typename Gone>
std::size_t Value::erase_if(Gone gone) {
  const std::size_t before = members().size();
  std::size_t kept = 0;
  for (Member& member : members()) {
    if (!gone(member)) {
      members_[kept++] = member;
    }
  }
  size_ -= static_cast<std::uint32_t>(before - kept);
  return before - kept;
}

static_assert(sizeof(Value) == 16);

// Equality of values: objects without regard to order, numbers by exact decimal value
// (1 == 1.0 == 1e0; 9007199254740993 differs from 9007199254740992).
bool equal(const Value& a, const Value& b);

// A tree with its memory.
struct Document {
  Arena arena;
  Value root;
};

// A deep copy in one block of exactly the size it needs: for trees that are kept for long.
Document compact(const Value& value);

}  // namespace codeflare::json
