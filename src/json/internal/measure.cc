#include "json/internal/measure.h"

#include <algorithm>

namespace codeflare::json::internal {

namespace {

// An allocation of children may need this much padding after a text.
constexpr std::size_t kPaddingMax = alignof(Value) - 1;

void visit(const Value& value, std::size_t depth, Extent& extent) {
  ++extent.nodes;
  if (value.is_array() || value.is_object()) {
    extent.depth = std::max(extent.depth, ++depth);
  }
  for (const Value& item : value.items()) {
    visit(item, depth, extent);
  }
  for (const Member& member : value.members()) {
    visit(member.value, depth, extent);
  }
}

}  // namespace

std::size_t footprint(const Value& value) {
  std::size_t total = 0;
  switch (value.kind()) {
    case Kind::null:
    case Kind::boolean:
      break;
    case Kind::number:
      total += value.number().size();
      break;
    case Kind::string:
      total += value.as_string().size();
      break;
    case Kind::array:
      total += kPaddingMax + value.size() * sizeof(Value);
      for (const Value& item : value.items()) {
        total += footprint(item);
      }
      break;
    case Kind::object:
      total += kPaddingMax + value.size() * sizeof(Member);
      for (const Member& member : value.members()) {
        total += member.key.size() + footprint(member.value);
      }
      break;
  }
  return total;
}

Extent measure(const Value& value) {
  Extent extent;
  visit(value, 0, extent);
  return extent;
}

}  // namespace codeflare::json::internal
