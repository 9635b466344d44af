#include "base/text_sample.h"

#include "base/check.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace codeflare {

namespace {

// Length of words in the index, and of the shortest piece worth a reference of about three bytes.
constexpr std::size_t kWord = 8;
// Every so many bytes of the sample are in the index: matches are found a little late and then
// extended backwards, and the index stays a quarter of the size.
constexpr std::size_t kIndexStep = 4;
// A text is learned when more than this part of it was new...
constexpr std::size_t kLearnPart = 4;
// ...unless it is so long that few of its kind would fill the sample.
constexpr std::size_t kLearnBytesMax = std::size_t{32} << 10;

std::uint64_t word_at(const char* bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, kWord);
  return word;
}

std::size_t slot_of(std::uint64_t word, std::size_t slots) {
  const int bits = std::countr_zero(slots);
  return static_cast<std::size_t>((word * 0x9E3779B97F4A7C15u) >> (64 - bits));
}

// Seven bits per byte, the lowest first; the high bit says that more follow.
void put_number(std::string& out, std::size_t number) {
  while (number >= 0x80) {
    out.push_back(static_cast<char>(number | 0x80));
    number >>= 7;
  }
  out.push_back(static_cast<char>(number));
}

std::size_t take_number(std::string_view& in) {
  std::size_t number = 0;
  for (unsigned shift = 0;; shift += 7) {
    CHECK(!in.empty() && shift < 64, "not a packed text");
    const auto byte = static_cast<unsigned char>(in.front());
    in.remove_prefix(1);
    number |= std::size_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) {
      return number;
    }
  }
}

// Matches mostly follow each other in the sample as in the text, so their distance from where one
// is expected is small, to either side: the sign goes into the lowest bit.
std::size_t to_distance(std::size_t position, std::size_t expected) {
  return position >= expected ? (position - expected) << 1 : ((expected - position) << 1) | 1;
}

std::size_t from_distance(std::size_t distance, std::size_t expected) {
  return (distance & 1) == 0 ? expected + (distance >> 1) : expected - (distance >> 1);
}

}  // namespace

struct TextSample::Packed {
  std::string bytes;
  std::size_t literals = 0;
};

TextSample::TextSample() : bytes_(std::make_unique_for_overwrite<char[]>(kBytesMax)) {}

std::string TextSample::pack(std::string_view text) {
  Packed packed = encode(text);
  if (packed.literals > text.size() / kLearnPart && learn(text)) {
    packed = encode(text);
  }
  return std::move(packed.bytes);
}

TextSample::Packed TextSample::encode(std::string_view text) const {
  Packed packed;
  packed.bytes.reserve(text.size() / 4);
  std::size_t begin = 0;     // of what is not written yet
  std::size_t expected = 0;  // in the sample, for `begin`
  for (std::size_t at = 0; at + kWord <= text.size();) {
    Match match = find(text.substr(at), expected + (at - begin));
    if (match.length < kWord) {
      // The longer nothing is found, the less it pays to look at every byte.
      at += 1 + (at - begin) / 256;
      continue;
    }
    while (at > begin && match.position > 0 && text[at - 1] == bytes_[match.position - 1]) {
      --at;
      --match.position;
      ++match.length;
    }
    put_number(packed.bytes, at - begin);
    packed.bytes.append(text.substr(begin, at - begin));
    packed.literals += at - begin;
    put_number(packed.bytes, match.length);
    put_number(packed.bytes, to_distance(match.position, expected + (at - begin)));
    at += match.length;
    begin = at;
    expected = match.position + match.length;
  }
  put_number(packed.bytes, text.size() - begin);
  packed.bytes.append(text.substr(begin));
  packed.literals += text.size() - begin;
  return packed;
}

TextSample::Match TextSample::find(std::string_view rest, std::size_t expected) const {
  Match best{expected, common_length(rest, expected)};
  if (!index_.empty() && best.length < kWord) {
    const std::uint32_t entry = index_[slot_of(word_at(rest.data()), index_.size())];
    if (entry != 0) {
      const Match other{entry - 1, common_length(rest, entry - 1)};
      best = other.length > best.length ? other : best;
    }
  }
  return best;
}

std::size_t TextSample::common_length(std::string_view rest, std::size_t position) const {
  const std::size_t most = position < size_ ? std::min(rest.size(), size_ - position) : 0;
  std::size_t length = 0;
  while (length + kWord <= most &&
         word_at(rest.data() + length) == word_at(&bytes_[position + length])) {
    length += kWord;
  }
  while (length < most && rest[length] == bytes_[position + length]) {
    ++length;
  }
  return length;
}

bool TextSample::learn(std::string_view text) {
  if (text.size() > std::min(kLearnBytesMax, kBytesMax - size_)) {
    return false;
  }
  std::memcpy(&bytes_[size_], text.data(), text.size());
  const std::size_t begin = std::exchange(size_, size_ + text.size());
  const std::size_t slots = std::bit_ceil(std::max(size_ / kIndexStep, std::size_t{64}));
  if (slots > index_.size()) {
    index_.assign(slots, 0);
    add_to_index(0);
  } else {
    add_to_index(begin);
  }
  return true;
}

void TextSample::add_to_index(std::size_t begin) {
  for (std::size_t at = begin; at + kWord <= size_; at += kIndexStep) {
    index_[slot_of(word_at(&bytes_[at]), index_.size())] = static_cast<std::uint32_t>(at + 1);
  }
}

std::string TextSample::unpack(std::string_view packed, std::size_t size) const {
  std::string text;
  text.reserve(size);
  std::size_t expected = 0;
  while (true) {
    const std::size_t literals = take_number(packed);
    text.append(packed.substr(0, literals));
    packed.remove_prefix(literals);
    if (packed.empty()) {
      break;
    }
    const std::size_t length = take_number(packed);
    const std::size_t position = from_distance(take_number(packed), expected + literals);
    text.append(&bytes_[position], length);
    expected = position + length;
  }
  CHECK(text.size() == size, "not a packed text");
  return text;
}

std::size_t TextSample::memory_bytes() const {
  return sizeof(TextSample) + size_ + index_.capacity() * sizeof(index_[0]);
}

}  // namespace codeflare
