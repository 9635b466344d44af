#pragma once

#include "base/result.h"
#include "net/connect_error.h"
#include "net/http.h"
#include "net/openssl_free.h"

#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::net::internal {

using X509Ptr = std::unique_ptr<X509, OpenSslFree<X509_free>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, OpenSslFree<EVP_PKEY_free>>;
using BioPtr = std::unique_ptr<BIO, OpenSslFree<BIO_free_all>>;

// At least one certificate; `what` names the input in errors.
Result<std::vector<X509Ptr>> read_certificates(std::string_view pem, std::string_view what);
// Never asks for a passphrase.
Result<KeyPtr> read_key(std::string_view pem, std::string_view what);

// "CN=kubernetes-ca,O=x"
std::string name_text(const X509_NAME* name);
// DNS names and addresses of the subjectAltName, "a.example, 127.0.0.1".
std::string alternative_names_text(const X509* certificate);
// Common name and organizations of the subject.
Peer::Certificate describe(const X509* certificate);
// Why verification failed, for people; `host` is what was to be verified.
std::string verify_failure_text(int code, const X509* certificate, const std::string& host);
// Whether the authority, the name or the certificate itself is what is wrong.
ConnectStep verify_failure_step(int code);
// The newest entry of OpenSSL's error queue, which is then empty.
std::string take_openssl_error();

}  // namespace codeflare::net::internal
