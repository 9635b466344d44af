#pragma once

#include "base/env/env.h"
#include "kube/auth_service.h"
#include "kube/config.h"
#include "net/http.h"
#include "net/tls.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace codeflare::kube::internal {

net::TlsClientOptions tls_options(const TlsConfig& tls);

// One client whose TLS settings change over time: certificates that a credential brings are used
// for new connections from that request on, and files are looked at again at most once a minute.
// A file that cannot be read or makes no sense (half written, key not matching yet) changes
// nothing.
class ReloadingTransport final : public Transport {
 public:
  // Gives the settings to the client; when it fails the old ones stay in force.
  using Reload = std::function<Result<void>(const net::TlsClientOptions&)>;

  ReloadingTransport(Env env, TlsConfig tls, std::shared_ptr<net::HttpService> service,
                     Reload reload);

  Task<Result<std::shared_ptr<net::HttpService>>> service_for(CredentialRef credential) override;

 private:
  bool has_files() const;
  Task<void> look_at_files();
  Result<void> use_certificate_of(const Credential& credential);

  Env env_;
  TlsConfig tls_;  // in force, but for a credential's certificate
  std::shared_ptr<net::HttpService> service_;
  Reload reload_;
  Instant looked_at_;
  CredentialRef certificate_of_;  // whose certificate is in force; null: that of tls_
};

}  // namespace codeflare::kube::internal
