#include "json/write.h"
#include "model/codec/describe.h"

#include <bit>

namespace codeflare::model::codec {
namespace {

std::string_view with_article(json::Kind kind) {
  switch (kind) {
    case json::Kind::null:
      return "null";
    case json::Kind::boolean:
      return "a boolean";
    case json::Kind::number:
      return "a number";
    case json::Kind::string:
      return "a string";
    case json::Kind::array:
      return "an array";
    case json::Kind::object:
      return "an object";
  }
  return "something else";
}

// The field, looked for from where the last one was found: members mostly come in table order.
const Field* find_field(const StructInfo& info, std::string_view name, std::size_t& hint) {
  for (std::size_t step = 0; step < info.count; ++step) {
    const std::size_t i = hint + step < info.count ? hint + step : hint + step - info.count;
    if (info.fields[i].name == name) {
      hint = i + 1 < info.count ? i + 1 : 0;
      return &info.fields[i];
    }
  }
  return nullptr;
}

void keep(Extra& extra, const json::Member& member) {
  Extra::Member& kept = extra.members.emplace_back();
  kept.key = member.key;
  json::append_text(kept.value.text, member.value);
}

bool names_type(std::string_view key) {
  return key == "kind" || key == "apiVersion";
}

// kind and apiVersion must be those of the struct.
bool decode_type(const StructInfo& info, DecodeContext& context, const json::Member& member) {
  const std::string_view expected = member.key == "kind" ? info.kind : info.api_version;
  context.enter(member.key);
  if (!member.value.is_string()) {
    return context.wrong_kind("a string", member.value);
  }
  if (member.value.as_string() != expected) {
    return context.fail("expected " + std::string(expected) + ", got " +
                        std::string(member.value.as_string().substr(0, 100)));
  }
  context.leave();
  return true;
}

bool decode_member(const StructInfo& info, DecodeContext& context, const json::Member& member,
                   void* object, std::size_t& hint) {
  const Field* field = find_field(info, member.key, hint);
  // Null counts as absent, but is written back.
  if (field == nullptr || member.value.is_null()) {
    keep(info.extra(object), member);
    return true;
  }
  void* target = field->member(object);
  context.enter(field->name);
  if (!field->codec.decode(context, member.value, target)) {
    return false;
  }
  context.leave();
  if (field->presence == Presence::omit_empty && field->codec.empty(target)) {
    keep(info.extra(object), member);
  }
  return true;
}

// Members are only read through this: encoding does not change the object.
const void* member_of(const Field& field, const void* object) {
  return field.member(const_cast<void*>(object));
}
const Extra& extra_of(const StructInfo& info, const void* object) {
  return info.extra(const_cast<void*>(object));
}

// The fields that are to be written, one bit each.
std::uint64_t fields_to_write(const StructInfo& info, const void* object) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < info.count; ++i) {
    const Field& field = info.fields[i];
    if (field.presence == Presence::always || !field.codec.empty(member_of(field, object))) {
      bits |= std::uint64_t{1} << i;
    }
  }
  return bits;
}

json::Value encode_members(const StructInfo& info, json::Arena& arena, const void* object,
                           bool types) {
  const std::uint64_t written = fields_to_write(info, object);
  const Extra& extra = extra_of(info, object);
  std::span<json::Member> out = allocate<json::Member>(
      arena,
      (types ? 2u : 0u) + static_cast<std::size_t>(std::popcount(written)) + extra.members.size());
  std::size_t size = 0;
  if (types) {
    out[size++] = {"apiVersion", json::Value::string_view_of(info.api_version)};
    out[size++] = {"kind", json::Value::string_view_of(info.kind)};
  }
  for (std::size_t i = 0; i < info.count; ++i) {
    if ((written >> i & 1) != 0) {
      const Field& field = info.fields[i];
      out[size++] = {field.name, field.codec.encode(arena, member_of(field, object))};
    }
  }
  for (const Extra::Member& member : extra.members) {
    // Fields written above replace the kept members of the same name.
    std::size_t hint = 0;
    const Field* field = find_field(info, member.key, hint);
    const bool replaced = field == nullptr ? types && names_type(member.key)
                                           : (written >> (field - info.fields) & 1) != 0;
    if (!replaced) {
      out[size++] = {arena.copy(member.key), to_value(arena, member.value)};
    }
  }
  return json::Value::object_of(out.first(size));
}

}  // namespace

bool DecodeContext::fail(std::string_view what) {
  if (message_.empty()) {
    message_ = path();
    message_ += message_.empty() ? "" : ": ";
    message_ += what;
  }
  return false;
}

bool DecodeContext::wrong_kind(std::string_view expected, const json::Value& got) {
  std::string what = "expected ";
  return fail(what.append(expected).append(", got ").append(with_article(got.kind())));
}

std::string DecodeContext::path() const {
  std::string out;
  for (const Segment& segment : path_) {
    switch (segment.step) {
      case Step::member:
        out.append(out.empty() ? "" : ".").append(segment.name);
        break;
      case Step::key:
        out.append("[").append(segment.name).append("]");
        break;
      case Step::item:
        out.append("[").append(std::to_string(segment.index)).append("]");
        break;
    }
  }
  return out;
}

bool decode_struct(const StructInfo& info, DecodeContext& context, const json::Value& value,
                   void* object) {
  if (!value.is_object()) {
    return context.wrong_kind("an object", value);
  }
  std::size_t hint = 0;
  for (const json::Member& member : value.members()) {
    if (!decode_member(info, context, member, object, hint)) {
      return false;
    }
  }
  return true;
}

bool is_empty_struct(const StructInfo& info, const void* object) {
  if (!extra_of(info, object).empty()) {
    return false;
  }
  for (std::size_t i = 0; i < info.count; ++i) {
    if (!info.fields[i].codec.empty(member_of(info.fields[i], object))) {
      return false;
    }
  }
  return true;
}

json::Value encode_struct(const StructInfo& info, json::Arena& arena, const void* object) {
  return encode_members(info, arena, object, /*types=*/false);
}

Result<void> decode(const StructInfo& info, const json::Value& value, void* object) {
  DecodeContext context;
  const auto failed = [&] { return codeflare::fail(invalid_argument(context.take_message())); };
  if (!value.is_object()) {
    context.wrong_kind("an object", value);
    return failed();
  }
  std::size_t hint = 0;
  for (const json::Member& member : value.members()) {
    const bool good = !info.kind.empty() && names_type(member.key)
                          ? decode_type(info, context, member)
                          : decode_member(info, context, member, object, hint);
    if (!good) {
      return failed();
    }
  }
  return {};
}

json::Value encode(const StructInfo& info, json::Arena& arena, const void* object) {
  return encode_members(info, arena, object, /*types=*/!info.kind.empty());
}

}  // namespace codeflare::model::codec

namespace codeflare::model {

std::string to_json_text(const codec::StructInfo& info, const void* object) {
  json::Arena arena;
  return json::to_text(codec::encode(info, arena, object));
}

}  // namespace codeflare::model
