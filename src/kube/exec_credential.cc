#include "kube/exec_credential.h"

#include "base/base64.h"
#include "json/parse.h"
#include "json/write.h"
#include "kube/internal/config_pem.h"
#include "kube/internal/config_reader.h"
#include "kube/internal/config_text.h"
#include "kube/internal/config_user.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>

namespace codeflare::kube {

namespace {

constexpr std::size_t kOutputBytesMax = std::size_t{1} << 20;
constexpr std::size_t kHintBytesMax = 500;
// Renewed so long before the end, or at nine tenths of a short life, that a request on its way is
// not overtaken.
constexpr Duration kLeewayMax = std::chrono::seconds(10);

void write_cluster(json::Writer& writer, const ExecAuth& auth, const Config& config) {
  writer.key("cluster").begin_object().member("server", config.server);
  writer.member_if_set("tls-server-name", config.tls.server_name);
  if (config.tls.insecure) {
    writer.key("insecure-skip-tls-verify").boolean(true);
  }
  writer.member_if_set("certificate-authority-data", to_base64(config.tls.ca_pem));
  writer.member_if_set("proxy-url", config.proxy_url.reveal());
  if (config.disable_compression) {
    writer.key("disable-compression").boolean(true);
  }
  if (!auth.cluster_config.empty()) {
    writer.key("config").raw(auth.cluster_config);
  }
  writer.end_object();
}

Result<std::string> text_of(const json::Value& status, std::string_view key) {
  const json::Value* value = status.find(key);
  if (value == nullptr || value->is_null()) {
    return std::string();
  }
  if (!value->is_string()) {
    return fail(invalid_argument("status." + std::string(key) + ": expected text"));
  }
  return std::string(value->as_string());
}

Result<void> check_status(ExecStatus& status) {
  if (status.token.empty() && status.certificate_pem.empty() && status.key_pem.empty()) {
    return fail(invalid_argument("status: expected a token or a client certificate with its key"));
  }
  if (!status.token.empty()) {
    Result<Secret> token = internal::clean_token(status.token.reveal());
    if (!token) {
      return fail(std::move(token).error().with_context("status.token"));
    }
    status.token = *std::move(token);
  }
  if (status.certificate_pem.empty() != status.key_pem.empty()) {
    return fail(invalid_argument(
        "status: expected both clientCertificateData and clientKeyData, found only one"));
  }
  if (status.certificate_pem.empty()) {
    return {};
  }
  using internal::PemKind;
  if (Result<void> r = internal::check_pem(status.certificate_pem, PemKind::certificates); !r) {
    return fail(std::move(r).error().with_context("status.clientCertificateData"));
  }
  if (Result<void> r = internal::check_pem(status.key_pem.reveal(), PemKind::private_key); !r) {
    return fail(std::move(r).error().with_context("status.clientKeyData"));
  }
  return {};
}

Result<std::optional<WallTime>> expiry_of(const json::Value& status) {
  TRY_ASSIGN(std::string text, text_of(status, "expirationTimestamp"));
  if (text.empty()) {
    return std::nullopt;
  }
  Result<WallTime> time = parse_rfc3339(text);
  if (!time) {
    return fail(
        invalid_argument("status.expirationTimestamp: expected a time such as "
                         "2030-01-02T15:04:05Z"));
  }
  return *time;
}

}  // namespace

Result<ExecStatus> parse_exec_status(std::string_view text, std::string_view api_version) {
  // The parser's own message might quote the text.
  Result<json::Document> document = json::parse(text, {.max_depth = 64});
  if (!document || !document->root.is_object()) {
    return fail(invalid_argument("expected an ExecCredential as one JSON object"));
  }
  const json::Value& root = document->root;
  if (root.string_or_empty("kind") != "ExecCredential") {
    return fail(invalid_argument("kind: expected ExecCredential"));
  }
  if (root.string_or_empty("apiVersion") != api_version) {
    return fail(invalid_argument("apiVersion: expected " + std::string(api_version) +
                                 " as the kubeconfig says"));
  }
  const json::Value* value = root.find("status");
  if (value == nullptr || !value->is_object()) {
    return fail(invalid_argument("status: expected a mapping with the credentials"));
  }
  ExecStatus status;
  TRY_ASSIGN(std::string token, text_of(*value, "token"));
  TRY_ASSIGN(std::string key, text_of(*value, "clientKeyData"));
  status.token = Secret(std::move(token));
  status.key_pem = Secret(std::move(key));
  TRY_ASSIGN(status.certificate_pem, text_of(*value, "clientCertificateData"));
  TRY_ASSIGN(status.expires, expiry_of(*value));
  TRY(check_status(status));
  return status;
}

std::string exec_info(const ExecAuth& auth, const Config& config, bool interactive) {
  std::string text;
  json::Writer writer(text);
  writer.begin_object();
  writer.member("kind", "ExecCredential").member("apiVersion", auth.plugin.api_version);
  writer.key("spec").begin_object().key("interactive").boolean(interactive);
  if (auth.plugin.provide_cluster_info) {
    write_cluster(writer, auth, config);
  }
  writer.end_object().end_object();
  return text;
}

ExecCredentialSource::ExecCredentialSource(Env env, const Config& config, CredentialOptions options)
    : env_(env), auth_(std::get<ExecAuth>(config.auth)), config_(config), options_(options) {}

bool ExecCredentialSource::fresh() const {
  return cached_ != nullptr && (!renew_at_ || env_.clock.wall() < *renew_at_);
}

Task<Result<CredentialRef>> ExecCredentialSource::get() {
  if (!fresh()) {
    Result<void> renewed = co_await flight_.run([this] { return renew(); });
    if (!renewed && renewed.error().code == ErrorCode::cancelled) {
      // Callers with a deadline learn what the time was spent on.
      co_return fail(cancelled(failure("did not print an ExecCredential in time").message));
    }
    CO_TRY(std::move(renewed));
  }
  // One that is over already is still the best there is: the server's clock decides.
  co_return cached_;
}

void ExecCredentialSource::refused(const CredentialRef& used) {
  if (cached_ == used) {
    renew_at_ = WallTime::min();
  }
}

Result<bool> ExecCredentialSource::interactive() const {
  const std::string& mode = auth_.plugin.interactive_mode;
  if (mode == "Always" && !options_.stdin_is_terminal) {
    return fail(
        failure("needs a terminal (interactiveMode: Always), but standard input is not one"));
  }
  return mode != "Never" && options_.stdin_is_terminal;
}

Error ExecCredentialSource::failure(std::string_view what) const {
  std::string message = (auth_.place.empty() ? "" : auth_.place + ": ") + "credential plugin " +
                        internal::quoted(auth_.plugin.command) + " ";
  message += what;
  return unauthenticated(internal::one_line(message));
}

Task<Result<void>> ExecCredentialSource::renew() {
  CO_TRY_ASSIGN(bool asks, interactive());
  Command command;
  command.program = auth_.plugin.command;
  command.arguments = auth_.plugin.args;
  for (const auto& [name, value] : auth_.plugin.env) {
    command.variables[name] = value;
  }
  command.variables["KUBERNETES_EXEC_INFO"] = exec_info(auth_, config_, asks);
  command.inherit_stdin = asks;
  command.inherit_stderr = true;
  command.output_bytes_max = kOutputBytesMax;
  ++runs_;
  Result<CommandResult> result = co_await env_.launcher.run(std::move(command));
  std::string hint = auth_.plugin.install_hint.empty()
                         ? ""
                         : "; install hint: " + auth_.plugin.install_hint.substr(0, kHintBytesMax);
  if (!result && result.error().code == ErrorCode::cancelled) {
    co_return fail(std::move(result).error());
  }
  if (!result && result.error().code == ErrorCode::not_found) {
    co_return fail(failure("is not installed or not on PATH" + hint));
  }
  if (!result) {
    co_return fail(failure("could not be run: " + result.error().message + hint));
  }
  if (result->exit_code != 0) {
    co_return fail(failure("failed with exit code " + std::to_string(result->exit_code) +
                           ", expected 0 and an ExecCredential on its output" + hint));
  }
  Result<ExecStatus> status = parse_exec_status(result->output, auth_.plugin.api_version);
  if (!status) {
    co_return fail(failure("printed invalid output: " + status.error().message));
  }
  auto credential = std::make_shared<Credential>();
  if (!status->token.empty()) {
    credential->authorization = Secret("Bearer " + status->token.reveal());
  }
  credential->certificate_pem = std::move(status->certificate_pem);
  credential->key_pem = std::move(status->key_pem);
  cached_ = std::move(credential);
  renew_at_.reset();
  if (status->expires) {
    WallTime now = env_.clock.wall();
    Duration life = std::max(Duration::zero(), *status->expires - now);
    renew_at_ = *status->expires - std::min(kLeewayMax, life / 10);
  }
  co_return Result<void>();
}

}  // namespace codeflare::kube
