#pragma once

#include "apiserver/identity/signing_key.h"
#include "base/async/task.h"
#include "base/env/env.h"
#include "base/log.h"
#include "base/result.h"
#include "base/secret.h"
#include "net/tls.h"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::apiserver {

// A certificate and its key in PEM form.
struct KeyPair {
  std::string certificate_pem{};
  Secret key_pem{};
};

// The signer of CertificateSigningRequests for clients.
inline constexpr std::string_view kClientSigner = "kubernetes.io/kube-apiserver-client";

// The address that is always the API server's inside the cluster.
inline constexpr std::string_view kServiceAddress = "10.96.0.1";

// Everything that proves who is who: authority, serving certificate, administrator, the key that
// signs service-account tokens. Made at the first start in a directory of its own that only the
// owner can read. Certificates are renewed a month before they end.
//   CO_TRY_ASSIGN(auto pki, co_await Pki::open(env, {.directory = "data/pki"}, logger));
//   server.reload_tls(pki->tls());
class Pki {
 public:
  struct Options {
    std::string directory;
    // More names and addresses of the server: the one it listens on.
    std::vector<std::string> names{};
    std::chrono::hours authority_lifetime{24 * 3652};
    std::chrono::hours certificate_lifetime{24 * 365};
    std::chrono::hours renew_before{24 * 30};
  };
  static Task<Result<std::unique_ptr<Pki>>> open(Env env, Options options, Logger logger);
  ~Pki();

  const std::string& authority_pem() const;
  net::TlsServerOptions tls() const;
  const KeyPair& admin() const;
  const SigningKey& signing_key() const;

  // A certificate for another user. Nothing is written.
  struct ClientRequest {
    std::string user;
    std::vector<std::string> groups{};
    std::chrono::hours lifetime{24 * 365};
  };
  Result<KeyPair> issue_client(const ClientRequest& request) const;
  // A certificate (PEM) for the user, groups and key of a PKCS #10 request. Nothing is written.
  Result<std::string> sign_client(std::string_view request_pem,
                                  std::chrono::seconds lifetime) const;

  // Makes what is about to end anew; true when something was.
  Task<Result<bool>> renew();
  // Writes the administrator's kubeconfig (0600, at once), now and after each renewal.
  Task<Result<void>> write_admin_kubeconfig(std::string path, std::string server);
  // Renews while the server runs; `changed` hands the new certificates to it. Ends when stopped.
  Task<void> keep_renewed(std::function<void(const net::TlsServerOptions&)> changed);

 private:
  struct Impl;
  explicit Pki(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// A kubeconfig with everything inline, for one user of one server.
struct KubeconfigContent {
  std::string server;  // "https://127.0.0.1:6443"
  std::string authority_pem{};
  std::string user = "kubernetes-admin";
  KeyPair credentials{};
};
Secret make_kubeconfig(const KubeconfigContent& content);

}  // namespace codeflare::apiserver
