#pragma once

#include "base/result.h"
#include "base/secret.h"

#include <string>
#include <vector>

namespace codeflare::net {

// A fresh ECDSA P-256 key and the request (PKCS #10, PEM) that asks an authority to certify it.
struct CertificateRequest {
  Secret key_pem;
  std::string request_pem;
};

// For a client: the common name is the user, the organizations are the groups.
Result<CertificateRequest> make_certificate_request(const std::string& user,
                                                    const std::vector<std::string>& groups);

}  // namespace codeflare::net
