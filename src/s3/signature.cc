#include "s3/signature.h"

#include "base/check.h"
#include "net/url.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

#include <array>

namespace codeflare::s3 {

namespace {

constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";

std::string hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::string hmac(const std::string& key, std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> mac{};
  unsigned int size = 0;
  CHECK(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
             reinterpret_cast<const unsigned char*>(text.data()), text.size(), mac.data(),
             &size) != nullptr);
  return {reinterpret_cast<const char*>(mac.data()), size};
}

// "20261116T001439Z"
std::string compact_time(WallTime now) {
  std::string text = to_rfc3339(now);
  std::erase_if(text, [](char c) { return c == '-' || c == ':'; });
  return text;
}

}  // namespace

std::string sha256_hex(std::string_view bytes) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
  return hex({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

struct Sha256::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  CHECK(state_->context != nullptr && EVP_DigestInit(state_->context, EVP_sha256()) == 1);
}

Sha256::~Sha256() {
  EVP_MD_CTX_free(state_->context);
}

void Sha256::add(std::string_view bytes) {
  CHECK(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) == 1);
}

std::string Sha256::hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  CHECK(EVP_DigestFinal(state_->context, digest.data(), &size) == 1);
  return s3::hex({reinterpret_cast<const char*>(digest.data()), size});
}

void sign(net::Request& request, const Credentials& credentials, const Signing& signing) {
  request.headers.set("Host", signing.host);
  request.headers.set("x-amz-content-sha256", signing.payload_sha256);
  if (credentials.key_id.empty()) {
    return;
  }
  const std::string time = compact_time(signing.now);
  const std::string day = time.substr(0, 8);
  request.headers.set("x-amz-date", time);
  // In the order of names.
  std::string headers = "host:" + signing.host +
                        "\nx-amz-content-sha256:" + signing.payload_sha256 +
                        "\nx-amz-date:" + time + "\n";
  std::string names = "host;x-amz-content-sha256;x-amz-date";
  if (!credentials.session_token.empty()) {
    request.headers.set("x-amz-security-token", credentials.session_token.reveal());
    headers += "x-amz-security-token:" + credentials.session_token.reveal() + "\n";
    names += ";x-amz-security-token";
  }
  const net::TargetParts target = net::split_target(request.target);
  const std::string canonical = request.method + "\n" + std::string(target.path) + "\n" +
                                std::string(target.query) + "\n" + headers + "\n" + names + "\n" +
                                signing.payload_sha256;
  const std::string scope = day + "/" + signing.region + "/s3/aws4_request";
  const std::string to_sign =
      std::string(kAlgorithm) + "\n" + time + "\n" + scope + "\n" + sha256_hex(canonical);
  wipe(headers);
  std::string first = "AWS4" + credentials.secret.reveal();
  std::string key = hmac(hmac(hmac(hmac(first, day), signing.region), "s3"), "aws4_request");
  wipe(first);
  request.headers.set("Authorization",
                      std::string(kAlgorithm) + " Credential=" + credentials.key_id + "/" + scope +
                          ", SignedHeaders=" + names + ", Signature=" + hex(hmac(key, to_sign)));
  wipe(key);
}

}  // namespace codeflare::s3
