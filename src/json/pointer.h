#pragma once

#include "base/result.h"
#include "json/value.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::json {

// A JSON pointer (RFC 6901): "/spec/containers/0/a~1b". The empty pointer is the whole document.
class Pointer {
 public:
  Pointer() = default;
  // Rejects text that neither is empty nor starts with '/', and '~' without 0 or 1 behind it.
  static Result<Pointer> parse(std::string_view text);

  const std::vector<std::string>& tokens() const { return tokens_; }
  bool is_root() const { return tokens_.empty(); }
  Pointer parent() const;  // not of the root
  // This pointer leads to an ancestor of the other's target.
  bool is_proper_prefix_of(const Pointer& other) const;
  void append(std::string_view token) { tokens_.emplace_back(token); }
  std::string to_string() const;

 private:
  std::vector<std::string> tokens_;
};

// "a/b~c" → "a~1b~0c".
std::string escape_token(std::string_view token);

// "0", "17": an array index as RFC 6901 writes it; no sign, no leading zeros.
std::optional<std::size_t> array_index(std::string_view token);

// The target of the pointer, or nullptr ("-" and indexes past the end lead nowhere).
const Value* find(const Value& root, const Pointer& pointer);
Value* find(Value& root, const Pointer& pointer);

}  // namespace codeflare::json
