#pragma once

#include "apiserver/identity/internal/openssl.h"
#include "base/result.h"
#include "base/time.h"

#include <cstdint>
#include <string>
#include <vector>

namespace codeflare::apiserver::internal {

enum class CertificateUse : std::uint8_t { authority, server, client };

struct CertificateSpec {
  CertificateUse use = CertificateUse::client;
  std::string common_name{};
  std::vector<std::string> organizations{};
  std::vector<std::string> names{};  // DNS names and addresses
  WallTime from{};
  WallTime to{};
  std::uint64_t serial_high = 0;
  std::uint64_t serial_low = 0;
};

struct Issuer {
  X509* certificate = nullptr;  // null: the certificate signs itself
  EVP_PKEY* key = nullptr;
};

Result<X509Ptr> make_certificate(const CertificateSpec& spec, EVP_PKEY* key, Issuer issuer);

bool is_address(const std::string& name);
// The certificate is good for every one of the names.
bool covers_names(X509* certificate, const std::vector<std::string>& names);
bool is_issued_by(X509* certificate, X509* authority);
WallTime end_of(const X509* certificate);

}  // namespace codeflare::apiserver::internal
