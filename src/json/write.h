#pragma once

#include "json/value.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::json {

// Compact text, members in their order. Bytes that are not UTF-8 become U+FFFD, so the result is
// valid JSON whatever a string holds.
std::string to_text(const Value& value);
void append_text(std::string& out, const Value& value);

// One member or item per line, for people.
std::string to_pretty_text(const Value& value, std::size_t indent = 2);

// The text as a JSON string, with its quotes.
void append_quoted(std::string& out, std::string_view text);

// Writes JSON piece by piece without building a tree:
//   Writer w(out);
//   w.begin_object().key("name").string("a").key("replicas").integer(3).end_object();
// Commas are placed by the writer; the order of calls must make sense (checked in debug builds).
class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}

  Writer& begin_object() { return begin('{'); }
  Writer& end_object() { return end('}'); }
  Writer& begin_array() { return begin('['); }
  Writer& end_array() { return end(']'); }
  Writer& key(std::string_view name);

  Writer& string(std::string_view text);
  Writer& integer(std::int64_t value);
  Writer& number(double value);  // finite
  Writer& number_text(std::string_view text);
  Writer& boolean(bool value);
  Writer& null();
  Writer& value(const Value& value);
  // Text that is already JSON, taken as it is.
  Writer& raw(std::string_view json);

  // Members in one call.
  Writer& member(std::string_view name, std::string_view text) { return key(name).string(text); }
  // Nothing at all when the text is empty: the way most Kubernetes fields are written.
  Writer& member_if_set(std::string_view name, std::string_view text) {
    return text.empty() ? *this : member(name, text);
  }

  // All that was begun has ended.
  bool complete() const { return open_.empty() && !need_value_; }

 private:
  Writer& begin(char bracket);
  Writer& end(char bracket);
  void separate();

  std::string& out_;
  std::vector<char> open_;
  bool need_comma_ = false;
  bool need_value_ = false;  // after a key
};

}  // namespace codeflare::json
