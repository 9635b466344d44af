#include "checkpoint/crc32c.h"

#include <array>
#include <charconv>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace codeflare::checkpoint {

namespace {

constexpr std::uint32_t kPolynomial = 0x82f63b78;  // bits reversed

using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc & 1) != 0 ? (crc >> 1) ^ kPolynomial : crc >> 1;
    }
    tables[0][byte] = crc;
  }
  for (std::size_t table = 1; table < tables.size(); ++table) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = tables[table - 1][byte];
      tables[table][byte] = (before >> 8) ^ tables[0][before & 0xff];
    }
  }
  return tables;
}

constexpr Tables kTables = make_tables();

std::uint64_t load(const char* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

std::uint32_t add_byte(std::uint32_t crc, char byte) {
  return (crc >> 8) ^ kTables[0][(crc ^ static_cast<unsigned char>(byte)) & 0xff];
}

// Eight bytes at a time, little-endian machines only; the rest byte by byte.
std::uint32_t by_tables(std::uint32_t crc, std::string_view bytes) {
  while (bytes.size() >= 8) {
    std::uint64_t word = load(bytes.data()) ^ crc;
    crc = 0;
    for (std::size_t table = kTables.size(); table-- > 0; word >>= 8) {
      crc ^= kTables[table][word & 0xff];
    }
    bytes.remove_prefix(8);
  }
  for (const char byte : bytes) {
    crc = add_byte(crc, byte);
  }
  return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t by_instruction(std::uint32_t crc,
                                                               std::string_view bytes) {
  std::uint64_t sum = crc;
  while (bytes.size() >= 8) {
    sum = _mm_crc32_u64(sum, load(bytes.data()));
    bytes.remove_prefix(8);
  }
  crc = static_cast<std::uint32_t>(sum);
  for (const char byte : bytes) {
    crc = _mm_crc32_u8(crc, static_cast<unsigned char>(byte));
  }
  return crc;
}

bool has_instruction() {
  static const bool has = __builtin_cpu_supports("sse4.2") != 0;
  return has;
}
#endif

// a * b modulo the polynomial; a is not 0.
std::uint32_t multiply(std::uint32_t a, std::uint32_t b) {
  std::uint32_t product = 0;
  for (std::uint32_t bit = 1u << 31; a != 0; bit >>= 1) {
    if ((a & bit) != 0) {
      product ^= b;
      a ^= bit;
    }
    b = (b & 1) != 0 ? (b >> 1) ^ kPolynomial : b >> 1;
  }
  return product;
}

}  // namespace

std::uint32_t crc32c(std::uint32_t crc, std::string_view bytes) {
#if defined(__x86_64__)
  if (has_instruction()) {
    return ~by_instruction(~crc, bytes);
  }
#endif
  return ~by_tables(~crc, bytes);
}

std::uint32_t crc32c_combine(std::uint32_t first, std::uint32_t second, std::uint64_t second_size) {
  std::uint32_t shift = 1u << 31;   // x^0
  std::uint32_t square = 1u << 23;  // x^8: one byte
  for (std::uint64_t left = second_size; left != 0; left >>= 1) {
    if ((left & 1) != 0) {
      shift = multiply(square, shift);
    }
    square = multiply(square, square);
  }
  return multiply(shift, first) ^ second;
}

std::string checksum_text(std::uint32_t checksum) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text(8, '0');
  for (std::size_t at = text.size(); at-- > 0; checksum >>= 4) {
    text[at] = kDigits[checksum & 0xf];
  }
  return text;
}

Result<std::uint32_t> parse_checksum(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (text.size() != 8 || error != std::errc() || end != text.data() + text.size()) {
    return fail(invalid_argument("a checksum has eight hexadecimal digits, not '" +
                                 std::string(text.substr(0, 32)) + "'"));
  }
  return value;
}

}  // namespace codeflare::checkpoint
