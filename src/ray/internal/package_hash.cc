#include "ray/internal/package_hash.h"

#include "base/check.h"

#include <openssl/evp.h>

#include <memory>

namespace codeflare::ray::internal {

Sha1 sha1(std::string_view first, std::string_view second) {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                        &EVP_MD_CTX_free);
  Sha1 digest{};
  unsigned size = 0;
  const bool done = context != nullptr &&
                    EVP_DigestInit_ex(context.get(), EVP_sha1(), nullptr) == 1 &&
                    EVP_DigestUpdate(context.get(), first.data(), first.size()) == 1 &&
                    EVP_DigestUpdate(context.get(), second.data(), second.size()) == 1 &&
                    EVP_DigestFinal_ex(context.get(), digest.data(), &size) == 1;
  CHECK(done && size == digest.size(), "SHA-1 is not available");
  return digest;
}

std::string to_hex(const std::uint8_t* bytes, std::size_t count) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (std::size_t i = 0; i < count; ++i) {
    out.push_back(kDigits[bytes[i] >> 4]);
    out.push_back(kDigits[bytes[i] & 0xf]);
  }
  return out;
}

void TreeHash::add(std::string_view path, std::string_view content) {
  const Sha1 digest = sha1(path, content);
  for (std::size_t i = 0; i < kBytes; ++i) {
    value_[i] ^= digest[i];
  }
}

}  // namespace codeflare::ray::internal
