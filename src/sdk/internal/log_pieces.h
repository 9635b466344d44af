#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace codeflare::sdk::internal {

// Hands a log on in whole UTF-8 characters, wherever the pieces that arrive are cut.
class LogPieces {
 public:
  explicit LogPieces(std::function<void(std::string_view)> sink) : sink_(std::move(sink)) {}

  void add(std::string_view text);
  // Writes the rest, broken or not.
  void finish();

 private:
  void give(std::size_t bytes);

  std::function<void(std::string_view)> sink_;
  std::string rest_;
};

}  // namespace codeflare::sdk::internal
