#include "json/write.h"

#include "json/internal/go_float.h"
#include "json/internal/utf8.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace codeflare::json {

namespace {

enum class Class : unsigned char { plain, escape, multibyte };

constexpr std::array<Class, 256> make_classes() {
  std::array<Class, 256> classes{};
  for (std::size_t i = 0; i < classes.size(); ++i) {
    bool escape = i < 0x20 || i == '"' || i == '\\';
    classes[i] = i >= 0x80 ? Class::multibyte : escape ? Class::escape : Class::plain;
  }
  return classes;
}

constexpr std::array<Class, 256> kClasses = make_classes();

// How many bytes, in steps of eight, can be copied without a look at each.
std::size_t plain_prefix(std::string_view text) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kHighs = 0x8080808080808080;
  std::size_t at = 0;
  for (; text.size() - at >= 8; at += 8) {
    std::uint64_t word;
    std::memcpy(&word, text.data() + at, 8);
    const std::uint64_t quotes = word ^ (kOnes * '"');
    const std::uint64_t backslashes = word ^ (kOnes * '\\');
    const std::uint64_t control = (word - kOnes * 0x20) & ~word;
    const std::uint64_t special =
        ((quotes - kOnes) & ~quotes) | ((backslashes - kOnes) & ~backslashes) | control | word;
    if ((special & kHighs) != 0) {
      break;
    }
  }
  return at;
}

void append_escape(std::string& out, char c) {
  static constexpr std::string_view kHex = "0123456789abcdef";
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\b':
      out += "\\b";
      return;
    case '\f':
      out += "\\f";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      out += "\\u00";
      out += kHex[static_cast<unsigned char>(c) >> 4];
      out += kHex[static_cast<unsigned char>(c) & 15];
  }
}

void append_line_break(std::string& out, std::size_t columns) {
  out += '\n';
  out.append(columns, ' ');
}

// indent == 0 is the compact form.
void append_value(std::string& out, const Value& value, std::size_t indent, std::size_t column) {
  switch (value.kind()) {
    case Kind::null:
      out += "null";
      return;
    case Kind::boolean:
      out += value.as_bool() ? "true" : "false";
      return;
    case Kind::number:
      out += value.number();
      return;
    case Kind::string:
      append_quoted(out, value.as_string());
      return;
    case Kind::array:
    case Kind::object:
      break;
  }
  bool is_object = value.is_object();
  out += is_object ? '{' : '[';
  std::size_t inner = column + indent;
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (i > 0) {
      out += ',';
    }
    if (indent > 0) {
      append_line_break(out, inner);
    }
    if (is_object) {
      append_quoted(out, value.members()[i].key);
      out += indent > 0 ? ": " : ":";
    }
    append_value(out, is_object ? value.members()[i].value : value.items()[i], indent, inner);
  }
  if (indent > 0 && value.size() > 0) {
    append_line_break(out, column);
  }
  out += is_object ? '}' : ']';
}

}  // namespace

std::string to_text(const Value& value) {
  std::string out;
  append_value(out, value, 0, 0);
  return out;
}

void append_text(std::string& out, const Value& value) {
  append_value(out, value, 0, 0);
}

std::string to_pretty_text(const Value& value, std::size_t indent) {
  std::string out;
  append_value(out, value, indent, 0);
  return out;
}

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  std::size_t start = 0;  // of the run that is copied as it is
  std::size_t at = plain_prefix(text);
  while (at < text.size()) {
    Class kind = kClasses[static_cast<unsigned char>(text[at])];
    if (kind == Class::plain) [[likely]] {
      ++at;
      continue;
    }
    std::size_t length = kind == Class::multibyte ? internal::utf8_length(text.substr(at)) : 0;
    if (length > 0) {
      at += length;
      continue;
    }
    out.append(text.substr(start, at - start));
    if (kind == Class::escape) {
      append_escape(out, text[at]);
    } else {
      out += "\xef\xbf\xbd";
    }
    start = ++at;
  }
  out.append(text.substr(start));
  out += '"';
}

void Writer::separate() {
  DCHECK(need_value_ || open_.empty() || open_.back() == '[', "a member needs its key first");
  if (need_comma_) {
    out_ += ',';
  }
  need_comma_ = true;
  need_value_ = false;
}

Writer& Writer::begin(char bracket) {
  separate();
  out_ += bracket;
  open_.push_back(bracket);
  need_comma_ = false;
  return *this;
}

Writer& Writer::end(char bracket) {
  DCHECK(!need_value_ && !open_.empty() && open_.back() == (bracket == '}' ? '{' : '['));
  out_ += bracket;
  open_.pop_back();
  need_comma_ = true;
  return *this;
}

Writer& Writer::key(std::string_view name) {
  DCHECK(!need_value_ && !open_.empty() && open_.back() == '{', "a key outside an object");
  if (need_comma_) {
    out_ += ',';
  }
  append_quoted(out_, name);
  out_ += ':';
  need_comma_ = false;
  need_value_ = true;
  return *this;
}

Writer& Writer::string(std::string_view text) {
  separate();
  append_quoted(out_, text);
  return *this;
}

Writer& Writer::integer(std::int64_t value) {
  std::array<char, 24> buffer;
  auto [end, error] = std::to_chars(buffer.begin(), buffer.end(), value);
  return raw({buffer.begin(), end});
}

Writer& Writer::number(double value) {
  CHECK(std::isfinite(value));
  return raw(internal::go_json_number(value));
}

Writer& Writer::number_text(std::string_view text) {
  return raw(text);
}

Writer& Writer::boolean(bool value) {
  return raw(value ? "true" : "false");
}

Writer& Writer::null() {
  return raw("null");
}

Writer& Writer::value(const Value& value) {
  separate();
  append_text(out_, value);
  return *this;
}

Writer& Writer::raw(std::string_view json) {
  separate();
  out_ += json;
  return *this;
}

}  // namespace codeflare::json
