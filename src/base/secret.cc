#include "base/secret.h"

#include <cstring>
#include <ostream>
#include <utility>

namespace codeflare {

// A moved-from short string still holds its bytes, so every move ends with a wipe of the source.
Secret::Secret(std::string text) : text_(std::move(text)) {
  wipe(text);
}

Secret::Secret(Secret&& other) noexcept : text_(std::move(other.text_)) {
  wipe(other.text_);
}

Secret& Secret::operator=(const Secret& other) {
  return *this = Secret(other);
}

Secret& Secret::operator=(Secret&& other) noexcept {
  if (this != &other) {
    wipe(text_);
    text_ = std::move(other.text_);
    wipe(other.text_);
  }
  return *this;
}

Secret::~Secret() {
  wipe(text_);
}

bool operator==(const Secret& a, const Secret& b) {
  if (a.text_.size() != b.text_.size()) {
    return false;
  }
  int difference = 0;
  for (std::size_t i = 0; i < a.text_.size(); ++i) {
    difference |= a.text_[i] ^ b.text_[i];
  }
  return difference == 0;
}

std::ostream& operator<<(std::ostream& out, const Secret&) {
  return out << "<redacted>";
}

void wipe(std::string& text) {
  text.resize(text.capacity());
  // Not optimised away, unlike a plain memset before the end of a lifetime.
  explicit_bzero(text.data(), text.size());
  text.clear();
}

}  // namespace codeflare
