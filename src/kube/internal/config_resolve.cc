#include "kube/config.h"
#include "kube/internal/config_pem.h"
#include "kube/internal/config_reader.h"
#include "kube/internal/config_url.h"
#include "kube/internal/config_user.h"
#include "model/validation.h"

#include <algorithm>

namespace codeflare::kube {

namespace {

using internal::quoted;
using internal::quoted_list;

template <typename Entry>
std::vector<std::string> names_of(const std::vector<Entry>& entries) {
  std::vector<std::string> names;
  for (const Entry& entry : entries) {
    names.push_back(entry.name);
  }
  return names;
}

std::string joined(const std::vector<std::string>& files) {
  std::string out;
  for (const std::string& file : files) {
    out += (out.empty() ? "" : ", ") + file;
  }
  return out.empty() ? "kubeconfig" : out;
}

Result<const ContextEntry*> choose_context(const Kubeconfig& kubeconfig,
                                           const std::string& wanted) {
  std::string known = "expected one of the contexts: " + quoted_list(names_of(kubeconfig.contexts));
  ConfigPlace anywhere{joined(kubeconfig.files), ""};
  const std::string& name = wanted.empty() ? kubeconfig.current_context : wanted;
  if (name.empty() && kubeconfig.contexts.empty()) {
    return fail(anywhere.error("contexts",
                               "there are none; give --kubeconfig, set KUBECONFIG, or run "
                               "'codeflare up' for a local cluster"));
  }
  if (name.empty()) {
    return fail(anywhere.error("current-context", "is not set, " + known + " (or give --context)"));
  }
  const ContextEntry* context = kubeconfig.context(name);
  if (context != nullptr) {
    return context;
  }
  if (!wanted.empty()) {
    return fail(
        anywhere.error("contexts", "no context " + quoted(name) + " given by --context, " + known));
  }
  ConfigPlace place{kubeconfig.current_context_file, ""};
  return fail(place.error("current-context", "no context " + quoted(name) + ", " + known));
}

Result<const ClusterEntry*> cluster_of(const Kubeconfig& kubeconfig, const ContextEntry& context) {
  std::string known = "expected one of the clusters: " + quoted_list(names_of(kubeconfig.clusters));
  if (context.cluster.empty()) {
    return fail(context.place.error("cluster", "is not set, " + known));
  }
  const ClusterEntry* cluster = kubeconfig.cluster(context.cluster);
  if (cluster == nullptr) {
    return fail(
        context.place.error("cluster", "no cluster " + quoted(context.cluster) + ", " + known));
  }
  return cluster;
}

// Null when the context names no user: the connection is then anonymous.
Result<const UserEntry*> user_of(const Kubeconfig& kubeconfig, const ContextEntry& context) {
  const UserEntry* user = kubeconfig.user(context.user);
  if (user == nullptr && !context.user.empty()) {
    return fail(context.place.error(
        "user", "no user " + quoted(context.user) +
                    ", expected one of the users: " + quoted_list(names_of(kubeconfig.users))));
  }
  return user;
}

Result<void> resolve_cluster_tls(FileSystem& files, const ClusterEntry& cluster, Config& config) {
  TlsConfig& tls = config.tls;
  internal::PemField ca{"certificate-authority", cluster.certificate_authority,
                        cluster.certificate_authority_data};
  if (cluster.insecure_skip_tls_verify && ca.given()) {
    return fail(cluster.place.error(
        "insecure-skip-tls-verify",
        "specifying a root certificates file with the insecure flag is not allowed, expected only "
        "one of this and " +
            ca.given_name()));
  }
  TRY_ASSIGN(tls.ca_pem,
             internal::read_pem(files, cluster.place, ca, internal::PemKind::certificates));
  tls.ca_file = cluster.certificate_authority;
  tls.insecure = cluster.insecure_skip_tls_verify;
  constexpr std::string_view kNameCharacters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._:";
  if (cluster.tls_server_name.find_first_not_of(kNameCharacters) != std::string::npos) {
    return fail(cluster.place.error("tls-server-name", "expected a host name or an IP address"));
  }
  tls.server_name = cluster.tls_server_name;
  config.origin.ca = internal::origin_of(ca.given_name(), "cluster", cluster);
  config.origin.server_name = internal::origin_of(
      tls.server_name.empty() ? "server" : "tls-server-name", "cluster", cluster);
  return {};
}

Result<void> resolve_proxy(const ClusterEntry& cluster, Config& config) {
  if (!cluster.proxy_url.empty()) {
    if (Result<net::Url> valid = internal::parse_config_proxy(cluster.proxy_url.reveal()); !valid) {
      return fail(cluster.place.error("proxy-url", valid.error().message));
    }
  }
  config.proxy_url = cluster.proxy_url;
  config.origin.proxy =
      cluster.proxy_url.empty() ? "" : internal::origin_of("proxy-url", "cluster", cluster);
  return {};
}

Result<void> resolve_namespace(const ContextEntry& context, const std::string& wanted,
                               Config& config) {
  const std::string& ns = wanted.empty() ? context.ns : wanted;
  if (ns.empty()) {
    return {};
  }
  if (!model::check_dns1123_label(ns).empty()) {
    std::string what =
        "expected a namespace name (at most 63 of a-z, 0-9 and -), found " + quoted(ns);
    return fail(wanted.empty() ? context.place.error("namespace", what)
                               : invalid_argument("--namespace: " + what));
  }
  config.ns = ns;
  return {};
}

// Over plain HTTP anybody on the way could read and use them, so they are not even looked at.
void withhold_credentials(const ClusterEntry& cluster, Config& config) {
  bool any =
      !std::holds_alternative<std::monostate>(config.auth) || !config.tls.certificate_pem.empty();
  config.auth = {};
  config.tls = {};
  config.origin.auth = {};
  if (any) {
    config.warnings.push_back(
        cluster.place.error("server", "is plain http: the user's credentials are not sent")
            .message);
  }
}

}  // namespace

Result<Config> resolve_config(FileSystem& files, const Kubeconfig& kubeconfig,
                              const ConfigOptions& options) {
  TRY_ASSIGN(const ContextEntry* context, choose_context(kubeconfig, options.context));
  TRY_ASSIGN(const ClusterEntry* cluster, cluster_of(kubeconfig, *context));
  TRY_ASSIGN(const UserEntry* user, user_of(kubeconfig, *context));
  Config config;
  config.warnings = kubeconfig.warnings;
  TRY(resolve_namespace(*context, options.ns, config));
  TRY(resolve_cluster_tls(files, *cluster, config));
  TRY(resolve_proxy(*cluster, config));
  config.disable_compression = cluster->disable_compression;
  if (user != nullptr) {
    TRY(internal::resolve_user(files, *user, config));
  }
  if (auto* exec = std::get_if<ExecAuth>(&config.auth)) {
    exec->cluster_config = cluster->exec_config;
  }
  bool default_tls =
      !config.tls.ca_pem.empty() || !config.tls.certificate_pem.empty() || config.tls.insecure;
  Result<internal::ServerUrl> server = internal::parse_server_url(cluster->server, default_tls);
  if (!server) {
    return fail(cluster->place.error("server", server.error().message));
  }
  config.server = server->to_string();
  config.origin.server = internal::origin_of("server", "cluster", *cluster);
  if (!server->endpoint.tls()) {
    withhold_credentials(*cluster, config);
  }
  if (!options.impersonation.empty()) {
    config.impersonation = options.impersonation;
    config.origin.impersonation = "--as";
  }
  config.source = "context " + quoted(context->name) + " of " + context->place.file;
  return config;
}

}  // namespace codeflare::kube
