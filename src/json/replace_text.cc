#include "json/replace_text.h"

#include "json/internal/utf8.h"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace codeflare::json {

namespace {

constexpr std::size_t kEscapeSize = 6;  // \uXXXX

// The unit of the \uXXXX that `text` starts with; nothing when it starts with something else.
std::optional<unsigned> escaped_unit(std::string_view text) {
  if (text.size() < kEscapeSize || !text.starts_with("\\u")) {
    return std::nullopt;
  }
  unsigned unit = 0;
  const char* end = text.data() + kEscapeSize;
  auto [stopped, error] = std::from_chars(text.data() + 2, end, unit, 16);
  return error == std::errc() && stopped == end ? std::optional(unit) : std::nullopt;
}

bool is_between(std::optional<unsigned> unit, unsigned first, unsigned last) {
  return unit && *unit >= first && *unit <= last;
}

// One step through the inside of a string: how much of it to take, and whether it is text.
struct Step {
  std::size_t size = 1;
  bool is_text = true;
};

Step step_of(std::string_view text) {
  if (text.front() != '\\') {
    const std::size_t size = internal::utf8_length(text);
    return {.size = std::max<std::size_t>(size, 1), .is_text = size > 0};
  }
  const std::optional<unsigned> unit = escaped_unit(text);
  if (!unit) {
    return {.size = std::min<std::size_t>(text.size(), 2)};
  }
  if (is_between(unit, 0xd800, 0xdbff) &&
      is_between(escaped_unit(text.substr(kEscapeSize)), 0xdc00, 0xdfff)) {
    return {.size = 2 * kEscapeSize};
  }
  return {.size = kEscapeSize, .is_text = !is_between(unit, 0xd800, 0xdfff)};
}

}  // namespace

std::optional<std::string> with_replaced_text(std::string_view text) {
  std::string out;
  bool replaced = false;
  bool inside = false;
  while (!text.empty()) {
    if (text.front() == '"') {
      inside = !inside;
    }
    const Step step = inside ? step_of(text) : Step();
    out += step.is_text ? text.substr(0, step.size) : std::string_view("\xef\xbf\xbd");
    replaced = replaced || !step.is_text;
    text.remove_prefix(step.size);
  }
  return replaced ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace codeflare::json
