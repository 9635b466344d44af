#pragma once

#include <string>

namespace codeflare::model {

// Bytes that travel as base64: the values of Secret.data. A type of its own, so that no printer or
// logger takes them for text by accident.
struct Binary {
  std::string bytes;
  friend bool operator==(const Binary&, const Binary&) = default;
};

}  // namespace codeflare::model
