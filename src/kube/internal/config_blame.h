#pragma once

#include "base/error.h"
#include "base/result.h"
#include "kube/config.h"
#include "net/http.h"
#include "net/url.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace codeflare::kube::internal {

// On answers that connect() hands on: which setting to look at, for the message of the error that
// the client makes of the answer. Never sent, and never taken from a server.
inline constexpr std::string_view kRemarkHeader = "Codeflare-Remark";

// The error of an answer with the remark that the answer carries, if it concerns this error.
Error with_remark(Error error, int status, std::string_view remark);

// Says which setting of which file a failure points at, in brackets behind the message: some values
// turn out wrong only when they are used. Never holds a secret.
class ConfigBlame {
 public:
  ConfigBlame(const Config& config, const std::optional<net::Url>& proxy, bool tls);

  // Of a request that got no answer.
  Error transport(Error error) const;
  // Of an answer; empty when no setting is to blame.
  std::string answer(const net::Response& response) const;

 private:
  std::string setting_of(const Error& error) const;
  bool of_plugin(const Error& error) const;

  ConfigOrigin origin_;
  std::string source_;
  std::string plugin_;  // how messages of the credential plugin begin; they name file and field
  std::string proxy_;   // without its password
  bool tls_;
  bool shows_certificate_;
  bool impersonates_;
  bool has_path_;
};

// Passes requests on and adds the blame to what comes back.
class BlamingService final : public net::HttpService {
 public:
  // `inner` must outlive the service and its tasks.
  BlamingService(net::HttpService& inner, ConfigBlame blame)
      : inner_(inner), blame_(std::move(blame)) {}

  Task<Result<net::Response>> send(net::Request request) override;

 private:
  net::HttpService& inner_;
  ConfigBlame blame_;
};

// Whether the certificates and the key are what their PEM lines promise and belong together.
Result<void> check_tls(const Config& config);

}  // namespace codeflare::kube::internal
