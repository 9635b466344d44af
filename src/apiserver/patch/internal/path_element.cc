#include "apiserver/patch/internal/path_element.h"

#include "apiserver/patch/internal/go_print.h"
#include "apiserver/patch/internal/map_edit.h"
#include "json/parse.h"
#include "json/write.h"

#include <algorithm>
#include <charconv>
#include <vector>

namespace codeflare::apiserver::internal {

using json::Kind;
using json::Member;
using json::Value;

namespace {

int rank(Kind kind) {
  switch (kind) {
    case Kind::number:
      return 0;
    case Kind::string:
      return 1;
    case Kind::boolean:
      return 2;
    case Kind::array:
      return 3;
    case Kind::object:
      return 4;
    case Kind::null:
      return 5;
  }
  return 6;
}

std::weak_ordering compare_numbers(const Value& a, const Value& b) {
  auto left = a.to_int64();
  auto right = b.to_int64();
  if (left && right) {
    return *left <=> *right;
  }
  double x = a.to_double().value_or(0);
  double y = b.to_double().value_or(0);
  return x < y   ? std::weak_ordering::less
         : x > y ? std::weak_ordering::greater
                 : std::weak_ordering::equivalent;
}

// Members are sorted by name.
std::weak_ordering compare_members(std::span<const Member> a, std::span<const Member> b) {
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (auto order = a[i].key <=> b[i].key; order != 0) {
      return order;
    }
    if (auto order = compare_values(a[i].value, b[i].value); order != 0) {
      return order;
    }
  }
  return a.size() <=> b.size();
}

}  // namespace

std::weak_ordering compare_values(const Value& a, const Value& b) {
  if (a.kind() != b.kind()) {
    return rank(a.kind()) <=> rank(b.kind());
  }
  switch (a.kind()) {
    case Kind::null:
      return std::weak_ordering::equivalent;
    case Kind::boolean:
      return a.as_bool() <=> b.as_bool();
    case Kind::number:
      return compare_numbers(a, b);
    case Kind::string:
      return a.as_string() <=> b.as_string();
    case Kind::object:
      return compare_members(a.members(), b.members());
    case Kind::array:
      break;
  }
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (auto order = compare_values(a.items()[i], b.items()[i]); order != 0) {
      return order;
    }
  }
  return a.size() <=> b.size();
}

std::weak_ordering compare(const PathElement& a, const PathElement& b) {
  if (a.kind != b.kind) {
    return a.kind <=> b.kind;
  }
  return compare_values(a.what, b.what);
}

void append_element(std::string& out, const PathElement& element) {
  switch (element.kind) {
    case PathElement::Kind::field:
      out += "f:";
      out += element.what.as_string();
      return;
    case PathElement::Kind::key:
      out += "k:";
      break;
    case PathElement::Kind::value:
      out += "v:";
      break;
    case PathElement::Kind::index:
      out += "i:";
      break;
  }
  json::append_text(out, element.what);
}

namespace {

// {"name":"text"} without escapes, which most keys are: nothing is copied.
std::optional<PathElement> parse_simple_key(json::Arena& arena, std::string_view text) {
  constexpr std::string_view kBegin = "{\"";
  constexpr std::string_view kMiddle = "\":\"";
  constexpr std::string_view kEnd = "\"}";
  std::size_t middle = text.find(kMiddle);
  bool simple = text.starts_with(kBegin) && text.ends_with(kEnd) && middle != text.npos &&
                middle + kMiddle.size() + kEnd.size() <= text.size() &&
                text.find('\\') == text.npos;
  if (!simple) {
    return std::nullopt;
  }
  std::string_view name = text.substr(kBegin.size(), middle - kBegin.size());
  std::string_view value = text.substr(middle + kMiddle.size());
  value.remove_suffix(kEnd.size());
  if (name.find('"') != name.npos || value.find('"') != value.npos) {
    return std::nullopt;
  }
  std::vector<Member> members = {{name, Value::string_view_of(value)}};
  return PathElement{PathElement::Kind::key, make_object(arena, members)};
}

}  // namespace

std::optional<PathElement> parse_element(json::Arena& arena, std::string_view text) {
  if (text.size() < 2 || text[1] != ':') {
    return std::nullopt;
  }
  std::string_view rest = text.substr(2);
  if (text[0] == 'f') {
    return PathElement::field(rest);
  }
  if (text[0] == 'i') {
    int index = 0;
    auto end = std::from_chars(rest.data(), rest.data() + rest.size(), index);
    if (end.ec != std::errc() || end.ptr != rest.data() + rest.size()) {
      return std::nullopt;
    }
    return PathElement{PathElement::Kind::index, Value::integer(arena, index)};
  }
  if (text[0] != 'k' && text[0] != 'v') {
    return std::nullopt;
  }
  if (auto simple = text[0] == 'k' ? parse_simple_key(arena, rest) : std::nullopt) {
    return simple;
  }
  auto parsed = json::parse_in_place(rest);
  if (!parsed || (text[0] == 'k' && !parsed->root.is_object())) {
    return std::nullopt;
  }
  Value what = parsed->root.clone(arena);
  if (text[0] == 'v') {
    return PathElement{PathElement::Kind::value, what};
  }
  std::ranges::sort(what.members(), {}, &Member::key);
  return PathElement{PathElement::Kind::key, what};
}

namespace {

void append_shown(std::string& out, const Value& value) {
  switch (value.kind()) {
    case Kind::string:
      out += go_quote(value.as_string());
      return;
    case Kind::null:
      out += "null";
      return;
    case Kind::boolean:
    case Kind::number:
      append_go_print(out, value);
      return;
    case Kind::array:
      out += '[';
      for (std::size_t i = 0; i < value.size(); ++i) {
        out += i == 0 ? "" : ",";
        append_shown(out, value.items()[i]);
      }
      out += ']';
      return;
    case Kind::object:
      for (const Member& member : value.members()) {
        out += member.key;
        out += '=';
        append_shown(out, member.value);
      }
      return;
  }
}

}  // namespace

void append_display(std::string& out, const PathElement& element) {
  switch (element.kind) {
    case PathElement::Kind::field:
      out += '.';
      out += element.what.as_string();
      return;
    case PathElement::Kind::key: {
      char separator = '[';
      for (const Member& member : element.what.members()) {
        out += separator;
        separator = ',';
        out += member.key;
        out += '=';
        append_shown(out, member.value);
      }
      out += ']';
      return;
    }
    case PathElement::Kind::value:
      out += "[=";
      append_shown(out, element.what);
      out += ']';
      return;
    case PathElement::Kind::index:
      out += '[';
      append_shown(out, element.what);
      out += ']';
      return;
  }
}

std::string shortened(std::string_view path) {
  constexpr std::size_t kBytesMax = 2048;
  if (path.size() <= kBytesMax) {
    return std::string(path);
  }
  std::size_t end = kBytesMax;
  while (end > 0 && (static_cast<unsigned char>(path[end]) & 0xC0) == 0x80) {
    --end;  // inside a character
  }
  return std::string(path.substr(0, end)) + "...";
}

}  // namespace codeflare::apiserver::internal
