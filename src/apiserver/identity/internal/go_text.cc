#include "apiserver/identity/internal/go_text.h"

#include "apiserver/schema/field_errors.h"

#include <algorithm>

namespace codeflare::apiserver::internal {

std::string quote_list(const std::vector<std::string>& texts) {
  std::string out = "[";
  for (const std::string& text : texts) {
    out += (out.size() > 1 ? " " : "") + quote(text);
  }
  return out + ']';
}

std::string joined_errors(const std::vector<std::string>& messages) {
  std::vector<std::string> unique;
  for (const std::string& message : messages) {
    if (std::ranges::find(unique, message) == unique.end()) {
      unique.push_back(message);
    }
  }
  if (unique.size() == 1) {
    return unique.front();
  }
  std::string out = "[";
  for (const std::string& message : unique) {
    out += (out.size() > 1 ? ", " : "") + message;
  }
  return out + ']';
}

}  // namespace codeflare::apiserver::internal
