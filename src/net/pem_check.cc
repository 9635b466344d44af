#include "net/pem_check.h"

#include "net/internal/real_certificate.h"

#include <openssl/err.h>

namespace codeflare::net {

Result<void> check_certificates(std::string_view pem) {
  if (!internal::read_certificates(pem, "")) {
    return fail(invalid_argument("its PEM block is not a certificate"));
  }
  return {};
}

Result<void> check_private_key(std::string_view pem) {
  if (!internal::read_key(pem, "")) {
    return fail(invalid_argument("its PEM block is not a private key"));
  }
  return {};
}

bool key_belongs_to(std::string_view key_pem, std::string_view certificate_pem) {
  Result<internal::KeyPtr> key = internal::read_key(key_pem, "");
  Result<std::vector<internal::X509Ptr>> chain = internal::read_certificates(certificate_pem, "");
  bool belongs = key && chain && X509_check_private_key(chain->front().get(), key->get()) == 1;
  ERR_clear_error();
  return belongs;
}

}  // namespace codeflare::net
