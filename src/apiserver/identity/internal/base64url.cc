#include "apiserver/identity/internal/base64url.h"

#include "base/base64.h"

#include <algorithm>

namespace codeflare::apiserver::internal {

std::string to_base64url(std::string_view bytes) {
  std::string text = to_base64(bytes);
  text.resize(text.find_last_not_of('=') + 1);
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  return text;
}

Result<std::string> from_base64url(std::string_view text) {
  if (text.find_first_of("+/=\r\n") != std::string_view::npos || text.size() % 4 == 1) {
    return fail(invalid_argument("not in base64url form"));
  }
  std::string standard(text);
  std::ranges::replace(standard, '-', '+');
  std::ranges::replace(standard, '_', '/');
  standard.append((4 - standard.size() % 4) % 4, '=');
  auto bytes = from_base64(standard);
  // One text per value: otherwise one token would have several spellings.
  if (!bytes || to_base64url(*bytes) != text) {
    return fail(invalid_argument("not in base64url form"));
  }
  return bytes;
}

}  // namespace codeflare::apiserver::internal
