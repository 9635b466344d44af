#pragma once

#include "base/error.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace codeflare::json::internal {

// A JSON string as it stands in the text, without its quotes.
struct RawString {
  std::string_view text;
  bool escaped = false;
};

// Walks JSON text without building anything. Brackets, strings, commas and scalars are checked
// well enough that a slice is never cut at the wrong place; what strings and numbers hold is left
// to a real parser. Functions return false after setting a cause.
class Cursor {
 public:
  explicit Cursor(std::string_view text)
      : begin_(text.data()), at_(text.data()), end_(text.data() + text.size()) {}

  void skip_space() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r')) {
      ++at_;
    }
  }
  bool at_end() const { return at_ == end_; }
  // The next byte after white space, 0 at the end.
  char peek() {
    skip_space();
    return at_end() ? '\0' : *at_;
  }
  const char* position() const { return at_; }

  // Takes the byte if it comes next after white space.
  bool take(char wanted) {
    if (peek() != wanted || at_end()) {
      return false;
    }
    ++at_;
    return true;
  }
  bool string(RawString& out);
  // Steps over one value; `raw` is its text without white space around it.
  bool value(std::string_view& raw);
  // Nothing but white space follows.
  bool finish();

  // Calls on_member(key) for each member of the object that comes next; on_member must step over
  // the value and return false on failure.
  template <typename OnMember>
  bool members(OnMember on_member) {
    if (!take('{')) {
      return fail("expected an object");
    }
    if (take('}')) {
      return true;
    }
    do {
      RawString key;
      skip_space();
      if (!string(key) || !(take(':') || fail("expected ':'")) || !on_member(key)) {
        return false;
      }
    } while (take(','));
    return take('}') || fail("expected ',' or '}'");
  }

  // Calls on_item(raw) for each item of the array that comes next.
  template <typename OnItem>
  bool items(OnItem on_item) {
    if (!take('[')) {
      return fail("expected an array");
    }
    if (take(']')) {
      return true;
    }
    do {
      std::string_view raw;
      if (!value(raw) || !on_item(raw)) {
        return false;
      }
    } while (take(','));
    return take(']') || fail("expected ',' or ']'");
  }

  bool fail(const char* cause) {
    if (cause_ == nullptr) {
      cause_ = cause;
    }
    return false;
  }
  Error error() const;

 private:
  bool container();
  bool scalar();

  const char* begin_;
  const char* at_;
  const char* end_;
  const char* cause_ = nullptr;
};

// Decodes the escapes of a raw string; false when one is malformed.
bool decode_escapes(std::string_view raw, std::string& out);

}  // namespace codeflare::json::internal
