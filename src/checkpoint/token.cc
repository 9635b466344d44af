#include "checkpoint/token.h"

#include "base/base64.h"
#include "base/check.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace codeflare::checkpoint {

namespace {

constexpr std::string_view kVersion = "cf1.";

std::string base64url(std::string_view bytes) {
  std::string text = to_base64(bytes);
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  text.erase(text.find_last_not_of('=') + 1);
  return text;
}

std::string mac_of(const Secret& key, std::string_view signed_text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> mac{};
  unsigned int size = 0;
  const auto* text = reinterpret_cast<const unsigned char*>(signed_text.data());
  CHECK(HMAC(EVP_sha256(), key.reveal().data(), static_cast<int>(key.reveal().size()), text,
             signed_text.size(), mac.data(), &size) != nullptr);
  return base64url({reinterpret_cast<const char*>(mac.data()), size});
}

std::unexpected<Error> wrong() {
  return fail(unauthenticated("the token is not valid for this checkpoint service"));
}

}  // namespace

bool TokenScope::reaches(const JobKey& wanted) const {
  return reaches_namespace(wanted.ns) || job == wanted;
}

bool TokenScope::reaches_namespace(std::string_view ns) const {
  return job.uid == kEverything && (job.ns == kEverything || job.ns == ns);
}

Secret mint_token(const Secret& key, const TokenScope& scope) {
  std::string text(kVersion);
  text += scope.job.ns + "." + scope.job.uid + "." + std::to_string(scope.expiry);
  text += "." + mac_of(key, text);
  return Secret(std::move(text));
}

Result<TokenScope> check_token(const Secret& key, std::string_view token, WallTime now) {
  const std::size_t last = token.rfind('.');
  if (!token.starts_with(kVersion) || last == std::string_view::npos || key.empty()) {
    return wrong();
  }
  const std::string_view signed_text = token.substr(0, last);
  if (Secret(mac_of(key, signed_text)) != Secret(std::string(token.substr(last + 1)))) {
    return wrong();
  }
  // Only the owner of the key could have written the rest.
  std::string_view rest = signed_text.substr(std::min(kVersion.size(), signed_text.size()));
  const std::size_t first = rest.find('.');
  const std::size_t second = first == rest.npos ? rest.npos : rest.find('.', first + 1);
  if (second == std::string_view::npos) {
    return wrong();
  }
  TokenScope scope{.job = {.ns = std::string(rest.substr(0, first)),
                           .uid = std::string(rest.substr(first + 1, second - first - 1))}};
  rest.remove_prefix(second + 1);
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), scope.expiry);
  if (error != std::errc() || end != rest.data() + rest.size()) {
    return wrong();
  }
  if (scope.expiry != 0 && now >= WallTime(std::chrono::seconds(scope.expiry))) {
    return fail(unauthenticated("the token expired at " +
                                to_rfc3339(WallTime(std::chrono::seconds(scope.expiry)))));
  }
  return scope;
}

}  // namespace codeflare::checkpoint
