#pragma once

#include "base/env/env.h"
#include "kube/auth_service.h"
#include "kube/internal/config_single_flight.h"

#include <optional>
#include <string>

namespace codeflare::kube::internal {

// A bearer token in a file that others replace, such as a pod's service account token. Read again
// every minute and after a rejection; while it cannot be read the last token stays in use.
class TokenFileSource final : public CredentialSource {
 public:
  TokenFileSource(Env env, BearerTokenFile file);

  Task<Result<CredentialRef>> get() override;
  bool renewable() const override { return true; }
  void refused(const CredentialRef& used) override;

 private:
  Task<Result<void>> read_again();

  Env env_;
  BearerTokenFile file_;
  SingleFlight flight_;
  CredentialRef cached_;
  std::optional<Instant> read_at_;  // nothing: read at once
};

}  // namespace codeflare::kube::internal
