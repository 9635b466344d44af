#pragma once

#include "base/env/env.h"
#include "base/result.h"
#include "base/secret.h"
#include "kube/auth_service.h"
#include "kube/config.h"
#include "kube/internal/config_single_flight.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace codeflare::kube {

// The output of a plugin: status of an ExecCredential.
struct ExecStatus {
  Secret token{};
  std::string certificate_pem{};
  Secret key_pem{};
  std::optional<WallTime> expires{};
};

// Checks version, kind and content; no message ever repeats the text.
Result<ExecStatus> parse_exec_status(std::string_view text, std::string_view api_version);

// The value of KUBERNETES_EXEC_INFO; with the cluster when the plugin asks for it.
std::string exec_info(const ExecAuth& auth, const Config& config, bool interactive);

// Credentials from a program that prints them, client.authentication.k8s.io v1 and v1beta1. They
// are kept until shortly before they expire or until the server rejects them; however many requests
// wait, the program runs once. Its error output goes to ours, not into messages.
class ExecCredentialSource final : public CredentialSource {
 public:
  // `config.auth` must be ExecAuth.
  ExecCredentialSource(Env env, const Config& config, CredentialOptions options);

  Task<Result<CredentialRef>> get() override;
  bool renewable() const override { return true; }
  void refused(const CredentialRef& used) override;

  std::uint64_t runs() const { return runs_; }

 private:
  Task<Result<void>> renew();
  Result<bool> interactive() const;
  Error failure(std::string_view what) const;
  bool fresh() const;

  Env env_;
  ExecAuth auth_;
  Config config_;  // the server and its TLS, for the plugin
  CredentialOptions options_;
  internal::SingleFlight flight_;
  CredentialRef cached_;
  std::optional<WallTime> renew_at_;
  std::uint64_t runs_ = 0;
};

}  // namespace codeflare::kube
