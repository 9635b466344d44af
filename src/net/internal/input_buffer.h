#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace codeflare::net::internal {

// Bytes that were read and not yet used. Holds no memory while empty: most connections are idle.
class InputBuffer {
 public:
  std::string_view view() const { return std::string_view(data_).substr(begin_); }
  bool empty() const { return begin_ == data_.size(); }
  std::size_t size() const { return data_.size() - begin_; }

  void append(std::string_view bytes) {
    // Moving the rest down only when it is the smaller part keeps the cost linear.
    if (begin_ > 0 && size() < begin_) {
      data_.erase(0, begin_);
      begin_ = 0;
    }
    data_.append(bytes);
  }
  void consume(std::size_t count) {
    begin_ += count;
    if (begin_ == data_.size()) {
      data_ = std::string();
      begin_ = 0;
    }
  }

 private:
  std::string data_;
  std::size_t begin_ = 0;
};

}  // namespace codeflare::net::internal
