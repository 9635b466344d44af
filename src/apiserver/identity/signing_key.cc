#include "apiserver/identity/signing_key.h"

#include "apiserver/identity/internal/base64url.h"
#include "apiserver/identity/internal/openssl.h"
#include "base/check.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/param_build.h>

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace codeflare::apiserver {

namespace {

constexpr int kNumberSize = 32;

using NumberPtr = std::unique_ptr<BIGNUM, net::OpenSslFree<BN_free>>;
using SignaturePtr = std::unique_ptr<ECDSA_SIG, net::OpenSslFree<ECDSA_SIG_free>>;

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

std::string padded(const BIGNUM* number) {
  std::string out(kNumberSize, '\0');
  CHECK(BN_bn2binpad(number, reinterpret_cast<unsigned char*>(out.data()), kNumberSize) ==
        kNumberSize);
  return out;
}

Result<std::string> coordinate(EVP_PKEY* key, const char* name) {
  BIGNUM* number = nullptr;
  if (EVP_PKEY_get_bn_param(key, name, &number) != 1) {
    return fail(internal::openssl_error("read the signing key's public half"));
  }
  NumberPtr owned(number);
  if (BN_num_bytes(number) > kNumberSize) {
    return fail(invalid_argument("the signing key is not on curve P-256"));
  }
  return padded(number);
}

bool is_p256(EVP_PKEY* key) {
  std::array<char, 64> name{};
  std::size_t size = 0;
  bool named = EVP_PKEY_get_utf8_string_param(key, OSSL_PKEY_PARAM_GROUP_NAME, name.data(),
                                              name.size(), &size) == 1;
  ERR_clear_error();
  return named && std::string_view(name.data(), size) == "prime256v1";
}

}  // namespace

struct SigningKey::Parts {
  internal::KeyPtr key;
  std::string id{};
  Point point{};
};

Result<SigningKey> SigningKey::generate() {
  TRY_ASSIGN(internal::KeyPtr key, internal::generate_key());
  auto parts = std::make_shared<Parts>(std::move(key));
  return from(std::move(parts));
}

Result<SigningKey> SigningKey::from_pem(const Secret& pem) {
  TRY_ASSIGN(internal::KeyPtr key, internal::key_from_pem(pem, "the signing key"));
  if (!is_p256(key.get())) {
    return fail(invalid_argument("the signing key is not on curve P-256"));
  }
  auto parts = std::make_shared<Parts>(std::move(key));
  return from(std::move(parts));
}

Result<SigningKey> SigningKey::from(std::shared_ptr<Parts> parts) {
  TRY_ASSIGN(parts->point.x, coordinate(parts->key.get(), OSSL_PKEY_PARAM_EC_PUB_X));
  TRY_ASSIGN(parts->point.y, coordinate(parts->key.get(), OSSL_PKEY_PARAM_EC_PUB_Y));
  unsigned char* der = nullptr;
  int size = i2d_PUBKEY(parts->key.get(), &der);
  if (size <= 0) {
    return fail(internal::openssl_error("encode the signing key's public half"));
  }
  std::string_view text(reinterpret_cast<char*>(der), static_cast<std::size_t>(size));
  parts->id = internal::to_base64url(internal::sha256(text));
  OPENSSL_free(der);
  return SigningKey(std::move(parts));
}

Secret SigningKey::to_pem() const {
  return internal::key_to_pem(parts_->key.get());
}

std::string SigningKey::sign(std::string_view data) const {
  internal::DigestPtr context(EVP_MD_CTX_new());
  std::size_t size = 0;
  CHECK(EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, parts_->key.get()) == 1);
  CHECK(EVP_DigestSign(context.get(), nullptr, &size, bytes_of(data), data.size()) == 1);
  std::vector<unsigned char> der(size);
  CHECK(EVP_DigestSign(context.get(), der.data(), &size, bytes_of(data), data.size()) == 1);
  const unsigned char* at = der.data();
  SignaturePtr signature(d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(size)));
  CHECK(signature != nullptr);
  return padded(ECDSA_SIG_get0_r(signature.get())) + padded(ECDSA_SIG_get0_s(signature.get()));
}

bool SigningKey::verify(std::string_view data, std::string_view signature) const {
  if (signature.size() != 2 * kNumberSize) {
    return false;
  }
  SignaturePtr numbers(ECDSA_SIG_new());
  NumberPtr r(BN_bin2bn(bytes_of(signature), kNumberSize, nullptr));
  NumberPtr s(BN_bin2bn(bytes_of(signature.substr(kNumberSize)), kNumberSize, nullptr));
  CHECK(ECDSA_SIG_set0(numbers.get(), r.release(), s.release()) == 1);
  unsigned char* der = nullptr;
  int size = i2d_ECDSA_SIG(numbers.get(), &der);
  CHECK(size > 0);
  internal::DigestPtr context(EVP_MD_CTX_new());
  CHECK(EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, parts_->key.get()) ==
        1);
  int verified = EVP_DigestVerify(context.get(), der, static_cast<std::size_t>(size),
                                  bytes_of(data), data.size());
  OPENSSL_free(der);
  ERR_clear_error();
  return verified == 1;
}

const std::string& SigningKey::id() const {
  return parts_->id;
}

const SigningKey::Point& SigningKey::point() const {
  return parts_->point;
}

}  // namespace codeflare::apiserver
