#include "kube/internal/warnings.h"

#include <algorithm>
#include <optional>

namespace codeflare::kube::internal {

namespace {

void skip_spaces(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
}

std::string_view take_word(std::string_view& rest) {
  skip_spaces(rest);
  const std::size_t end = std::min(rest.find_first_of(" \t"), rest.size());
  const std::string_view word = rest.substr(0, end);
  rest.remove_prefix(end);
  return word;
}

std::optional<std::string> take_quoted(std::string_view& rest) {
  skip_spaces(rest);
  if (!rest.starts_with('"')) {
    return std::nullopt;
  }
  std::string text;
  for (std::size_t i = 1; i < rest.size(); ++i) {
    if (rest[i] == '"') {
      rest.remove_prefix(i + 1);
      return text;
    }
    if (rest[i] == '\\' && i + 1 < rest.size()) {
      ++i;
    }
    text += rest[i];
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> warning_texts(std::string_view field) {
  std::vector<std::string> texts;
  while (true) {
    // RFC 7234 5.5: code, agent, quoted text, perhaps a quoted date.
    const std::string_view code = take_word(field);
    if (code.size() != 3 || take_word(field).empty()) {
      return texts;
    }
    std::optional<std::string> text = take_quoted(field);
    if (!text) {
      return texts;
    }
    texts.push_back(*std::move(text));
    take_quoted(field);
    skip_spaces(field);
    if (!field.starts_with(',')) {
      return texts;
    }
    field.remove_prefix(1);
  }
}

}  // namespace codeflare::kube::internal
