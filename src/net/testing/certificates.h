#pragma once

#include <memory>
#include <string>
#include <vector>

namespace codeflare::net::testing {

// A certificate and its key in PEM form. For tests only.
struct Identity {
  std::string certificate_pem;
  std::string key_pem;
};

struct CertificateRequest {
  std::string common_name;
  std::vector<std::string> organizations;
  std::vector<std::string> dns_names;
  std::vector<std::string> addresses;  // IPv4 or IPv6
  // Relative to now.
  long valid_from_seconds = -3600;
  long valid_to_seconds = 3600 * 24;
};

// Makes a fresh authority (EC P-256 keys) and certificates signed by it.
//   CertificateAuthority ca("test-ca");
//   Identity server = ca.issue({.common_name = "server", .addresses = {"127.0.0.1"}});
class CertificateAuthority {
 public:
  explicit CertificateAuthority(const std::string& common_name);
  ~CertificateAuthority();

  const std::string& certificate_pem() const;
  Identity issue(const CertificateRequest& request) const;
  // Another authority, signed by this one; what it issues carries the chain.
  std::unique_ptr<CertificateAuthority> intermediate(const std::string& common_name) const;

 private:
  struct Parts;
  explicit CertificateAuthority(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace codeflare::net::testing
