#include "apiserver/patch/internal/go_print.h"

#include "json/write.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

namespace codeflare::apiserver::internal {

using json::Kind;
using json::Value;

bool is_go_integer(const Value& value) {
  return value.is_number() && value.number().find_first_of(".eE") == std::string_view::npos &&
         value.to_int64().has_value();
}

std::string_view go_type(const Value& value) {
  switch (value.kind()) {
    case Kind::null:
      return "%!s(<nil>)";
    case Kind::boolean:
      return "bool";
    case Kind::number:
      return is_go_integer(value) ? "int64" : "float64";
    case Kind::string:
      return "string";
    case Kind::array:
      return "[]interface {}";
    case Kind::object:
      return "map[string]interface {}";
  }
  return "";
}

namespace {

void append_number(std::string& out, const Value& value) {
  if (auto integer = value.to_int64(); integer && is_go_integer(value)) {
    out += std::to_string(*integer);
    return;
  }
  auto number = value.to_double();
  if (!number) {
    out += value.number();
    return;
  }
  std::array<char, 64> buffer{};
  auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), *number,
                           std::chars_format::general);
  out.append(buffer.data(), end.ptr);
}

std::vector<const json::Member*> sorted_members(const Value& value) {
  std::vector<const json::Member*> sorted;
  sorted.reserve(value.size());
  for (const json::Member& member : value.members()) {
    sorted.push_back(&member);
  }
  std::ranges::sort(sorted, {}, &json::Member::key);
  return sorted;
}

void append_members(std::string& out, const Value& value) {
  auto sorted = sorted_members(value);
  out += "map[";
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    out += i == 0 ? "" : " ";
    out += sorted[i]->key;
    out += ':';
    append_go_print(out, sorted[i]->value);
  }
  out += ']';
}

}  // namespace

void append_go_print(std::string& out, const Value& value) {
  switch (value.kind()) {
    case Kind::null:
      out += "<nil>";
      return;
    case Kind::boolean:
      out += value.as_bool() ? "true" : "false";
      return;
    case Kind::number:
      append_number(out, value);
      return;
    case Kind::string:
      out += value.as_string();
      return;
    case Kind::array: {
      out += '[';
      bool first = true;
      for (const Value& item : value.items()) {
        out += first ? "" : " ";
        first = false;
        append_go_print(out, item);
      }
      out += ']';
      return;
    }
    case Kind::object:
      append_members(out, value);
      return;
  }
}

std::string go_print(const Value& value) {
  std::string out;
  append_go_print(out, value);
  return out;
}

std::string go_syntax(const Value& value) {
  switch (value.kind()) {
    case Kind::null:
      return "interface {}(nil)";
    case Kind::string:
      return go_quote(value.as_string());
    case Kind::boolean:
    case Kind::number:
      return go_print(value);
    case Kind::array: {
      std::string out(go_type(value));
      out += '{';
      for (std::size_t i = 0; i < value.size(); ++i) {
        out += (i == 0 ? "" : ", ") + go_syntax(value.items()[i]);
      }
      return out + "}";
    }
    case Kind::object:
      break;
  }
  std::string out(go_type(value));
  out += '{';
  std::string_view separator;
  for (const json::Member* member : sorted_members(value)) {
    out += separator;
    separator = ", ";
    out += go_quote(member->key) + ":" + go_syntax(member->value);
  }
  return out + "}";
}

std::string go_quote(std::string_view text) {
  std::string out;
  json::append_quoted(out, text);
  return out;
}

}  // namespace codeflare::apiserver::internal
