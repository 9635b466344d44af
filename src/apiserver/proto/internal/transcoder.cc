#include "apiserver/proto/internal/transcoder.h"

#include "apiserver/schema/builtin_form.h"
#include "base/base64.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace codeflare::apiserver::internal {

using json::Member;
using json::Value;
using schema::Encoding;
using schema::Field;
using schema::Node;
using schema::Shape;
using schema::Wire;

namespace {

WireType wire_type(Wire::Type type) {
  switch (type) {
    case Wire::Type::varint:
      return WireType::varint;
    case Wire::Type::fixed64:
      return WireType::fixed64;
    case Wire::Type::fixed32:
      return WireType::fixed32;
    case Wire::Type::length:
      break;
  }
  return WireType::length;
}

const Field* find_number(std::span<const Field> fields, std::uint32_t number) {
  auto found = std::ranges::find(fields, number, [](const Field& f) { return f.wire.number; });
  return found == fields.end() ? nullptr : &*found;
}

// A message field may come once; numbers and texts may come again, and the last one counts.
bool may_repeat(const Node& node) {
  return node.shape == Shape::list || node.shape == Shape::map || node.shape == Shape::boolean ||
         node.shape == Shape::integer || node.shape == Shape::number ||
         node.shape == Shape::string || node.shape == Shape::bytes;
}

}  // namespace

bool Transcoder::object(const Node& node, std::string_view bytes, std::string_view api_version,
                        std::string_view kind, Value& out) {
  if (!structure(node, bytes, 0, out)) {
    return false;
  }
  // These two do not travel inside the message, and the tables leave them out when unset.
  const std::size_t count = out.size() + 2;
  auto* members = static_cast<Member*>(arena_.allocate(count * sizeof(Member), alignof(Member)));
  new (members) Member{"apiVersion", Value::string(arena_, api_version)};
  new (members + 1) Member{"kind", Value::string(arena_, kind)};
  std::ranges::uninitialized_copy(out.members(), std::span(members + 2, out.size()));
  out = Value::object_of({members, count});
  return true;
}

bool Transcoder::structure(const Node& node, std::string_view bytes, std::size_t depth,
                           Value& out) {
  CHECK(node.fields.size() <= kFieldsMax);
  if (!within_limits(depth)) {
    return false;
  }
  Slots slots{.node = node, .base = values_.size()};
  values_.resize(slots.base + node.fields.size());
  if (!read(slots, node, bytes, depth)) {
    return false;
  }
  out = finish(slots);
  values_.resize(slots.base);
  return true;
}

bool Transcoder::read(Slots& slots, const Node& message, std::string_view bytes,
                      std::size_t depth) {
  WireReader reader(bytes);
  Tag tag;
  std::uint64_t inlined_seen = 0;
  while (reader.next(tag)) {
    if (const Field* field = find_number(message.fields, tag.number); field != nullptr) {
      if (!read_field(slots, *field, tag, reader, depth)) {
        return fail_field(message, tag, reader.problem());
      }
      continue;
    }
    const Field* inlined = find_number(message.inlined, tag.number);
    if (inlined == nullptr) {
      if (!reader.skip(tag)) {
        return fail_field(message, tag, reader.problem());
      }
      continue;
    }
    const std::uint64_t bit = std::uint64_t{1} << (inlined - message.inlined.data());
    if ((inlined_seen & bit) != 0) {
      return fail_field(message, tag, "it comes twice");
    }
    inlined_seen |= bit;
    if (!read_inlined(slots, *inlined, tag, reader, depth)) {
      return fail_field(message, tag, reader.problem());
    }
  }
  return reader.problem().empty() || fail(std::string(reader.problem()));
}

bool Transcoder::read_inlined(Slots& slots, const Field& field, Tag tag, WireReader& reader,
                              std::size_t depth) {
  std::string_view bytes;
  if (tag.type != WireType::length) {
    return fail("wrong wire type");
  }
  return reader.bytes(bytes) && read(slots, *field.node, bytes, depth);
}

bool Transcoder::read_field(Slots& slots, const Field& field, Tag tag, WireReader& reader,
                            std::size_t depth) {
  // By name: an inlined message has fields of its own for the same place in the object.
  const Field* target = slots.node.find(field.name);
  CHECK(target != nullptr);
  const auto at = static_cast<std::size_t>(target - slots.node.fields.data());
  const std::uint64_t bit = std::uint64_t{1} << at;
  const bool first = (slots.present & bit) == 0;
  const Node& node = *field.node;
  if (!first && !may_repeat(node)) {
    return fail("it comes twice");
  }
  slots.present |= bit;
  const WireType expected = wire_type(field.wire.type);
  // Not a reference: structures inside make values_ grow.
  Value value = first ? Value() : values_[slots.base + at];
  bool read = false;
  if (node.shape == Shape::map || (node.shape == Shape::list && node.encoding == Encoding::plain)) {
    if (first) {
      value = Value::array();
    }
    read = read_into_collection(node, expected, tag, reader, depth, value);
  } else {
    read = tag.type == expected ? read_element(node, tag.type, reader, depth, value)
                                : fail("wrong wire type");
  }
  values_[slots.base + at] = value;
  return read;
}

bool Transcoder::read_into_collection(const Node& node, WireType expected, Tag tag,
                                      WireReader& reader, std::size_t depth, Value& list) {
  std::string_view bytes;
  if (tag.type == WireType::length && expected != WireType::length) {
    return reader.bytes(bytes) && read_packed(*node.items, expected, bytes, list);
  }
  if (tag.type != expected) {
    return fail("wrong wire type");
  }
  if (node.shape == Shape::map) {
    return reader.bytes(bytes) && read_map_entry(*node.items, bytes, depth, list);
  }
  Value element;
  if (!within_limits(depth) || !read_element(*node.items, tag.type, reader, depth, element)) {
    return false;
  }
  list.push_back(arena_, element);
  return true;
}

bool Transcoder::read_element(const Node& node, WireType type, WireReader& reader,
                              std::size_t depth, Value& out) {
  if (type == WireType::length) {
    std::string_view bytes;
    return reader.bytes(bytes) && payload(node, bytes, depth, out);
  }
  std::uint64_t bits = 0;
  const bool read = type == WireType::varint    ? reader.varint(bits)
                    : type == WireType::fixed64 ? reader.fixed64(bits)
                                                : reader.fixed32(bits);
  return read && scalar(node, bits, out);
}

bool Transcoder::read_packed(const Node& items, WireType type, std::string_view bytes,
                             Value& list) {
  WireReader reader(bytes);
  while (!reader.done()) {
    Value element;
    if (!within_limits(0) || !read_element(items, type, reader, 0, element)) {
      return reader.problem().empty() ? false : fail(std::string(reader.problem()));
    }
    list.push_back(arena_, element);
  }
  return true;
}

bool Transcoder::read_map_entry(const Node& items, std::string_view bytes, std::size_t depth,
                                Value& list) {
  WireReader reader(bytes);
  Tag tag;
  std::string_view key;
  Value value = schema::zero_entry_form(items, arena_);
  while (reader.next(tag)) {
    if (tag.number == 1 && tag.type == WireType::length) {
      reader.bytes(key);
    } else if (tag.number == 1) {
      return fail("wrong wire type of a key");
    } else if (tag.number == 2) {
      if (!read_element(items, tag.type, reader, depth, value)) {
        return reader.problem().empty() ? false : fail(std::string(reader.problem()));
      }
    } else {
      reader.skip(tag);
    }
  }
  if (!reader.problem().empty()) {
    return fail(std::string(reader.problem()));
  }
  list.push_back(arena_, Value::string(arena_, key));
  list.push_back(arena_, value);
  return within_limits(depth);
}

bool Transcoder::scalar(const Node& node, std::uint64_t bits, Value& out) {
  switch (node.shape) {
    case Shape::boolean:
      out = Value::boolean(bits != 0);
      return true;
    case Shape::integer:
      // As Go does it: the low bits count.
      out = Value::integer(arena_, node.bits == 32
                                       ? static_cast<std::int32_t>(static_cast<std::uint32_t>(bits))
                                       : static_cast<std::int64_t>(bits));
      return true;
    case Shape::number: {
      const auto number = std::bit_cast<double>(bits);
      if (!std::isfinite(number)) {
        return fail("a number that JSON can't hold");
      }
      out = Value::real(arena_, number);
      return true;
    }
    default:
      return fail("wrong wire type");
  }
}

bool Transcoder::payload(const Node& node, std::string_view bytes, std::size_t depth, Value& out) {
  switch (node.shape) {
    case Shape::string:
      out = Value::string(arena_, bytes);
      return true;
    case Shape::bytes:
      out = Value::string(arena_, to_base64(bytes));
      return true;
    case Shape::structure:
      return structure(node, bytes, depth + 1, out);
    case Shape::time:
    case Shape::micro_time:
      return time(bytes, node.shape == Shape::micro_time, out);
    case Shape::quantity:
      return quantity(bytes, out);
    case Shape::duration:
      return duration(bytes, out);
    case Shape::int_or_string:
      return int_or_string(bytes, out);
    case Shape::any:
      return any(node, bytes, depth, out);
    case Shape::list:
      return item_list(node, bytes, out);
    case Shape::boolean:
    case Shape::integer:
    case Shape::number:
    case Shape::map:
      break;
  }
  return fail("wrong wire type");
}

bool Transcoder::is_shown(const Slots& slots, std::size_t at) const {
  const Wire& wire = slots.node.fields[at].wire;
  if (!wire.omit_empty) {
    return true;
  }
  return (slots.present >> at & 1) != 0 &&
         (wire.pointer || !schema::is_empty_form(values_[slots.base + at]));
}

Value Transcoder::finish(const Slots& slots) {
  const std::span<const Field> fields = slots.node.fields;
  std::uint64_t shown = 0;
  for (std::size_t at = 0; at < fields.size(); ++at) {
    shown |= std::uint64_t{is_shown(slots, at)} << at;
  }
  const auto count = static_cast<std::size_t>(std::popcount(shown));
  auto* members = static_cast<Member*>(arena_.allocate(count * sizeof(Member), alignof(Member)));
  Member* next = members;
  for (; shown != 0; shown &= shown - 1) {
    const auto at = static_cast<std::size_t>(std::countr_zero(shown));
    const Field& field = fields[at];
    Value value;
    if ((slots.present >> at & 1) == 0) {
      value = field.wire.pointer ? Value() : schema::zero_form(*field.node, arena_);
    } else if (field.node->shape == Shape::map) {
      value = finish_map(std::as_const(values_[slots.base + at]).items());
    } else {
      value = values_[slots.base + at];
    }
    new (next++) Member{field.name, value};
  }
  return Value::object_of({members, count});
}

// Sorted by key as Go writes maps; of equal keys the last one counts.
Value Transcoder::finish_map(std::span<const Value> keys_and_values) {
  const std::size_t entries = keys_and_values.size() / 2;
  auto key_of = [&](std::size_t entry) { return keys_and_values[2 * entry].as_string(); };
  std::vector<std::size_t> order(entries);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    const auto compared = key_of(a) <=> key_of(b);
    return compared != 0 ? compared < 0 : a < b;
  });
  auto* members = static_cast<Member*>(arena_.allocate(entries * sizeof(Member), alignof(Member)));
  std::size_t kept = 0;
  for (std::size_t entry : order) {
    if (kept > 0 && members[kept - 1].key == key_of(entry)) {
      --kept;
    }
    new (members + kept++) Member{key_of(entry), keys_and_values[2 * entry + 1]};
  }
  return Value::object_of({members, kept});
}

bool Transcoder::fail(std::string message) {
  if (!error_) {
    error_ = invalid_argument(std::move(message));
  }
  return false;
}

// Puts the innermost message and field in front, once.
bool Transcoder::fail_field(const Node& message, Tag tag, std::string_view what) {
  if (error_ && error_->message.starts_with("protobuf")) {
    return false;
  }
  if (!error_) {
    error_ = invalid_argument(std::string(what));
  }
  error_->message = "protobuf: field " + std::to_string(tag.number) + " of " +
                    std::string(message.type_name) + ": " + error_->message;
  return false;
}

bool Transcoder::within_limits(std::size_t depth) {
  if (depth >= kDepthMax) {
    error_ = too_large("nested more than " + std::to_string(kDepthMax) + " levels deep");
    return false;
  }
  if (arena_.bytes_allocated() > kTreeBytesMax) {
    error_ = too_large("the object takes more than " + std::to_string(kTreeBytesMax) + " bytes");
    return false;
  }
  return true;
}

}  // namespace codeflare::apiserver::internal
