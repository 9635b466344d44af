// Messages that JSON shows as something else than an object of their fields.

#include "apiserver/proto/internal/small_message.h"
#include "apiserver/proto/internal/transcoder.h"
#include "base/time.h"
#include "json/parse.h"

#include <string>

namespace codeflare::apiserver::internal {

using json::Value;
using schema::Encoding;
using schema::Node;

bool Transcoder::time(std::string_view bytes, bool micro, Value& out) {
  SmallMessage message;
  if (auto problem = message.read(bytes, "ii"); !problem.empty()) {
    return fail(std::string(problem));
  }
  const auto seconds = static_cast<std::int64_t>(message.integers[0]);
  const auto nanos = static_cast<std::int32_t>(static_cast<std::uint32_t>(message.integers[1]));
  const bool has_fraction = micro && nanos / 1000 != 0;
  if (bytes.empty() || (seconds == kZeroTimeSeconds && !has_fraction)) {
    out = Value();
    return true;
  }
  if (nanos < 0 || nanos > 999'999'999) {
    return fail("nanoseconds outside of a second");
  }
  auto text = time_text(seconds, nanos, micro);
  if (!text) {
    return fail("a time outside of the years 0 to 9999");
  }
  out = Value::string(arena_, *text);
  return true;
}

bool Transcoder::quantity(std::string_view bytes, Value& out) {
  SmallMessage message;
  if (auto problem = message.read(bytes, "t"); !problem.empty()) {
    return fail(std::string(problem));
  }
  out = Value::string(arena_, message.present[0] ? message.texts[0] : "0");
  return true;
}

bool Transcoder::duration(std::string_view bytes, Value& out) {
  SmallMessage message;
  if (auto problem = message.read(bytes, "i"); !problem.empty()) {
    return fail(std::string(problem));
  }
  out = Value::string(arena_, to_text(Duration(static_cast<std::int64_t>(message.integers[0]))));
  return true;
}

bool Transcoder::int_or_string(std::string_view bytes, Value& out) {
  SmallMessage message;
  if (auto problem = message.read(bytes, "iit"); !problem.empty()) {
    return fail(std::string(problem));
  }
  switch (message.integers[0]) {
    case 0:
      out = Value::integer(
          arena_, static_cast<std::int32_t>(static_cast<std::uint32_t>(message.integers[1])));
      return true;
    case 1:
      out = Value::string(arena_, message.texts[2]);
      return true;
    default:
      return fail("neither an integer nor a string");
  }
}

bool Transcoder::item_list(const Node& node, std::string_view bytes, Value& out) {
  out = Value::array();
  WireReader reader(bytes);
  Tag tag;
  while (reader.next(tag)) {
    std::string_view item;
    if (tag.number != 1) {
      reader.skip(tag);
      continue;
    }
    if (tag.type != WireType::length) {
      return fail("wrong wire type of an item");
    }
    Value element;
    if (!reader.bytes(item) || !within_limits(0) || !payload(*node.items, item, 0, element)) {
      break;
    }
    out.push_back(arena_, element);
  }
  return reader.problem().empty() ? !error_.has_value() : fail(std::string(reader.problem()));
}

bool Transcoder::any(const Node& node, std::string_view bytes, std::size_t depth, Value& out) {
  switch (node.encoding) {
    case Encoding::schema_or_list:
    case Encoding::schema_or_strings:
      return schema_or_list(node, bytes, depth, out);
    case Encoding::schema_or_boolean:
      return schema_or_boolean(node, bytes, depth, out);
    case Encoding::plain:
    case Encoding::items:
      break;
  }
  SmallMessage message;
  if (auto problem = message.read(bytes, "t"); !problem.empty()) {
    return fail(std::string(problem));
  }
  return raw_json(message.texts[0], out);
}

bool Transcoder::raw_json(std::string_view bytes, Value& out) {
  if (bytes.empty()) {
    out = Value();
    return true;
  }
  auto parsed = json::parse(bytes, {.max_depth = kRawDepthMax});
  if (!parsed) {
    return fail("embedded JSON: " + parsed.error().message);
  }
  out = parsed->root.clone(arena_);
  return true;
}

// Field 1 is one schema, field 2 several schemas or several names; several go first.
bool Transcoder::schema_or_list(const Node& node, std::string_view bytes, std::size_t depth,
                                Value& out) {
  const bool names = node.encoding == Encoding::schema_or_strings;
  Value single;
  Value several = Value::array();
  WireReader reader(bytes);
  Tag tag;
  while (reader.next(tag)) {
    if (tag.number > 2) {
      reader.skip(tag);
      continue;
    }
    std::string_view item;
    if (tag.type != WireType::length) {
      return fail("wrong wire type");
    }
    if (!reader.bytes(item)) {
      break;
    }
    Value value;
    if (tag.number == 2 && names) {
      value = Value::string(arena_, item);
    } else if (!structure(*node.items, item, depth + 1, value)) {
      return false;
    }
    if (tag.number == 2) {
      several.push_back(arena_, value);
    } else if (single.is_null()) {
      single = value;
    } else {
      return fail("a schema comes twice");
    }
  }
  if (!reader.problem().empty()) {
    return fail(std::string(reader.problem()));
  }
  out = several.size() > 0 ? several : single;
  return true;
}

bool Transcoder::schema_or_boolean(const Node& node, std::string_view bytes, std::size_t depth,
                                   Value& out) {
  SmallMessage message;
  if (auto problem = message.read(bytes, "it"); !problem.empty()) {
    return fail(std::string(problem));
  }
  if (message.present[1]) {
    return structure(*node.items, message.texts[1], depth + 1, out);
  }
  out = Value::boolean(message.integers[0] != 0);
  return true;
}

}  // namespace codeflare::apiserver::internal
