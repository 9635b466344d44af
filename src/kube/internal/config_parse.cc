#include "json/write.h"
#include "kube/internal/config_reader.h"
#include "kube/internal/config_text.h"
#include "kube/kubeconfig.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <unordered_map>

namespace codeflare::kube {

namespace {

using internal::ConfigReader;

constexpr std::string_view kExecExtension = "client.authentication.k8s.io/exec";

ClusterEntry read_cluster(const ConfigReader& reader) {
  ClusterEntry cluster;
  cluster.place = reader.place();
  reader.expect_only({"server", "certificate-authority", "certificate-authority-data",
                      "insecure-skip-tls-verify", "tls-server-name", "proxy-url",
                      "disable-compression", "extensions"});
  cluster.server = reader.string("server");
  cluster.certificate_authority = reader.string("certificate-authority");
  cluster.certificate_authority_data = reader.string("certificate-authority-data");
  cluster.insecure_skip_tls_verify = reader.boolean("insecure-skip-tls-verify");
  cluster.tls_server_name = reader.string("tls-server-name");
  cluster.proxy_url = Secret(reader.string("proxy-url"));
  cluster.disable_compression = reader.boolean("disable-compression");
  for (const ConfigReader& extension : reader.mappings("extensions", "name and extension")) {
    const json::Value* content = extension.find("extension");
    if (extension.string("name") == kExecExtension && content != nullptr) {
      cluster.exec_config = json::to_text(*content);
    }
  }
  return cluster;
}

ExecPlugin read_exec(const ConfigReader& reader) {
  ExecPlugin exec;
  reader.expect_only({"apiVersion", "command", "args", "env", "installHint", "provideClusterInfo",
                      "interactiveMode"});
  exec.api_version = reader.string("apiVersion");
  exec.command = reader.string("command");
  exec.args = reader.strings("args");
  for (const ConfigReader& variable : reader.mappings("env", "name and value")) {
    exec.env.emplace_back(variable.string("name"), variable.string("value"));
  }
  exec.install_hint = reader.string("installHint");
  exec.provide_cluster_info = reader.boolean("provideClusterInfo");
  exec.interactive_mode = reader.string("interactiveMode");
  return exec;
}

UserEntry read_user(const ConfigReader& reader) {
  UserEntry user;
  user.place = reader.place();
  reader.expect_only({"client-certificate", "client-certificate-data", "client-key",
                      "client-key-data", "token", "tokenFile", "username", "password", "exec",
                      "auth-provider", "as", "as-uid", "as-groups", "as-user-extra", "extensions"});
  user.client_certificate = reader.string("client-certificate");
  user.client_certificate_data = reader.string("client-certificate-data");
  user.client_key = reader.string("client-key");
  user.client_key_data = Secret(reader.string("client-key-data"));
  user.token = Secret(reader.string("token"));
  user.token_file = reader.string("tokenFile");
  user.username = reader.string("username");
  user.password = Secret(reader.string("password"));
  if (reader.has("exec")) {
    user.exec = read_exec(reader.mapping("exec", "apiVersion and command"));
  }
  user.has_auth_provider = reader.has("auth-provider");
  user.impersonate_user = reader.string("as");
  user.impersonate_uid = reader.string("as-uid");
  user.impersonate_groups = reader.strings("as-groups");
  user.impersonate_extra = reader.string_lists("as-user-extra");
  return user;
}

ContextEntry read_context(const ConfigReader& reader) {
  ContextEntry context;
  context.place = reader.place();
  reader.expect_only({"cluster", "user", "namespace", "extensions"});
  context.cluster = reader.string("cluster");
  context.user = reader.string("user");
  context.ns = reader.string("namespace");
  return context;
}

// "clusters: [{name: x, cluster: {...}}]" and its two likes.
template <typename Entry>
std::vector<Entry> read_entries(const ConfigReader& root, const std::string& list,
                                const std::string& body, Entry (*read)(const ConfigReader&)) {
  std::vector<Entry> entries;
  std::unordered_map<std::string, std::size_t> seen;
  for (const ConfigReader& item : root.mappings(list, "name and " + body)) {
    item.expect_only({"name", body});
    std::string name = item.string("name");
    if (name.empty()) {
      item.report("name", "expected the name of this entry, found nothing");
    }
    auto [first, is_new] = seen.emplace(name, entries.size());
    if (!is_new) {
      item.report("name", internal::quoted(name) + " is already the name of " + list + "[" +
                              std::to_string(first->second) + "]");
    }
    Entry entry = read(item.mapping(body, "the settings of this " + body));
    entry.name = std::move(name);
    entries.push_back(std::move(entry));
  }
  return entries;
}

void check_type(const ConfigReader& root) {
  root.expect_only({"apiVersion", "kind", "clusters", "users", "contexts", "current-context",
                    "preferences", "extensions"});
  std::string version = root.string("apiVersion");
  if (!version.empty() && version != "v1") {
    root.report("apiVersion", "expected v1, found " + internal::quoted(version));
  }
  std::string kind = root.string("kind");
  if (!kind.empty() && kind != "Config") {
    root.report("kind", "expected Config, found " + internal::quoted(kind));
  }
}

// Paths count from the directory of the file; a command without a slash is looked up on PATH.
void resolve_paths(Kubeconfig& config, const std::string& file) {
  std::string directory = parent_path(file);
  auto resolve = [&](std::string& path) {
    if (!path.empty()) {
      path = join_path(directory, path);
    }
  };
  for (ClusterEntry& cluster : config.clusters) {
    resolve(cluster.certificate_authority);
  }
  for (UserEntry& user : config.users) {
    resolve(user.client_certificate);
    resolve(user.client_key);
    resolve(user.token_file);
    if (user.exec && user.exec->command.contains('/')) {
      resolve(user.exec->command);
    }
  }
}

}  // namespace

Result<Kubeconfig> parse_kubeconfig(std::string_view text, const std::string& path) {
  Kubeconfig config;
  TRY_ASSIGN(json::Document document, internal::parse_config_text(text, path, &config.warnings));
  ConfigReader::State state{path, std::nullopt, {}};
  ConfigReader root(state, &document.root, "", "clusters, users and contexts");
  check_type(root);
  config.clusters = read_entries<ClusterEntry>(root, "clusters", "cluster", read_cluster);
  config.users = read_entries<UserEntry>(root, "users", "user", read_user);
  config.contexts = read_entries<ContextEntry>(root, "contexts", "context", read_context);
  config.current_context = root.string("current-context");
  if (state.error) {
    return fail(*std::move(state.error));
  }
  std::ranges::move(state.warnings, std::back_inserter(config.warnings));
  config.current_context_file = config.current_context.empty() ? "" : path;
  config.files.push_back(path);
  resolve_paths(config, path);
  return config;
}

}  // namespace codeflare::kube
