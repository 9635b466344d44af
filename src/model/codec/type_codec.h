#pragma once

#include "json/value.h"
#include "model/codec/codec.h"
#include "model/list.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::model::codec {

// Where the decoder stands, for error messages, and the first error.
class DecodeContext {
 public:
  void enter(std::string_view name) { path_.push_back({Step::member, name, 0}); }
  void enter_key(std::string_view key) { path_.push_back({Step::key, key, 0}); }
  void enter(std::size_t index) { path_.push_back({Step::item, {}, index}); }
  void leave() { path_.pop_back(); }

  // Both return false, so that a decoder can `return context.fail(...)`. The text must not hold
  // values: they may be secrets.
  bool fail(std::string_view what);
  bool wrong_kind(std::string_view expected, const json::Value& got);  // expected "a string"

  std::string take_message() { return std::move(message_); }

 private:
  enum class Step : std::uint8_t { member, key, item };
  struct Segment {
    Step step;
    std::string_view name;
    std::size_t index;
  };
  std::string path() const;

  std::vector<Segment> path_;
  std::string message_;
};

// Reads and writes members of one C++ type, without knowing more than their address.
struct TypeCodec {
  bool (*decode)(DecodeContext& context, const json::Value& value, void* member);
  json::Value (*encode)(json::Arena& arena, const void* member);
  bool (*empty)(const void* member);
};

// A struct as part of another. Its kind and apiVersion, if it has them, are members like others
// here: they are kept as they came.
bool decode_struct(const StructInfo& info, DecodeContext& context, const json::Value& value,
                   void* object);
json::Value encode_struct(const StructInfo& info, json::Arena& arena, const void* object);
bool is_empty_struct(const StructInfo& info, const void* object);

// Codecs are specialisations with the three functions of TypeCodec as static members. This one
// is for structs that have been described.
template <typename T>
struct CodecOf {
  static bool decode(DecodeContext& context, const json::Value& value, void* member) {
    return decode_struct(describe(Tag<T>()), context, value, member);
  }
  static json::Value encode(json::Arena& arena, const void* member) {
    return encode_struct(describe(Tag<T>()), arena, member);
  }
  static bool empty(const void* member) { return is_empty_struct(describe(Tag<T>()), member); }
};

template <typename T>
inline constexpr TypeCodec kTypeCodec = {&CodecOf<T>::decode, &CodecOf<T>::encode,
                                         &CodecOf<T>::empty};

// Room for `count` children of a value.
template <typename T>
std::span<T> allocate(json::Arena& arena, std::size_t count) {
  if (count == 0) {
    return {};
  }
  T* first = static_cast<T*>(arena.allocate(count * sizeof(T), alignof(T)));
  std::uninitialized_default_construct_n(first, count);
  return {first, count};
}

template <typename T>
struct CodecOf<std::optional<T>> {
  static bool decode(DecodeContext& context, const json::Value& value, void* member) {
    return CodecOf<T>::decode(context, value, &static_cast<std::optional<T>*>(member)->emplace());
  }
  static json::Value encode(json::Arena& arena, const void* member) {
    return CodecOf<T>::encode(arena, &**static_cast<const std::optional<T>*>(member));
  }
  static bool empty(const void* member) {
    return !static_cast<const std::optional<T>*>(member)->has_value();
  }
};

template <typename T>
struct CodecOf<std::vector<T>> {
  static bool decode(DecodeContext& context, const json::Value& value, void* member) {
    if (!value.is_array()) {
      return context.wrong_kind("an array", value);
    }
    // All at once: elements need not be movable, which keeps the code of large structs small.
    std::vector<T> items(value.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
      context.enter(i);
      if (!CodecOf<T>::decode(context, value.items()[i], &items[i])) {
        return false;
      }
      context.leave();
    }
    static_cast<std::vector<T>*>(member)->swap(items);
    return true;
  }
  static json::Value encode(json::Arena& arena, const void* member) {
    const auto& items = *static_cast<const std::vector<T>*>(member);
    std::span<json::Value> out = allocate<json::Value>(arena, items.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
      out[i] = CodecOf<T>::encode(arena, &items[i]);
    }
    return json::Value::array_of(out);
  }
  static bool empty(const void* member) {
    return static_cast<const std::vector<T>*>(member)->empty();
  }
};

// A list is its vector and nothing more.
template <typename T>
struct CodecOf<List<T>> : CodecOf<std::vector<T>> {
  static_assert(sizeof(List<T>) == sizeof(std::vector<T>));
};

template <typename T>
struct CodecOf<std::map<std::string, T, std::less<>>> {
  using Map = std::map<std::string, T, std::less<>>;
  static bool decode(DecodeContext& context, const json::Value& value, void* member) {
    if (!value.is_object()) {
      return context.wrong_kind("an object", value);
    }
    auto& map = *static_cast<Map*>(member);
    for (const json::Member& entry : value.members()) {
      context.enter_key(entry.key);
      // Servers write maps in order: the hint makes that linear.
      auto at = map.emplace_hint(map.end(), entry.key, T());
      if (!CodecOf<T>::decode(context, entry.value, &at->second)) {
        return false;
      }
      context.leave();
    }
    return true;
  }
  static json::Value encode(json::Arena& arena, const void* member) {
    const Map& map = *static_cast<const Map*>(member);
    std::span<json::Member> out = allocate<json::Member>(arena, map.size());
    std::size_t i = 0;
    for (const auto& [key, value] : map) {
      out[i++] = {arena.copy(key), CodecOf<T>::encode(arena, &value)};
    }
    return json::Value::object_of(out);
  }
  static bool empty(const void* member) { return static_cast<const Map*>(member)->empty(); }
};

template <>
struct CodecOf<StringMap> : CodecOf<StringMap::Entries> {
  static_assert(sizeof(StringMap) == sizeof(StringMap::Entries));
};

}  // namespace codeflare::model::codec
