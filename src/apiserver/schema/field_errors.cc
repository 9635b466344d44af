#include "apiserver/schema/field_errors.h"

#include "json/write.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <set>

namespace codeflare::apiserver {
namespace {

constexpr int kUnprocessable = 422;

std::string with_detail(std::string message, std::string_view detail) {
  if (!detail.empty()) {
    message.append(": ").append(detail);
  }
  return message;
}

std::string with_value(std::string_view what, std::string_view shown, std::string_view detail) {
  std::string message(what);
  // Upstream leaves some values out.
  if (!shown.empty()) {
    message.append(": ").append(shown);
  }
  return with_detail(std::move(message), detail);
}

// One character of UTF-8 text; length 1 and code 0xFFFD for a byte that begins none.
struct Rune {
  std::uint32_t code = 0xFFFD;
  std::size_t length = 1;
  bool valid = false;
};

Rune read_rune(std::string_view text) {
  auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char first = byte(0);
  if (first < 0x80) {
    return {first, 1, true};
  }
  std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) {
    return {};
  }
  std::uint32_t code = first & (0xFFu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) {
      return {};
    }
    code = (code << 6) | (byte(i) & 0x3Fu);
  }
  constexpr std::array<std::uint32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kSmallest[length] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) {
    return {};
  }
  return {code, length, true};
}

void append_escape(std::string& out, const char* format, std::uint32_t code) {
  std::array<char, 16> buffer{};
  int length = std::snprintf(buffer.data(), buffer.size(), format, code);
  out.append(buffer.data(), static_cast<std::size_t>(length));
}

void append_rune(std::string& out, const Rune& rune, std::string_view bytes) {
  constexpr std::string_view kNamed = "\a\b\f\n\r\t\v";
  constexpr std::string_view kLetters = "abfnrtv";
  if (!rune.valid) {
    append_escape(out, "\\x%02x", static_cast<unsigned char>(bytes[0]));
  } else if (rune.code == '"' || rune.code == '\\') {
    out.push_back('\\');
    out.append(bytes);
  } else if (rune.code < 0x20 || rune.code == 0x7F) {
    std::size_t at = kNamed.find(static_cast<char>(rune.code));
    if (at != std::string_view::npos) {
      out.push_back('\\');
      out.push_back(kLetters[at]);
    } else {
      append_escape(out, "\\x%02x", rune.code);
    }
  } else if (rune.code >= 0x80 && rune.code <= 0xA0) {
    append_escape(out, "\\u%04x", rune.code);
  } else {
    out.append(bytes);
  }
}

// JSON as Go's encoder writes it: sorted keys.
void append_sorted(std::string& out, const json::Value& value) {
  if (value.is_object()) {
    std::vector<const json::Member*> members;
    for (const json::Member& member : value.members()) {
      members.push_back(&member);
    }
    std::ranges::sort(members, {}, [](const json::Member* member) { return member->key; });
    out.push_back('{');
    for (std::size_t i = 0; i < members.size(); ++i) {
      out.append(i == 0 ? "" : ",");
      json::append_quoted(out, members[i]->key);
      out.push_back(':');
      append_sorted(out, members[i]->value);
    }
    out.push_back('}');
  } else if (value.is_array()) {
    out.push_back('[');
    for (std::size_t i = 0; i < value.size(); ++i) {
      out.append(i == 0 ? "" : ",");
      append_sorted(out, value.items()[i]);
    }
    out.push_back(']');
  } else {
    json::append_text(out, value);
  }
}

}  // namespace

std::string quote(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    Rune rune = read_rune(text);
    append_rune(out, rune, text.substr(0, rune.length));
    text.remove_prefix(rune.length);
  }
  out.push_back('"');
  return out;
}

std::string show(const json::Value& value) {
  if (value.is_string()) {
    return quote(value.as_string());
  }
  std::string out;
  append_sorted(out, value);
  return out;
}

void FieldErrors::add(model::StatusCause cause) {
  if (!full()) {
    bytes_ += cause.field.size() + cause.message.size();
    causes_.push_back(std::move(cause));
  }
}

void FieldErrors::add(std::string_view reason, std::string field, std::string message) {
  add(model::StatusCause{.reason = std::string(reason),
                         .message = std::move(message),
                         .field = std::move(field),
                         .extra = {}});
}

void FieldErrors::required(std::string field, std::string_view detail) {
  add("FieldValueRequired", std::move(field), with_detail("Required value", detail));
}

void FieldErrors::invalid(std::string field, std::string_view shown, std::string_view detail) {
  add("FieldValueInvalid", std::move(field), with_value("Invalid value", shown, detail));
}

void FieldErrors::invalid_text(std::string field, std::string_view text, std::string_view detail) {
  invalid(std::move(field), quote(text), detail);
}

void FieldErrors::not_supported(std::string field, std::string_view shown,
                                const std::vector<std::string>& supported) {
  std::string detail;
  for (const std::string& value : supported) {
    detail += detail.empty() ? "supported values: " : ", ";
    detail += quote(value);
  }
  add("FieldValueNotSupported", std::move(field), with_value("Unsupported value", shown, detail));
}

void FieldErrors::forbidden(std::string field, std::string_view detail) {
  add("FieldValueForbidden", std::move(field), with_detail("Forbidden", detail));
}

void FieldErrors::duplicate(std::string field, std::string_view shown) {
  add("FieldValueDuplicate", std::move(field), with_value("Duplicate value", shown, {}));
}

void FieldErrors::not_found(std::string field, std::string_view shown) {
  add("FieldValueNotFound", std::move(field), with_value("Not found", shown, {}));
}

void FieldErrors::too_long(std::string field, std::size_t bytes_max) {
  add("FieldValueTooLong", std::move(field),
      "Too long: may not be more than " + std::to_string(bytes_max) +
          (bytes_max == 1 ? " byte" : " bytes"));
}

void FieldErrors::too_many(std::string field, std::size_t count, std::size_t count_max) {
  add("FieldValueTooMany", std::move(field),
      "Too many: " + std::to_string(count) + ": must have at most " + std::to_string(count_max) +
          (count_max == 1 ? " item" : " items"));
}

void FieldErrors::type_invalid(std::string field, std::string_view shown, std::string_view detail) {
  add("FieldValueTypeInvalid", std::move(field), with_value("Invalid value", shown, detail));
}

Error FieldErrors::to_error(std::string_view group, std::string_view kind,
                            std::string_view name) const {
  std::string all;
  std::set<std::string> seen;
  for (const model::StatusCause& cause : causes_) {
    std::string line = cause.field + ": " + cause.message;
    if (seen.insert(line).second) {
      all += (all.empty() ? "" : ", ") + line;
    }
  }
  if (seen.size() > 1) {
    all = "[" + all + "]";
  }
  model::Status status;
  status.status = "Failure";
  status.reason = "Invalid";
  status.code = kUnprocessable;
  status.message = std::string(kind);
  if (!group.empty()) {
    status.message.append(".").append(group);
  }
  status.message += " " + quote(name) + " is invalid" + (all.empty() ? "" : ": " + all);
  status.details = model::StatusDetails{.name = std::string(name),
                                        .group = std::string(group),
                                        .kind = std::string(kind),
                                        .uid = {},
                                        .causes = causes_,
                                        .retry_after_seconds = 0,
                                        .extra = {}};
  return model::to_error(std::move(status));
}

}  // namespace codeflare::apiserver
