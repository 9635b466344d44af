#include "kube/internal/config_user.h"

#include "base/base64.h"
#include "kube/internal/config_reader.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace codeflare::kube::internal {

namespace {

constexpr std::size_t kPemBytesMax = std::size_t{4} << 20;
constexpr std::size_t kTokenBytesMax = std::size_t{1} << 20;
constexpr std::string_view kExecV1 = "client.authentication.k8s.io/v1";
constexpr std::string_view kExecV1Beta1 = "client.authentication.k8s.io/v1beta1";

Result<std::string> read_named_file(FileSystem& files, const ConfigPlace& place,
                                    std::string_view field, const std::string& path,
                                    std::size_t bytes_max) {
  Result<std::string> text = files.read(path, bytes_max);
  if (!text) {
    std::string what = "expected a readable file: " + text.error().message;
    if (path.contains("/~")) {
      what += " (~ has no meaning in a kubeconfig)";
    }
    return fail(place.error(field, what));
  }
  return text;
}

Result<void> resolve_certificate(FileSystem& files, const UserEntry& user, Config& config) {
  TlsConfig& tls = config.tls;
  PemField certificate{"client-certificate", user.client_certificate, user.client_certificate_data};
  PemField key{"client-key", user.client_key, user.client_key_data.reveal()};
  if (certificate.given() != key.given()) {
    const PemField& present = certificate.given() ? certificate : key;
    const PemField& absent = certificate.given() ? key : certificate;
    return fail(user.place.error(absent.name, "is not set, expected this or " +
                                                  std::string(absent.name) + "-data beside " +
                                                  present.given_name()));
  }
  TRY_ASSIGN(tls.certificate_pem, read_pem(files, user.place, certificate, PemKind::certificates));
  TRY_ASSIGN(std::string key_pem, read_pem(files, user.place, key, PemKind::private_key));
  tls.key_pem = Secret(std::move(key_pem));
  tls.certificate_file = user.client_certificate;
  tls.key_file = user.client_key;
  config.origin.certificate = origin_of(certificate.given_name(), "user", user);
  config.origin.key = origin_of(key.given_name(), "user", user);
  return {};
}

// As client-go: what the file holds counts, and the token while the file cannot be read.
Result<void> resolve_token(FileSystem& files, const UserEntry& user, Config& config) {
  Secret token;
  if (!user.token.empty()) {
    Result<Secret> clean = clean_token(user.token.reveal());
    if (!clean) {
      return fail(user.place.error("token", clean.error().message));
    }
    token = *std::move(clean);
  }
  if (user.token_file.empty()) {
    config.auth = BearerToken{std::move(token)};
    config.origin.auth = origin_of("token", "user", user);
    return {};
  }
  if (token.empty()) {
    TRY_ASSIGN(std::string text,
               read_named_file(files, user.place, "tokenFile", user.token_file, kTokenBytesMax));
    if (Result<Secret> clean = clean_token(text); !clean) {
      return fail(
          user.place.error("tokenFile", "in " + user.token_file + ": " + clean.error().message));
    }
  }
  config.auth = BearerTokenFile{user.token_file, std::move(token)};
  config.origin.auth = origin_of("tokenFile", "user", user);
  return {};
}

Result<void> resolve_basic(const UserEntry& user, Config& config) {
  if (user.username.empty()) {
    return fail(user.place.error("username", "is not set, expected it beside password"));
  }
  if (user.username.contains(':')) {
    return fail(user.place.error("username", "expected a name without a colon"));
  }
  config.auth = BasicAuth{user.username, user.password};
  config.origin.auth = origin_of("username and password", "user", user);
  return {};
}

Result<void> resolve_exec_mode(const ConfigPlace& place, ExecPlugin& plugin) {
  constexpr std::string_view kModes = "expected Never, IfAvailable or Always";
  if (plugin.interactive_mode.empty()) {
    if (plugin.api_version == kExecV1) {
      return fail(place.error("interactiveMode", "is not set, " + std::string(kModes)));
    }
    plugin.interactive_mode = "IfAvailable";
  }
  constexpr std::array<std::string_view, 3> kAll = {"Never", "IfAvailable", "Always"};
  if (std::ranges::find(kAll, plugin.interactive_mode) == kAll.end()) {
    return fail(place.error("interactiveMode",
                            std::string(kModes) + ", found " + quoted(plugin.interactive_mode)));
  }
  return {};
}

Result<void> resolve_exec(const UserEntry& user, Config& config) {
  ConfigPlace place{user.place.file, user.place.path + ".exec"};
  ExecPlugin plugin = *user.exec;
  std::string versions = "expected " + std::string(kExecV1) + " or " + std::string(kExecV1Beta1);
  if (plugin.api_version.empty()) {
    return fail(place.error("apiVersion", "is not set, " + versions));
  }
  if (plugin.api_version != kExecV1 && plugin.api_version != kExecV1Beta1) {
    return fail(place.error("apiVersion", versions + ", found " + quoted(plugin.api_version)));
  }
  if (plugin.command.empty()) {
    return fail(place.error("command", "is not set, expected the program that prints credentials"));
  }
  for (std::size_t i = 0; i < plugin.env.size(); ++i) {
    const std::string& name = plugin.env[i].first;
    if (name.empty() || name.find_first_of(std::string_view("=\0", 2)) != std::string::npos) {
      return fail(place.error("env[" + std::to_string(i) + "].name",
                              "expected the name of an environment variable"));
    }
  }
  TRY(resolve_exec_mode(place, plugin));
  config.auth = ExecAuth{std::move(plugin), "", place.file + ": " + place.path};
  config.origin.auth = "the output of " + origin_of("exec", "user", user);
  return {};
}

Result<void> resolve_impersonation(const UserEntry& user, Impersonation& impersonation) {
  if (user.impersonate_user.empty() &&
      (!user.impersonate_uid.empty() || !user.impersonate_groups.empty() ||
       !user.impersonate_extra.empty())) {
    return fail(user.place.error(
        "as",
        "is not set, expected a user to impersonate beside as-uid, as-groups or as-user-extra"));
  }
  auto refuse = [&](std::string_view field) {
    return fail(user.place.error(field, "expected text without control characters"));
  };
  if (!fits_header(user.impersonate_user)) {
    return refuse("as");
  }
  if (!fits_header(user.impersonate_uid)) {
    return refuse("as-uid");
  }
  if (!std::ranges::all_of(user.impersonate_groups, fits_header)) {
    return refuse("as-groups");
  }
  for (const auto& [key, values] : user.impersonate_extra) {
    if (key.empty() || !std::ranges::all_of(values, fits_header)) {
      return refuse("as-user-extra");
    }
  }
  impersonation = {user.impersonate_user, user.impersonate_uid, user.impersonate_groups,
                   user.impersonate_extra};
  return {};
}

}  // namespace

Result<std::string> read_pem(FileSystem& files, const ConfigPlace& place, const PemField& field,
                             PemKind kind) {
  if (!field.given()) {
    return std::string();
  }
  std::string name = field.given_name();
  if (!field.file.empty() && !field.data.empty()) {
    return fail(place.error(field.name, "expected only one of this and " + std::string(field.name) +
                                            "-data, found both"));
  }
  std::string text;
  if (field.file.empty()) {
    Result<std::string> decoded = from_base64(field.data);
    if (!decoded) {
      return fail(place.error(name, "expected PEM in base64, found " + decoded.error().message));
    }
    text = *std::move(decoded);
  } else {
    TRY_ASSIGN(text, read_named_file(files, place, name, std::string(field.file), kPemBytesMax));
  }
  if (Result<void> valid = check_pem(text, kind); !valid) {
    std::string in = field.file.empty() ? "" : "in " + std::string(field.file) + ": ";
    return fail(place.error(name, in + valid.error().message));
  }
  return text;
}

Result<Secret> clean_token(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) {
    return fail(invalid_argument("expected a token, found nothing"));
  }
  text = text.substr(first, text.find_last_not_of(kSpace) - first + 1);
  auto bad = std::ranges::find_if(text, [](char c) { return c <= ' ' || c >= 0x7f; });
  if (bad != text.end()) {
    return fail(
        invalid_argument("expected a token of printable ASCII, found another character at byte " +
                         std::to_string(first + static_cast<std::size_t>(bad - text.begin()))));
  }
  return Secret(std::string(text));
}

bool fits_header(std::string_view text) {
  return std::ranges::none_of(text, [](char c) {
    auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
  });
}

Result<void> resolve_user(FileSystem& files, const UserEntry& user, Config& config) {
  if (user.has_auth_provider) {
    return fail(user.place.error(
        "auth-provider",
        "auth providers are not supported (Kubernetes' own clients have kept oidc alone), expected "
        "exec with a credential plugin (such as gke-gcloud-auth-plugin, aws-iam-authenticator or, "
        "for Azure and oidc, kubelogin)"));
  }
  bool has_token = !user.token.empty() || !user.token_file.empty();
  bool has_basic = !user.username.empty() || !user.password.empty();
  if (has_token && has_basic) {
    return fail(user.place.error(
        user.token.empty() ? "tokenFile" : "token",
        "more than one authentication method, expected only one of token and username/password"));
  }
  TRY(resolve_certificate(files, user, config));
  if (user.exec) {
    TRY(resolve_exec(user, config));
  }
  // Credentials that are there already win over asking a program for some.
  if (has_token) {
    TRY(resolve_token(files, user, config));
  } else if (has_basic) {
    TRY(resolve_basic(user, config));
  } else if (!config.tls.certificate_pem.empty()) {
    config.auth = {};
    config.origin.auth = config.origin.certificate;
  }
  config.origin.impersonation = origin_of("as", "user", user);
  return resolve_impersonation(user, config.impersonation);
}

}  // namespace codeflare::kube::internal
