#include "apiserver/identity/internal/base64url.h"
#include "apiserver/identity/jwt.h"
#include "base/check.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

// The text as a whole, and as header and payload that are well encoded, so that the reader of
// claims is reached too.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace codeflare::apiserver;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  if (auto token = parse_token(text)) {
    CHECK(text.starts_with(token->signed_part));
  }
  std::size_t middle = text.find('\n');
  std::string_view header = text.substr(0, middle);
  std::string_view payload =
      middle == std::string_view::npos ? std::string_view() : text.substr(middle + 1);
  std::string encoded =
      internal::to_base64url(header) + '.' + internal::to_base64url(payload) + '.';
  auto token = parse_token(encoded);
  CHECK(internal::from_base64url(internal::to_base64url(text)).value_or("?") == text);
  if (token) {
    CHECK(token->signature.empty());
    CHECK(token->signed_part.size() + 1 == encoded.size());
  }
  return 0;
}
