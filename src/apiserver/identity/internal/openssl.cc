#include "apiserver/identity/internal/openssl.h"

#include "base/check.h"

#include <openssl/err.h>
#include <openssl/pem.h>

#include <array>
#include <utility>

namespace codeflare::apiserver::internal {

namespace {

BioPtr memory_of(std::string_view text) {
  return BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

std::string text_of(BIO* bio) {
  char* data = nullptr;
  long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<std::size_t>(size)};
}

// Files of ours carry no passphrase, and nobody is there to be asked.
int no_passphrase(char*, int, int, void*) {
  return -1;
}

}  // namespace

Result<KeyPtr> generate_key() {
  KeyPtr key(EVP_EC_gen("P-256"));
  if (key == nullptr) {
    return fail(openssl_error("generate a key"));
  }
  return key;
}

Result<KeyPtr> key_from_pem(const Secret& pem, std::string_view what) {
  BioPtr bio = memory_of(pem.reveal());
  KeyPtr key(PEM_read_bio_PrivateKey(bio.get(), nullptr, no_passphrase, nullptr));
  if (key == nullptr) {
    ERR_clear_error();  // its reason is what the last of its decoders said: "unsupported"
    return fail(failed_precondition(std::string(what) +
                                    " is not a private key in PEM form without a passphrase"));
  }
  return key;
}

Secret key_to_pem(EVP_PKEY* key) {
  BioPtr bio(BIO_new(BIO_s_secmem()));
  CHECK(PEM_write_bio_PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr) == 1);
  return Secret(text_of(bio.get()));
}

Result<X509Ptr> certificate_from_pem(std::string_view pem, std::string_view what) {
  BioPtr bio = memory_of(pem);
  X509Ptr certificate(PEM_read_bio_X509(bio.get(), nullptr, no_passphrase, nullptr));
  if (certificate == nullptr) {
    ERR_clear_error();
    return fail(failed_precondition(std::string(what) + " is not a certificate in PEM form"));
  }
  return certificate;
}

std::string certificate_to_pem(X509* certificate) {
  BioPtr bio(BIO_new(BIO_s_mem()));
  CHECK(PEM_write_bio_X509(bio.get(), certificate) == 1);
  return text_of(bio.get());
}

std::string sha256(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  CHECK(EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) == 1);
  return {reinterpret_cast<const char*>(digest.data()), size};
}

Error openssl_error(std::string_view what) {
  const char* reason = ERR_reason_error_string(ERR_peek_last_error());
  ERR_clear_error();
  return internal_error("cannot " + std::string(what) + ": " +
                        (reason != nullptr ? reason : "unknown error"));
}

}  // namespace codeflare::apiserver::internal
