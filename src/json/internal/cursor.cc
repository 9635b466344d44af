#include "json/internal/cursor.h"

#include "json/parse.h"
#include "json/text_position.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

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

// Where in a block of 64 bytes something stands, one bit per byte.
struct Masks {
  std::uint64_t quotes = 0;
  std::uint64_t backslashes = 0;
  std::uint64_t brackets = 0;  // { } [ ]
};

constexpr std::ptrdiff_t kBlock = 64;

Masks masks_of(const char* block) {
  Masks masks;
#ifdef __SSE2__
  auto bits = [](__m128i equal) {
    return static_cast<std::uint64_t>(static_cast<unsigned>(_mm_movemask_epi8(equal)));
  };
  for (int i = 0; i < 4; ++i) {
    __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block) + i);
    // The one bit in which [ ] differ from { }.
    __m128i folded = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
    __m128i brackets = _mm_or_si128(_mm_cmpeq_epi8(folded, _mm_set1_epi8('{')),
                                    _mm_cmpeq_epi8(folded, _mm_set1_epi8('}')));
    masks.quotes |= bits(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'))) << (16 * i);
    masks.backslashes |= bits(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'))) << (16 * i);
    masks.brackets |= bits(brackets) << (16 * i);
  }
#else
  for (int i = 0; i < kBlock; ++i) {
    char folded = static_cast<char>(block[i] | 0x20);
    masks.quotes |= std::uint64_t{block[i] == '"'} << i;
    masks.backslashes |= std::uint64_t{block[i] == '\\'} << i;
    masks.brackets |= std::uint64_t{folded == '{' || folded == '}'} << i;
  }
#endif
  return masks;
}

// The bytes that follow a backslash which is not itself escaped. `carry` says so of the first byte,
// and afterwards of the first byte of the next block.
std::uint64_t escaped_bytes(std::uint64_t backslashes, bool& carry) {
  std::uint64_t escaped = carry ? 1 : 0;
  backslashes &= ~escaped;
  carry = false;
  while (backslashes != 0) {
    int at = std::countr_zero(backslashes);
    carry = at == 63;
    std::uint64_t next = carry ? 0 : std::uint64_t{2} << at;
    escaped |= next;
    backslashes &= ~(next | std::uint64_t{1} << at);
  }
  return escaped;
}

// Bit i is the exclusive or of the bits 0 to i.
std::uint64_t running_xor(std::uint64_t bits) {
  for (int shift : {1, 2, 4, 8, 16, 32}) {
    bits ^= bits << shift;
  }
  return bits;
}

// Finds the end of an object or array, block by block.
class BracketMatcher {
 public:
  // True when the container ended or something is wrong; `at` is then the bit where.
  bool feed(const char* block, int& at) {
    Masks masks = masks_of(block);
    std::uint64_t quotes = masks.quotes & ~escaped_bytes(masks.backslashes, escape_open_);
    std::uint64_t inside = running_xor(quotes) ^ string_open_;
    string_open_ = ~std::uint64_t{0} * (inside >> 63);
    // JSON has backslashes in strings only; elsewhere they would hide a quote.
    std::uint64_t stray = masks.backslashes & ~inside;
    std::uint64_t brackets = masks.brackets & ~inside;
    while (brackets != 0) {
      at = std::countr_zero(brackets);
      if (!bracket(block[at])) {
        break;
      }
      brackets &= brackets - 1;
    }
    if (stray != 0 && (brackets == 0 || std::countr_zero(stray) < at)) {
      at = std::countr_zero(stray);
      problem_ = "unexpected backslash";
    }
    return brackets != 0 || stray != 0;
  }

  // Why it ended early, nullptr when it ended as it should.
  const char* problem() const { return problem_; }

 private:
  // False when this is the end.
  bool bracket(char c) {
    if (c == '{' || c == '[') {
      if (depth_ == closers_.size()) {
        problem_ = "nested too deep";
        return false;
      }
      closers_[depth_++] = c == '{' ? '}' : ']';
      return true;
    }
    if (closers_[depth_ - 1] != c) {
      problem_ = "brackets do not pair";
      return false;
    }
    return --depth_ > 0;
  }

  std::array<char, kDepthLimit> closers_;
  std::size_t depth_ = 0;
  std::uint64_t string_open_ = 0;  // all ones inside a string
  bool escape_open_ = false;
  const char* problem_ = nullptr;
};

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
  BracketMatcher matcher;
  int bit = 0;
  bool ended = false;
  while (!ended && end_ - at_ >= kBlock) {
    ended = matcher.feed(at_, bit);
    at_ += ended ? bit : kBlock;
  }
  if (!ended) {
    std::array<char, kBlock> rest;
    rest.fill(' ');
    std::copy(at_, end_, rest.begin());
    ended = matcher.feed(rest.data(), bit);
    at_ = ended ? at_ + bit : end_;
  }
  if (!ended) {
    return fail("an object or array does not end");
  }
  if (matcher.problem() != nullptr) {
    return fail(matcher.problem());
  }
  ++at_;
  return true;
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
