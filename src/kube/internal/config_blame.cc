#include "kube/internal/config_blame.h"

#include "kube/internal/config_text.h"
#include "kube/internal/config_url.h"
#include "net/connect_error.h"
#include "net/pem_check.h"

#include <utility>

namespace codeflare::kube::internal {

namespace {

constexpr int kBadRequest = 400;
constexpr int kUnauthorized = 401;
constexpr int kForbidden = 403;
constexpr int kNotFound = 404;

// A configuration that was built by hand has settings too.
void name_if_empty(std::string& origin, std::string_view name) {
  if (origin.empty()) {
    origin = name;
  }
}

ConfigOrigin named(ConfigOrigin origin) {
  name_if_empty(origin.server, "server");
  name_if_empty(origin.ca, "certificate-authority");
  name_if_empty(origin.server_name, "tls-server-name");
  name_if_empty(origin.proxy, "proxy-url");
  name_if_empty(origin.certificate, "client-certificate");
  name_if_empty(origin.key, "client-key");
  name_if_empty(origin.impersonation, "as");
  return origin;
}

std::string without_password(const net::Url& url) {
  bool secret = !url.user.empty() || !url.password.empty();
  return url.scheme + "://" + (secret ? "***@" : "") + url.host_and_port();
}

Error bad_pem(const Config& config, const std::string& origin, const std::string& file,
              std::string_view what) {
  std::string message = config.origin.server.empty() && !config.source.empty()
                            ? config.source + ": " + origin
                            : origin;
  message += file.empty() ? ": " : ": in " + file + ": ";
  return invalid_argument(one_line(message) + std::string(what));
}

}  // namespace

ConfigBlame::ConfigBlame(const Config& config, const std::optional<net::Url>& proxy, bool tls)
    : origin_(named(config.origin)),
      source_(config.source),
      proxy_(proxy ? without_password(*proxy) : ""),
      tls_(tls),
      shows_certificate_(!config.tls.certificate_pem.empty()),
      impersonates_(!config.impersonation.empty()),
      has_path_(false) {
  if (const auto* exec = std::get_if<ExecAuth>(&config.auth)) {
    plugin_ = exec->place.empty() ? "credential plugin" : exec->place;
  }
  if (proxy && config.proxy_url.empty()) {
    origin_.proxy = tls ? "HTTPS_PROXY of the environment" : "HTTP_PROXY of the environment";
  }
  if (Result<ServerUrl> server = parse_server_url(config.server, tls)) {
    has_path_ = !server->prefix.empty();
  }
}

std::string ConfigBlame::setting_of(const Error& error) const {
  std::optional<net::ConnectStep> step = net::connect_step(error);
  if (!step && error.code == ErrorCode::failed_precondition && shows_certificate_) {
    // TLS that breaks after the handshake: only then does a server report that it rejects us.
    return origin_.certificate;
  }
  if (!step && !tls_) {
    return origin_.server + " is plain http, expected https where the port speaks TLS";
  }
  switch (step.value_or(net::ConnectStep::server)) {
    case net::ConnectStep::proxy:
      return origin_.proxy;
    case net::ConnectStep::server:
      return origin_.server;
    case net::ConnectStep::protocol:
      return origin_.server + " is https, expected http or a port that speaks TLS";
    case net::ConnectStep::trust:
      return "expected that authority in " + origin_.ca +
             "; the server may be another cluster, or the authority an old one";
    case net::ConnectStep::name:
      return "expected one of these in " + origin_.server_name;
  }
  return origin_.server;
}

bool ConfigBlame::of_plugin(const Error& error) const {
  return !plugin_.empty() && error.message.starts_with(plugin_);
}

Error ConfigBlame::transport(Error error) const {
  const std::string way = proxy_.empty() ? "" : " through the proxy " + proxy_;
  switch (error.code) {
    case ErrorCode::unavailable:
      error.message += way + " (" + setting_of(error) + ")";
      break;
    case ErrorCode::deadline_exceeded:
    case ErrorCode::failed_precondition:
      error.message += " (" + setting_of(error) + ")";
      break;
    case ErrorCode::unauthenticated:
      // We could not even get credentials.
      if (!origin_.auth.empty() && !of_plugin(error)) {
        error.message += " (" + origin_.auth + ")";
      }
      break;
    case ErrorCode::cancelled:
      // Read by who set a deadline.
      if (!of_plugin(error)) {
        error.message = "still waiting" + way + " (" + setting_of(error) + ")";
      }
      break;
    default:
      break;
  }
  return error;
}

std::string ConfigBlame::answer(const net::Response& response) const {
  bool from_kubernetes = response.headers.has("Content-Type") &&
                         !response.headers.get("Content-Type")->starts_with("text/");
  switch (response.status) {
    case kUnauthorized:
      if (!origin_.auth.empty()) {
        return origin_.auth + " was rejected";
      }
      if (!tls_) {
        return "no credentials are sent because " + origin_.server + " is plain http";
      }
      return "no credentials are given" + (source_.empty() ? "" : " by the " + source_);
    case kForbidden:
      return impersonates_ ? origin_.impersonation : "";
    case kBadRequest:
      return !tls_ && !from_kubernetes
                 ? origin_.server + " is plain http, expected https where the port speaks TLS"
                 : "";
    case kNotFound:
      return has_path_ && !from_kubernetes
                 ? origin_.server + ", expected the path of an API server, mostly none"
                 : "";
    default:
      return "";
  }
}

Error with_remark(Error error, int status, std::string_view remark) {
  // Most of what is forbidden has nothing to do with whom we impersonate.
  if (!remark.empty() && (status != kForbidden || error.message.contains("impersonate"))) {
    error.message += " (" + std::string(remark) + ")";
  }
  return error;
}

Task<Result<net::Response>> BlamingService::send(net::Request request) {
  bool own_credentials = request.headers.has("Authorization");
  Result<net::Response> response = co_await inner_.send(std::move(request));
  if (!response) {
    co_return fail(blame_.transport(std::move(response).error()));
  }
  response->headers.remove(kRemarkHeader);
  if (response->status >= kBadRequest && !own_credentials) {
    if (std::string remark = blame_.answer(*response); !remark.empty()) {
      response->headers.add(std::string(kRemarkHeader), std::move(remark));
    }
  }
  co_return response;
}

Result<void> check_tls(const Config& config) {
  const TlsConfig& tls = config.tls;
  const ConfigOrigin origin = named(config.origin);
  if (!tls.ca_pem.empty()) {
    if (Result<void> valid = net::check_certificates(tls.ca_pem); !valid) {
      return fail(bad_pem(config, origin.ca, tls.ca_file,
                          "expected a PEM certificate, but " + valid.error().message));
    }
  }
  if (tls.certificate_pem.empty() || tls.key_pem.empty()) {
    return {};
  }
  if (Result<void> valid = net::check_certificates(tls.certificate_pem); !valid) {
    return fail(bad_pem(config, origin.certificate, tls.certificate_file,
                        "expected a PEM certificate, but " + valid.error().message));
  }
  if (Result<void> valid = net::check_private_key(tls.key_pem.reveal()); !valid) {
    return fail(bad_pem(config, origin.key, tls.key_file,
                        "expected a PEM private key, but " + valid.error().message));
  }
  if (!net::key_belongs_to(tls.key_pem.reveal(), tls.certificate_pem)) {
    return fail(bad_pem(config, origin.key, tls.key_file,
                        "expected the private key of " + origin.certificate +
                            ", found the key of another certificate"));
  }
  return {};
}

}  // namespace codeflare::kube::internal
