#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare {

// The part that many texts have in common, so that each text keeps little more than its own part:
// thousands of API objects of one kind repeat the same keys, the same field owners and mostly the
// same values. A packed text is a list of "these bytes, then so many bytes of the sample from
// there".
//
// The sample learns from the texts that resemble it little, until it is full; what it has learned
// it never changes or forgets, so whatever was packed stays readable as long as the sample lives.
// pack() is for one thread at a time; unpack() may run beside it on others.
class TextSample {
 public:
  static constexpr std::size_t kBytesMax = std::size_t{256} << 10;

  TextSample();
  TextSample(const TextSample&) = delete;
  TextSample& operator=(const TextSample&) = delete;

  // May be longer than the text, when that is like nothing else.
  std::string pack(std::string_view text);
  // The text that was given to pack() of this sample; `size` is the length it had.
  std::string unpack(std::string_view packed, std::size_t size) const;

  std::size_t memory_bytes() const;

 private:
  struct Match {
    std::size_t position = 0;  // in the sample
    std::size_t length = 0;
  };
  struct Packed;

  Packed encode(std::string_view text) const;
  Match find(std::string_view rest, std::size_t expected) const;
  std::size_t common_length(std::string_view rest, std::size_t position) const;
  bool learn(std::string_view text);
  void add_to_index(std::size_t begin);

  // Never moves: other threads may read what is filled.
  std::unique_ptr<char[]> bytes_;
  std::size_t size_ = 0;
  // By the hash of kWord bytes, where they last occur in the sample, plus one; 0 when nowhere.
  std::vector<std::uint32_t> index_;
};

}  // namespace codeflare
