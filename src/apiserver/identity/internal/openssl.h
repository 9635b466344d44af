#pragma once

#include "base/result.h"
#include "base/secret.h"
#include "net/openssl_free.h"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <string_view>

namespace codeflare::apiserver::internal {

using X509Ptr = std::unique_ptr<X509, net::OpenSslFree<X509_free>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, net::OpenSslFree<EVP_PKEY_free>>;
using BioPtr = std::unique_ptr<BIO, net::OpenSslFree<BIO_free_all>>;
using DigestPtr = std::unique_ptr<EVP_MD_CTX, net::OpenSslFree<EVP_MD_CTX_free>>;

// A fresh ECDSA P-256 key, from the library's own generator.
Result<KeyPtr> generate_key();
// `what` names the input in errors, which never show any of it.
Result<KeyPtr> key_from_pem(const Secret& pem, std::string_view what);
Secret key_to_pem(EVP_PKEY* key);
Result<X509Ptr> certificate_from_pem(std::string_view pem, std::string_view what);
std::string certificate_to_pem(X509* certificate);

std::string sha256(std::string_view bytes);

// "cannot WHAT: reason" from the library's error queue, which is then empty.
Error openssl_error(std::string_view what);

}  // namespace codeflare::apiserver::internal
