#include "model/codec/scalars.h"

#include "base/base64.h"
#include "base/check.h"
#include "json/parse.h"
#include "json/write.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace codeflare::model::codec {
namespace {

template <typename T>
T& as(void* member) {
  return *static_cast<T*>(member);
}
template <typename T>
const T& as(const void* member) {
  return *static_cast<const T*>(member);
}

template <typename T>
bool decode_integer(DecodeContext& context, const json::Value& value, void* member) {
  if (!value.is_number()) {
    return context.wrong_kind("a number", value);
  }
  const std::optional<std::int64_t> number = value.to_int64();
  if (!number || *number < std::numeric_limits<T>::min() ||
      *number > std::numeric_limits<T>::max()) {
    return context.fail("expected a whole number of " + std::to_string(sizeof(T) * 8) + " bits");
  }
  as<T>(member) = static_cast<T>(*number);
  return true;
}

bool decode_quantity(DecodeContext& context, const json::Value& value, Quantity& out) {
  std::string_view text;
  if (value.is_string()) {
    text = value.as_string();
    // Kubernetes trims here, and nowhere else.
    constexpr std::string_view kSpace = " \t\r\n";
    text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
    text = text.substr(0, text.find_last_not_of(kSpace) + 1);
  } else if (value.is_number()) {
    text = value.number();
  } else {
    return context.wrong_kind("a string", value);
  }
  Result<Quantity> quantity = Quantity::parse(text);
  if (!quantity) {
    return context.fail(quantity.error().message);
  }
  out = *quantity;
  return true;
}

json::Value encode_quantity(json::Arena& arena, const Quantity& quantity) {
  return json::Value::string(arena, quantity.to_string());
}

bool decode_time(DecodeContext& context, const json::Value& value, WallTime& out) {
  if (!value.is_string()) {
    return context.wrong_kind("a string", value);
  }
  Result<WallTime> time = parse_rfc3339(value.as_string());
  if (!time) {
    return context.fail("expected a time such as 2006-01-02T15:04:05Z");
  }
  out = *time;
  return true;
}

}  // namespace

bool CodecOf<bool>::decode(DecodeContext& context, const json::Value& value, void* member) {
  if (!value.is_boolean()) {
    return context.wrong_kind("a boolean", value);
  }
  as<bool>(member) = value.as_bool();
  return true;
}
json::Value CodecOf<bool>::encode(json::Arena&, const void* member) {
  return json::Value::boolean(as<bool>(member));
}
bool CodecOf<bool>::empty(const void* member) {
  return !as<bool>(member);
}

bool CodecOf<std::int32_t>::decode(DecodeContext& context, const json::Value& value, void* member) {
  return decode_integer<std::int32_t>(context, value, member);
}
json::Value CodecOf<std::int32_t>::encode(json::Arena& arena, const void* member) {
  return json::Value::integer(arena, as<std::int32_t>(member));
}
bool CodecOf<std::int32_t>::empty(const void* member) {
  return as<std::int32_t>(member) == 0;
}

bool CodecOf<std::int64_t>::decode(DecodeContext& context, const json::Value& value, void* member) {
  return decode_integer<std::int64_t>(context, value, member);
}
json::Value CodecOf<std::int64_t>::encode(json::Arena& arena, const void* member) {
  return json::Value::integer(arena, as<std::int64_t>(member));
}
bool CodecOf<std::int64_t>::empty(const void* member) {
  return as<std::int64_t>(member) == 0;
}

bool CodecOf<double>::decode(DecodeContext& context, const json::Value& value, void* member) {
  if (!value.is_number()) {
    return context.wrong_kind("a number", value);
  }
  const std::optional<double> number = value.to_double();
  if (!number || !std::isfinite(*number)) {
    return context.fail("expected a number that fits 64 bits of floating point");
  }
  as<double>(member) = *number;
  return true;
}
json::Value CodecOf<double>::encode(json::Arena& arena, const void* member) {
  return json::Value::real(arena, as<double>(member));
}
bool CodecOf<double>::empty(const void* member) {
  return as<double>(member) == 0;
}

bool CodecOf<std::string>::decode(DecodeContext& context, const json::Value& value, void* member) {
  if (!value.is_string()) {
    return context.wrong_kind("a string", value);
  }
  as<std::string>(member) = value.as_string();
  return true;
}
json::Value CodecOf<std::string>::encode(json::Arena& arena, const void* member) {
  return json::Value::string(arena, as<std::string>(member));
}
bool CodecOf<std::string>::empty(const void* member) {
  return as<std::string>(member).empty();
}

bool CodecOf<RawJson>::decode(DecodeContext&, const json::Value& value, void* member) {
  json::append_text(as<RawJson>(member).text, value);
  return true;
}
json::Value CodecOf<RawJson>::encode(json::Arena& arena, const void* member) {
  return to_value(arena, as<RawJson>(member));
}
bool CodecOf<RawJson>::empty(const void* member) {
  return as<RawJson>(member).empty();
}

bool CodecOf<Binary>::decode(DecodeContext& context, const json::Value& value, void* member) {
  if (!value.is_string()) {
    return context.wrong_kind("a string", value);
  }
  Result<std::string> bytes = from_base64(value.as_string());
  if (!bytes) {
    return context.fail("expected base64");
  }
  as<Binary>(member).bytes = *std::move(bytes);
  return true;
}
json::Value CodecOf<Binary>::encode(json::Arena& arena, const void* member) {
  return json::Value::string(arena, to_base64(as<Binary>(member).bytes));
}
bool CodecOf<Binary>::empty(const void* member) {
  return as<Binary>(member).bytes.empty();
}

bool CodecOf<Quantity>::decode(DecodeContext& context, const json::Value& value, void* member) {
  return decode_quantity(context, value, as<Quantity>(member));
}
json::Value CodecOf<Quantity>::encode(json::Arena& arena, const void* member) {
  return encode_quantity(arena, as<Quantity>(member));
}
bool CodecOf<Quantity>::empty(const void* member) {
  return as<Quantity>(member).is_zero();
}

bool CodecOf<IntOrString>::decode(DecodeContext& context, const json::Value& value, void* member) {
  auto& out = as<IntOrString>(member);
  if (value.is_string()) {
    out = IntOrString::of(std::string(value.as_string()));
    return true;
  }
  if (!value.is_number()) {
    return context.wrong_kind("a number or a string", value);
  }
  return decode_integer<std::int32_t>(context, value, &out.number);
}
json::Value CodecOf<IntOrString>::encode(json::Arena& arena, const void* member) {
  const auto& value = as<IntOrString>(member);
  return value.is_text ? json::Value::string(arena, value.text)
                       : json::Value::integer(arena, value.number);
}
bool CodecOf<IntOrString>::empty(const void* member) {
  return as<IntOrString>(member) == IntOrString();
}

bool CodecOf<Time>::decode(DecodeContext& context, const json::Value& value, void* member) {
  return decode_time(context, value, as<Time>(member));
}
json::Value CodecOf<Time>::encode(json::Arena& arena, const void* member) {
  return json::Value::string(arena, to_rfc3339(as<Time>(member)));
}
bool CodecOf<Time>::empty(const void* member) {
  return as<Time>(member) == Time();
}

bool CodecOf<MicroTime>::decode(DecodeContext& context, const json::Value& value, void* member) {
  return decode_time(context, value, as<MicroTime>(member).time);
}
json::Value CodecOf<MicroTime>::encode(json::Arena& arena, const void* member) {
  return json::Value::string(arena, to_rfc3339(as<MicroTime>(member).time, 6));
}
bool CodecOf<MicroTime>::empty(const void* member) {
  return as<MicroTime>(member) == MicroTime();
}

bool CodecOf<ResourceList>::decode(DecodeContext& context, const json::Value& value, void* member) {
  if (!value.is_object()) {
    return context.wrong_kind("an object", value);
  }
  std::vector<const json::Member*> entries;
  for (const json::Member& entry : value.members()) {
    entries.push_back(&entry);
  }
  // The list is kept in order: of thousands of names in another order each would move the others.
  std::ranges::sort(entries, [](const json::Member* a, const json::Member* b) {
    return a->key != b->key ? a->key < b->key : a < b;
  });
  for (const json::Member* entry : entries) {
    context.enter_key(entry->key);
    Quantity quantity;
    if (!decode_quantity(context, entry->value, quantity)) {
      return false;
    }
    as<ResourceList>(member).set(entry->key, quantity);
    context.leave();
  }
  return true;
}
json::Value CodecOf<ResourceList>::encode(json::Arena& arena, const void* member) {
  const auto& list = as<ResourceList>(member);
  std::span<json::Member> out = allocate<json::Member>(arena, list.size());
  std::size_t i = 0;
  for (const auto& [name, quantity] : list) {
    out[i++] = {arena.copy(name), encode_quantity(arena, quantity)};
  }
  return json::Value::object_of(out);
}
bool CodecOf<ResourceList>::empty(const void* member) {
  return as<ResourceList>(member).empty();
}

json::Value to_value(json::Arena& arena, const RawJson& raw) {
  if (raw.empty()) {
    return {};
  }
  Result<json::Document> document = json::parse_in_place(raw.text);
  CHECK(document.has_value(), "RawJson holds no JSON");
  return document->root.clone(arena);
}

}  // namespace codeflare::model::codec
