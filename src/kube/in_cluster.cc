#include "kube/in_cluster.h"

#include "kube/internal/config_url.h"
#include "kube/internal/config_user.h"
#include "model/validation.h"

#include <charconv>
#include <cstddef>
#include <string>
#include <utility>

namespace codeflare::kube {

namespace {

constexpr std::size_t kFileBytesMax = std::size_t{1} << 20;

std::string path_of(std::string_view name) {
  return join_path(kServiceAccountDirectory, name);
}

Result<std::string> server_of(const std::string& host, const std::string& port) {
  int number = 0;
  auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (error != std::errc() || end != port.data() + port.size() || number < 1 || number > 65535) {
    return fail(
        failed_precondition("KUBERNETES_SERVICE_PORT: expected a port between 1 and 65535"));
  }
  std::string authority = host.contains(':') ? "[" + host + "]" : host;
  Result<internal::ServerUrl> url =
      internal::parse_server_url("https://" + authority + ":" + port, true);
  if (!url || !url->prefix.empty()) {
    return fail(failed_precondition("KUBERNETES_SERVICE_HOST: expected a host name or IP address"));
  }
  return url->to_string();
}

// Reads and checks one of the three files; the message names it.
template <typename Check>
Result<std::string> read_checked(FileSystem& files, std::string_view name, Check check) {
  Result<std::string> text = files.read(path_of(name), kFileBytesMax);
  if (!text) {
    return fail(failed_precondition(text.error().message));
  }
  Result<void> valid = check(*text);
  if (!valid) {
    return fail(failed_precondition(path_of(name) + ": " + valid.error().message));
  }
  return text;
}

Result<void> check_token(std::string_view text) {
  TRY(internal::clean_token(text));
  return {};
}

Result<void> check_ca(std::string_view text) {
  return internal::check_pem(text, internal::PemKind::certificates);
}

std::string trimmed(std::string text) {
  text.erase(0, text.find_first_not_of(" \t\r\n"));
  text.erase(text.find_last_not_of(" \t\r\n") + 1);
  return text;
}

// The downward API's variable, else the mounted file, else the usual one.
std::string namespace_of(Env env) {
  std::string ns = env.variables.get("POD_NAMESPACE").value_or("");
  if (ns.empty()) {
    ns = trimmed(env.files.read(path_of("namespace"), kFileBytesMax).value_or(""));
  }
  return model::check_dns1123_label(ns).empty() ? ns : "default";
}

}  // namespace

Result<Config> in_cluster_config(Env env) {
  std::string host = env.variables.get("KUBERNETES_SERVICE_HOST").value_or("");
  std::string port = env.variables.get("KUBERNETES_SERVICE_PORT").value_or("");
  if (host.empty() || port.empty()) {
    return fail(
        not_found("not in a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT "
                  "are not both set"));
  }
  Config config;
  TRY_ASSIGN(config.server, server_of(host, port));
  TRY(read_checked(env.files, "token", check_token));
  TRY_ASSIGN(config.tls.ca_pem, read_checked(env.files, "ca.crt", check_ca));
  config.tls.ca_file = path_of("ca.crt");
  config.auth = BearerTokenFile{.path = path_of("token")};
  config.ns = namespace_of(env);
  config.source = "in-cluster service account";
  config.origin.server = "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT";
  config.origin.server_name = "KUBERNETES_SERVICE_HOST";
  config.origin.ca = path_of("ca.crt");
  config.origin.auth = path_of("token");
  return config;
}

}  // namespace codeflare::kube
