#include "base/log.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>

namespace codeflare {

namespace {

constexpr std::string_view kHex = "0123456789abcdef";

template <typename Number>
void append_number(std::string& out, Number value) {
  std::array<char, 32> digits;
  auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out.append(digits.data(), end);
}

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

// Control characters could forge a line or drive a terminal.
void append_escaped(std::string& out, std::string_view text, bool quoted) {
  for (char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (is_control(c)) {
      out += "\\x";
      out += kHex[static_cast<unsigned char>(c) >> 4];
      out += kHex[c & 15];
    } else {
      if (quoted && (c == '"' || c == '\\')) {
        out += '\\';
      }
      out += c;
    }
  }
}

bool needs_quotes(std::string_view text) {
  if (text.empty()) {
    return true;
  }
  for (char c : text) {
    if (c == ' ' || c == '"' || c == '=' || c == '\\' || is_control(c)) {
      return true;
    }
  }
  return false;
}

void append_text_field(std::string& out, const LogField& field) {
  out += ' ';
  append_escaped(out, field.key, false);
  out += '=';
  std::string value = field.value.to_string();
  if (needs_quotes(value)) {
    out += '"';
    append_escaped(out, value, true);
    out += '"';
  } else {
    out += value;
  }
}

// The length of the valid UTF-8 character at the front of `text`, 0 when there is none.
std::size_t utf8_length(std::string_view text) {
  auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char lead = byte(0);
  std::size_t length = lead < 0x80                   ? 1
                       : lead >= 0xc2 && lead < 0xe0 ? 2
                       : lead >= 0xe0 && lead < 0xf0 ? 3
                       : lead >= 0xf0 && lead < 0xf5 ? 4
                                                     : 0;
  if (length == 0 || length > text.size()) {
    return 0;
  }
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) {
      return 0;
    }
  }
  // Too long for what they encode, halves of UTF-16 pairs, beyond the last code point.
  bool bad = (lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xed && byte(1) >= 0xa0) ||
             (lead == 0xf0 && byte(1) < 0x90) || (lead == 0xf4 && byte(1) >= 0x90);
  return bad ? 0 : length;
}

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    char c = text.front();
    std::size_t length = utf8_length(text);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (is_control(c)) {
      out += "\\u00";
      out += kHex[static_cast<unsigned char>(c) >> 4];
      out += kHex[c & 15];
    } else if (length == 0) {
      out += "\\ufffd";
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  out += '"';
}

void append_json_value(std::string& out, const LogValue& value) {
  switch (value.kind()) {
    case LogValue::Kind::integer:
    case LogValue::Kind::unsigned_integer:
    case LogValue::Kind::boolean:
      out += value.to_string();
      return;
    case LogValue::Kind::real:
      // JSON has no word for infinities and not-a-number.
      if (std::isfinite(value.real())) {
        append_number(out, value.real());
        return;
      }
      break;
    case LogValue::Kind::duration:
      append_number(out, std::chrono::duration<double>(value.duration()).count());
      return;
    case LogValue::Kind::text:
    case LogValue::Kind::error:
      break;
  }
  append_json_string(out, value.to_string());
}

std::string_view text_name(LogLevel level) {
  switch (level) {
    case LogLevel::error:
      return " ERROR ";
    case LogLevel::warn:
      return " WARN  ";
    case LogLevel::info:
      return " INFO  ";
    case LogLevel::debug:
      return " DEBUG ";
  }
  return " ????? ";
}

}  // namespace

std::string LogValue::to_string() const {
  std::string out;
  switch (kind_) {
    case Kind::text:
      return std::string(text_);
    case Kind::integer:
      append_number(out, integer_);
      break;
    case Kind::unsigned_integer:
      append_number(out, unsigned_);
      break;
    case Kind::real:
      append_number(out, real_);
      break;
    case Kind::boolean:
      return boolean() ? "true" : "false";
    case Kind::duration:
      return to_text(duration());
    case Kind::error:
      return error_->to_string();
  }
  return out;
}

std::string format_log_text(const LogRecord& record) {
  std::string line = to_rfc3339(record.time, 3);
  line += text_name(record.level);
  append_escaped(line, record.message, false);
  for (std::span<const LogField> fields : {record.context, record.fields}) {
    for (const LogField& field : fields) {
      append_text_field(line, field);
    }
  }
  return line;
}

std::string format_log_json(const LogRecord& record) {
  std::string line = "{\"time\":\"" + to_rfc3339(record.time, 3) + "\",\"level\":\"";
  line += to_string(record.level);
  line += "\",\"msg\":";
  append_json_string(line, record.message);
  for (std::span<const LogField> fields : {record.context, record.fields}) {
    for (const LogField& field : fields) {
      line += ',';
      append_json_string(line, field.key);
      line += ':';
      append_json_value(line, field.value);
    }
  }
  line += '}';
  return line;
}

}  // namespace codeflare
