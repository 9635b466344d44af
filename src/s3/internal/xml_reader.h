#pragma once

#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::s3::internal {

// Reads the elements and texts of an XML document, as much of XML as object stores send: no
// document types, attributes are skipped, prefixes of names are dropped.
class XmlReader {
 public:
  enum class Kind : std::uint8_t { open, close, text, end };
  struct Token {
    Kind kind = Kind::end;
    std::string text{};  // a name, or decoded text
  };

  explicit XmlReader(std::string_view xml) : rest_(xml) {}

  // An `end` once every element is closed.
  Result<Token> next();
  std::size_t depth() const { return open_.size(); }

 private:
  Result<Token> tag();
  Result<void> skip_past(std::string_view mark);

  std::string_view rest_;
  std::vector<std::string> open_;
  std::string closes_;  // name of an element without content, whose end comes next
  bool has_root_ = false;
};

}  // namespace codeflare::s3::internal
