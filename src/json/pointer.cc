#include "json/pointer.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace codeflare::json {

namespace {

Result<std::string> unescape_token(std::string_view token) {
  std::string out;
  out.reserve(token.size());
  for (std::size_t i = 0; i < token.size(); ++i) {
    if (token[i] != '~') {
      out += token[i];
      continue;
    }
    ++i;
    if (i == token.size() || (token[i] != '0' && token[i] != '1')) {
      return fail(invalid_argument("in a pointer '~' must be followed by 0 or 1"));
    }
    out += token[i] == '0' ? '~' : '/';
  }
  return out;
}

}  // namespace

Result<Pointer> Pointer::parse(std::string_view text) {
  Pointer pointer;
  if (text.empty()) {
    return pointer;
  }
  if (text.front() != '/') {
    return fail(invalid_argument("a pointer must be empty or start with '/'"));
  }
  while (!text.empty()) {
    text.remove_prefix(1);
    std::size_t length = std::min(text.find('/'), text.size());
    TRY_ASSIGN(std::string token, unescape_token(text.substr(0, length)));
    pointer.tokens_.push_back(std::move(token));
    text.remove_prefix(length);
  }
  return pointer;
}

Pointer Pointer::parent() const {
  CHECK(!is_root());
  Pointer result = *this;
  result.tokens_.pop_back();
  return result;
}

bool Pointer::is_proper_prefix_of(const Pointer& other) const {
  return tokens_.size() < other.tokens_.size() &&
         std::equal(tokens_.begin(), tokens_.end(), other.tokens_.begin());
}

std::string Pointer::to_string() const {
  std::string out;
  for (const std::string& token : tokens_) {
    out += '/';
    out += escape_token(token);
  }
  return out;
}

std::string escape_token(std::string_view token) {
  std::string out;
  out.reserve(token.size());
  for (char c : token) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += c;
    }
  }
  return out;
}

std::optional<std::size_t> array_index(std::string_view token) {
  if (token.empty() || token[0] < '0' || token[0] > '9' || (token[0] == '0' && token.size() > 1)) {
    return std::nullopt;
  }
  std::size_t index = 0;
  auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), index);
  if (error != std::errc() || end != token.data() + token.size()) {
    return std::nullopt;
  }
  return index;
}

const Value* find(const Value& root, const Pointer& pointer) {
  const Value* at = &root;
  for (const std::string& token : pointer.tokens()) {
    if (at->is_object()) {
      at = at->find(token);
    } else {
      auto index = array_index(token);
      at = index && *index < at->items().size() ? &at->items()[*index] : nullptr;
    }
    if (at == nullptr) {
      return nullptr;
    }
  }
  return at;
}

Value* find(Value& root, const Pointer& pointer) {
  return const_cast<Value*>(find(std::as_const(root), pointer));
}

}  // namespace codeflare::json
