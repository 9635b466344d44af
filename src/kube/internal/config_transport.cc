#include "kube/internal/config_transport.h"

#include "kube/internal/config_pem.h"

#include <chrono>
#include <cstddef>
#include <utility>

namespace codeflare::kube::internal {

namespace {

constexpr Duration kPeriod = std::chrono::seconds(60);
constexpr std::size_t kFileBytesMax = std::size_t{4} << 20;

// The file's PEM instead of the old one, if it is some.
template <typename Text>
void refresh(FileSystem& files, const std::string& path, PemKind kind, Text& pem) {
  if (path.empty()) {
    return;
  }
  Result<std::string> text = files.read(path, kFileBytesMax);
  if (text && check_pem(*text, kind)) {
    pem = Text(*std::move(text));
  }
}

TlsConfig read_files(FileSystem& files, TlsConfig tls) {
  refresh(files, tls.ca_file, PemKind::certificates, tls.ca_pem);
  refresh(files, tls.certificate_file, PemKind::certificates, tls.certificate_pem);
  refresh(files, tls.key_file, PemKind::private_key, tls.key_pem);
  return tls;
}

net::TlsClientOptions with_certificate(const TlsConfig& tls, const Credential* credential) {
  net::TlsClientOptions options = tls_options(tls);
  if (credential != nullptr) {
    options.certificate_pem = credential->certificate_pem;
    options.key_pem = credential->key_pem.reveal();
  }
  return options;
}

}  // namespace

net::TlsClientOptions tls_options(const TlsConfig& tls) {
  net::TlsClientOptions options;
  options.ca_bundle_pem = tls.ca_pem;
  options.certificate_pem = tls.certificate_pem;
  options.key_pem = tls.key_pem.reveal();
  options.server_name = tls.server_name;
  options.insecure = tls.insecure;
  return options;
}

ReloadingTransport::ReloadingTransport(Env env, TlsConfig tls,
                                       std::shared_ptr<net::HttpService> service, Reload reload)
    : env_(env),
      tls_(std::move(tls)),
      service_(std::move(service)),
      reload_(std::move(reload)),
      looked_at_(env.clock.now()) {}

bool ReloadingTransport::has_files() const {
  return !tls_.ca_file.empty() || !tls_.certificate_file.empty() || !tls_.key_file.empty();
}

Task<void> ReloadingTransport::look_at_files() {
  // First of all, so that requests at the same time do not look too.
  looked_at_ = env_.clock.now();
  FileSystem& files = env_.files;
  TlsConfig old = tls_;
  TlsConfig fresh = co_await run_blocking(env_, [&] { return read_files(files, old); });
  if (fresh.ca_pem == tls_.ca_pem && fresh.certificate_pem == tls_.certificate_pem &&
      fresh.key_pem == tls_.key_pem) {
    co_return;
  }
  // When the client rejects the files they are half replaced: next minute again.
  if (reload_(with_certificate(fresh, certificate_of_.get()))) {
    tls_ = std::move(fresh);
  }
}

Result<void> ReloadingTransport::use_certificate_of(const Credential& credential) {
  Result<void> reloaded = reload_(with_certificate(tls_, &credential));
  if (!reloaded) {
    return fail(unauthenticated("client certificate of the credential plugin: " +
                                reloaded.error().message));
  }
  return {};
}

Task<Result<std::shared_ptr<net::HttpService>>> ReloadingTransport::service_for(
    CredentialRef credential) {
  if (has_files() && env_.clock.now() - looked_at_ >= kPeriod) {
    co_await look_at_files();
  }
  bool brings_another = !credential->certificate_pem.empty() &&
                        (certificate_of_ == nullptr ||
                         certificate_of_->certificate_pem != credential->certificate_pem ||
                         certificate_of_->key_pem != credential->key_pem);
  if (brings_another) {
    CO_TRY(use_certificate_of(*credential));
    certificate_of_ = credential;
  }
  co_return service_;
}

}  // namespace codeflare::kube::internal
