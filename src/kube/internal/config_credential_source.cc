#include "base/base64.h"
#include "kube/auth_service.h"
#include "kube/exec_credential.h"
#include "kube/internal/config_token_file.h"

#include <utility>
#include <variant>

namespace codeflare::kube {

namespace {

class FixedSource final : public CredentialSource {
 public:
  explicit FixedSource(std::string authorization) {
    auto credential = std::make_shared<Credential>();
    credential->authorization = Secret(std::move(authorization));
    credential_ = std::move(credential);
  }
  Task<Result<CredentialRef>> get() override { co_return credential_; }
  bool renewable() const override { return false; }
  void refused(const CredentialRef&) override {}

 private:
  CredentialRef credential_;
};

}  // namespace

std::unique_ptr<CredentialSource> make_credential_source(Env env, const Config& config,
                                                         CredentialOptions options) {
  if (const auto* token = std::get_if<BearerToken>(&config.auth)) {
    return std::make_unique<FixedSource>("Bearer " + token->token.reveal());
  }
  if (const auto* file = std::get_if<BearerTokenFile>(&config.auth)) {
    return std::make_unique<internal::TokenFileSource>(env, *file);
  }
  if (const auto* basic = std::get_if<BasicAuth>(&config.auth)) {
    return std::make_unique<FixedSource>(
        "Basic " + to_base64(basic->username + ":" + basic->password.reveal()));
  }
  if (std::holds_alternative<ExecAuth>(config.auth)) {
    return std::make_unique<ExecCredentialSource>(env, config, options);
  }
  return std::make_unique<FixedSource>("");
}

}  // namespace codeflare::kube
