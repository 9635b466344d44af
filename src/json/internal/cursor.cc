#include "json/internal/cursor.h"

#include "json/parse.h"
#include "json/text_position.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace codeflare::json::internal {

namespace {

constexpr std::uint64_t kOnes = 0x0101010101010101;
constexpr std::uint64_t kHighs = 0x8080808080808080;

// High bit set in (at least the first of) the bytes of `word` that equal `byte`.
constexpr std::uint64_t matches(std::uint64_t word, unsigned char byte) {
  std::uint64_t x = word ^ (kOnes * byte);
  return (x - kOnes) & ~x & kHighs;
}

// The first quote or backslash in [at, end), or end.
const char* find_quote_or_escape(const char* at, const char* end) {
  static_assert(std::endian::native == std::endian::little);
  while (end - at >= 8) {
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    std::uint64_t found = matches(word, '"') | matches(word, '\\');
    if (found != 0) {
      return at + std::countr_zero(found) / 8;
    }
    at += 8;
  }
  while (at != end && *at != '"' && *at != '\\') {
    ++at;
  }
  return at;
}

enum class Byte : unsigned char { other, quote, open, close };

constexpr std::array<Byte, 256> make_table() {
  std::array<Byte, 256> table{};
  table['"'] = Byte::quote;
  table['{'] = table['['] = Byte::open;
  table['}'] = table[']'] = Byte::close;
  return table;
}

constexpr std::array<Byte, 256> kTable = make_table();

int hex_value(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// Reads XXXX of \uXXXX at `at`; -1 when it is malformed.
int code_unit(std::string_view raw, std::size_t at) {
  if (raw.size() < at + 4) {
    return -1;
  }
  int unit = 0;
  for (std::size_t i = at; i < at + 4; ++i) {
    int digit = hex_value(raw[i]);
    if (digit < 0) {
      return -1;
    }
    unit = unit * 16 + digit;
  }
  return unit;
}

void append_utf8(std::string& out, std::uint32_t point) {
  auto put = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (point < 0x80) {
    put(point);
  } else if (point < 0x800) {
    put(0xc0 | point >> 6);
    put(0x80 | (point & 0x3f));
  } else if (point < 0x10000) {
    put(0xe0 | point >> 12);
    put(0x80 | (point >> 6 & 0x3f));
    put(0x80 | (point & 0x3f));
  } else {
    put(0xf0 | point >> 18);
    put(0x80 | (point >> 12 & 0x3f));
    put(0x80 | (point >> 6 & 0x3f));
    put(0x80 | (point & 0x3f));
  }
}

// Decodes \uXXXX, or a pair of them, whose first digit is at `at`; moves `at` behind it.
bool decode_unicode(std::string_view raw, std::size_t& at, std::string& out) {
  int first = code_unit(raw, at);
  if (first < 0 || (first >= 0xdc00 && first <= 0xdfff)) {
    return false;
  }
  at += 4;
  auto point = static_cast<std::uint32_t>(first);
  if (first >= 0xd800 && first <= 0xdbff) {
    if (raw.substr(std::min(at, raw.size()), 2) != "\\u") {
      return false;
    }
    int second = code_unit(raw, at + 2);
    if (second < 0xdc00 || second > 0xdfff) {
      return false;
    }
    at += 6;
    point = 0x10000 + ((point - 0xd800) << 10) + (static_cast<std::uint32_t>(second) - 0xdc00);
  }
  append_utf8(out, point);
  return true;
}

}  // namespace

bool Cursor::string(RawString& out) {
  if (at_ == end_ || *at_ != '"') {
    return fail("expected a string");
  }
  const char* start = ++at_;
  out.escaped = false;
  while (true) {
    at_ = find_quote_or_escape(at_, end_);
    if (at_ == end_) {
      return fail("a string does not end");
    }
    if (*at_ == '"') {
      out.text = {start, static_cast<std::size_t>(at_ - start)};
      ++at_;
      return true;
    }
    out.escaped = true;
    if (end_ - at_ < 2) {
      at_ = end_;
      return fail("a string does not end");
    }
    at_ += 2;
  }
}

// Brackets must pair; between them only strings are looked at.
bool Cursor::container() {
  std::array<char, kDepthLimit> closers;
  std::size_t depth = 0;
  while (true) {
    while (at_ != end_ && kTable[static_cast<unsigned char>(*at_)] == Byte::other) {
      ++at_;
    }
    if (at_ == end_) {
      return fail("an object or array does not end");
    }
    switch (kTable[static_cast<unsigned char>(*at_)]) {
      case Byte::quote: {
        RawString ignored;
        if (!string(ignored)) {
          return false;
        }
        break;
      }
      case Byte::open:
        if (depth == closers.size()) {
          return fail("nested too deep");
        }
        closers[depth++] = *at_++ == '{' ? '}' : ']';
        break;
      case Byte::close:
        if (closers[depth - 1] != *at_) {
          return fail("brackets do not pair");
        }
        ++at_;
        if (--depth == 0) {
          return true;
        }
        break;
      case Byte::other:
        break;
    }
  }
}

bool Cursor::scalar() {
  std::string_view rest(at_, static_cast<std::size_t>(end_ - at_));
  for (std::string_view literal : {"true", "false", "null"}) {
    if (rest.starts_with(literal)) {
      at_ += literal.size();
      return true;
    }
  }
  if (rest[0] != '-' && (rest[0] < '0' || rest[0] > '9')) {
    return fail("expected a value");
  }
  at_ += std::min(rest.find_first_not_of("0123456789+-.eE"), rest.size());
  return true;
}

bool Cursor::value(std::string_view& raw) {
  char first = peek();
  const char* start = at_;
  if (at_end()) {
    return fail("the text ends too early");
  }
  RawString ignored;
  bool ok = first == '"' ? string(ignored) : first == '{' || first == '[' ? container() : scalar();
  raw = {start, static_cast<std::size_t>(at_ - start)};
  return ok;
}

bool Cursor::finish() {
  skip_space();
  return at_end() || fail("more text after the value");
}

Error Cursor::error() const {
  std::string_view text(begin_, static_cast<std::size_t>(end_ - begin_));
  return error_at(ErrorCode::invalid_argument,
                  position_of(text, static_cast<std::size_t>(at_ - begin_)),
                  cause_ == nullptr ? "malformed" : cause_);
}

bool decode_escapes(std::string_view raw, std::string& out) {
  static constexpr std::string_view kLetters = "\"\\/bfnrt";
  static constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  std::size_t at = 0;
  while (at < raw.size()) {
    std::size_t backslash = std::min(raw.find('\\', at), raw.size());
    out.append(raw, at, backslash - at);
    if (backslash == raw.size()) {
      return true;
    }
    if (backslash + 1 == raw.size()) {
      return false;
    }
    at = backslash + 2;
    char letter = raw[backslash + 1];
    if (letter == 'u') {
      if (!decode_unicode(raw, at, out)) {
        return false;
      }
      continue;
    }
    std::size_t index = kLetters.find(letter);
    if (index == kLetters.npos) {
      return false;
    }
    out += kMeanings[index];
  }
  return true;
}

}  // namespace codeflare::json::internal
