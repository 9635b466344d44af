#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace codeflare::apiserver {

// A write-ahead log as SQLite writes it, byte by byte.
class WalBuilder {
 public:
  struct Options {
    std::uint32_t page_bytes = 512;
    bool big_endian = false;
    std::uint32_t salt = 7;
  };
  explicit WalBuilder(Options options) : options_(options) {
    std::string head;
    for (std::uint32_t field : {0x377f0682 + (options.big_endian ? 1u : 0u), 3007000u,
                                options.page_bytes, 0u, options.salt, ~options.salt}) {
      put(head, field);
    }
    sum(head);
    bytes_ = head;
    put_sums();
  }

  std::size_t frame_bytes() const { return options_.page_bytes + 24; }
  // A frame of this page; `commit`: the pages of the database then, 0 when the transaction goes on.
  WalBuilder& frame(std::uint32_t page, std::uint32_t commit, std::string_view content) {
    std::string head;
    put(head, page);
    put(head, commit);
    std::string body(content.substr(0, options_.page_bytes));
    body.resize(options_.page_bytes);
    sum(head);
    sum(body);
    bytes_ += head;
    put(bytes_, options_.salt);
    put(bytes_, ~options_.salt);
    put_sums();
    bytes_ += body;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }
  std::uint64_t offset_of(std::uint64_t frame) const { return 32 + (frame - 1) * frame_bytes(); }

 private:
  static void put(std::string& to, std::uint32_t value) {
    for (int shift = 24; shift >= 0; shift -= 8) {
      to += static_cast<char>(value >> shift);
    }
  }
  void put_sums() {
    put(bytes_, first_);
    put(bytes_, second_);
  }
  std::uint32_t word(std::string_view from, std::size_t at) const {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      const std::size_t shift = 8 * (options_.big_endian ? 3 - i : i);
      value |= std::uint32_t{static_cast<unsigned char>(from[at + i])} << shift;
    }
    return value;
  }
  void sum(std::string_view bytes) {
    for (std::size_t at = 0; at < bytes.size(); at += 8) {
      first_ += word(bytes, at) + second_;
      second_ += word(bytes, at + 4) + first_;
    }
  }

  Options options_;
  std::uint32_t first_ = 0;
  std::uint32_t second_ = 0;
  std::string bytes_;
};

inline std::string with_flipped_bit(std::string bytes, std::uint64_t bit) {
  bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
  return bytes;
}

}  // namespace codeflare::apiserver
