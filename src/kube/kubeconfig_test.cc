#include "kube/kubeconfig.h"

#include "kube/internal/config_testing.h"

#include <gtest/gtest.h>

namespace codeflare::kube {
namespace {

using testing::expect_clean;
using testing::kSamplePath;
using testing::put_file;
using testing::sample_kubeconfig;
using testing::sample_with;

Kubeconfig parse_sample() {
  Result<Kubeconfig> config = parse_kubeconfig(sample_kubeconfig(), std::string(kSamplePath));
  EXPECT_TRUE(config) << config.error().message;
  return config.value_or(Kubeconfig());
}

std::string parse_error(std::string_view text) {
  Result<Kubeconfig> config = parse_kubeconfig(text, "/k");
  EXPECT_FALSE(config) << text;
  std::string message = config ? "" : config.error().message;
  expect_clean(message);
  return message;
}

TEST(Kubeconfig, reads_every_field) {
  Kubeconfig config = parse_sample();
  EXPECT_EQ(config.current_context, "token");
  EXPECT_EQ(config.current_context_file, kSamplePath);
  ASSERT_EQ(config.clusters.size(), 4u);
  const ClusterEntry& cluster = *config.cluster("main");
  EXPECT_EQ(cluster.place.path, "clusters[0].cluster");
  EXPECT_EQ(cluster.server, "https://api.example:6443");
  EXPECT_EQ(cluster.certificate_authority_data, to_base64(testing::sample_certificate()));
  EXPECT_EQ(cluster.tls_server_name, "kubernetes.default");
  EXPECT_EQ(cluster.proxy_url.reveal(), "http://me:sEcReT@proxy:3128");
  EXPECT_TRUE(cluster.disable_compression);
  EXPECT_FALSE(cluster.insecure_skip_tls_verify);
  EXPECT_EQ(cluster.exec_config, R"({"audience":"a"})");
  EXPECT_TRUE(config.cluster("insecure")->insecure_skip_tls_verify);

  const UserEntry& token = *config.user("token");
  EXPECT_EQ(token.token.reveal(), "sEcReT-token");
  EXPECT_EQ(token.impersonate_user, "jane");
  EXPECT_EQ(token.impersonate_uid, "7");
  EXPECT_EQ(token.impersonate_groups, (std::vector<std::string>{"dev", "ops"}));
  EXPECT_EQ(token.impersonate_extra.at("scopes"), (std::vector<std::string>{"view", "edit"}));
  EXPECT_EQ(config.user("basic")->username, "joe");
  EXPECT_EQ(config.user("basic")->password.reveal(), "sEcReT-password");
  EXPECT_FALSE(config.user("inline")->client_certificate_data.empty());
  EXPECT_FALSE(config.user("inline")->client_key_data.empty());

  const ExecPlugin& exec = config.user("exec")->exec.value();
  EXPECT_EQ(exec.api_version, "client.authentication.k8s.io/v1");
  EXPECT_EQ(exec.args, (std::vector<std::string>{"--for", "sEcReT-arg"}));
  ASSERT_EQ(exec.env.size(), 1u);
  EXPECT_EQ(exec.env[0].first, "MODE");
  EXPECT_EQ(exec.env[0].second, "sEcReT-value");
  EXPECT_EQ(exec.install_hint, "apt install get-token");
  EXPECT_TRUE(exec.provide_cluster_info);
  EXPECT_EQ(exec.interactive_mode, "Never");
  EXPECT_FALSE(config.user("token")->exec);

  const ContextEntry& context = *config.context("token");
  EXPECT_EQ(context.cluster, "main");
  EXPECT_EQ(context.user, "token");
  EXPECT_EQ(context.ns, "team");
}

TEST(Kubeconfig, relative_paths_count_from_the_directory_of_the_file) {
  Kubeconfig config = parse_sample();
  EXPECT_EQ(config.cluster("files")->certificate_authority, "/home/me/.kube/ca.crt");
  EXPECT_EQ(config.user("files")->client_certificate, "/home/me/.kube/client.crt");
  EXPECT_EQ(config.user("files")->client_key, "/keys/client.key");
  EXPECT_EQ(config.user("token-file")->token_file, "/home/me/.kube/token");
  EXPECT_EQ(config.user("exec")->exec->command, "/home/me/.kube/bin/get-token");
}

TEST(Kubeconfig, a_command_without_slash_is_left_to_the_path) {
  std::string text = sample_with("/users/5/user/exec/command", R"("aws")");
  EXPECT_EQ(parse_kubeconfig(text, "/a/b")->user("exec")->exec->command, "aws");
}

TEST(Kubeconfig, empty_texts_have_no_entries) {
  for (std::string_view text : {"", "{}", R"({"clusters": null, "users": [], "contexts": null})"}) {
    Result<Kubeconfig> config = parse_kubeconfig(text, "/k");
    ASSERT_TRUE(config) << text;
    EXPECT_TRUE(config->clusters.empty() && config->users.empty() && config->contexts.empty());
    EXPECT_EQ(config->files, std::vector<std::string>{"/k"});
  }
}

TEST(Kubeconfig, other_kinds_of_files_are_refused) {
  EXPECT_EQ(parse_error("[1]"),
            "/k: expected a mapping with clusters, users and contexts, found a list");
  EXPECT_EQ(parse_error(R"({"apiVersion": "v2"})"), R"(/k: apiVersion: expected v1, found "v2")");
  EXPECT_EQ(parse_error(R"({"apiVersion": "v1", "kind": "Secret"})"),
            R"(/k: kind: expected Config, found "Secret")");
}

TEST(Kubeconfig, entries_need_different_names) {
  EXPECT_EQ(parse_error(R"({"users": [{"name": "a"}, {"name": "b"}, {"name": "a"}]})"),
            R"(/k: users[2].name: "a" is already the name of users[0])");
  EXPECT_EQ(parse_error(R"({"contexts": [{"context": {}}]})"),
            "/k: contexts[0].name: expected the name of this entry, found nothing");
}

TEST(Kubeconfig, reads_yaml_as_kubectl_writes_it) {
  Result<Kubeconfig> config = parse_kubeconfig(R"(---
# made by hand
apiVersion: v1
kind: Config
current-context: dev
clusters:
- name: c
  cluster: {server: "https://c", insecure-skip-tls-verify: yes}
users:
- name: u
  user:
    token: |
      abc
contexts:
- context:
    cluster: c
    user: u
  name: dev
)",
                                               "/k");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->context("dev")->user, "u");
  EXPECT_EQ(config->user("u")->token.reveal(), "abc\n");
  EXPECT_TRUE(config->cluster("c")->insecure_skip_tls_verify);
}

TEST(Kubeconfig, broken_yaml_is_located_and_not_repeated) {
  EXPECT_TRUE(parse_error("users:\n- name: a\n  user: {token: sEcReT").starts_with("/k: line "));
  EXPECT_TRUE(parse_error("users:\n  - \"sEcReT").starts_with("/k: line "));
  std::string alias = parse_error("users:\n- name: a\n  user: {password: *sEcReT}\n");
  EXPECT_TRUE(alias.starts_with("/k: line 3, column ")) << alias;
  EXPECT_TRUE(alias.ends_with("\"...\"")) << alias;
  EXPECT_EQ(parse_error("a: 1\n---\nb: 2\n"), "/k: expected one YAML document, found 2");
}

// Each field with each wrong type: the message names file and field and what it should be.
TEST(Kubeconfig, a_field_of_the_wrong_type_is_named) {
  struct Field {
    std::string pointer;
    std::string name;
    std::string expected;
  };
  const Field fields[] = {
      {"/apiVersion", "apiVersion", "text"},
      {"/kind", "kind", "text"},
      {"/current-context", "current-context", "text"},
      {"/clusters", "clusters", "a list of mappings with name and cluster"},
      {"/clusters/0", "clusters[0]", "a mapping with name and cluster"},
      {"/clusters/0/name", "clusters[0].name", "text"},
      {"/clusters/0/cluster", "clusters[0].cluster", "a mapping with the settings of this cluster"},
      {"/clusters/0/cluster/server", "clusters[0].cluster.server", "text"},
      {"/clusters/0/cluster/certificate-authority", "clusters[0].cluster.certificate-authority",
       "text"},
      {"/clusters/0/cluster/certificate-authority-data",
       "clusters[0].cluster.certificate-authority-data", "text"},
      {"/clusters/0/cluster/insecure-skip-tls-verify",
       "clusters[0].cluster.insecure-skip-tls-verify", "true or false"},
      {"/clusters/0/cluster/tls-server-name", "clusters[0].cluster.tls-server-name", "text"},
      {"/clusters/0/cluster/proxy-url", "clusters[0].cluster.proxy-url", "text"},
      {"/clusters/0/cluster/disable-compression", "clusters[0].cluster.disable-compression",
       "true or false"},
      {"/clusters/0/cluster/extensions", "clusters[0].cluster.extensions",
       "a list of mappings with name and extension"},
      {"/clusters/0/cluster/extensions/0/name", "clusters[0].cluster.extensions[0].name", "text"},
      {"/users", "users", "a list of mappings with name and user"},
      {"/users/3", "users[3]", "a mapping with name and user"},
      {"/users/0/name", "users[0].name", "text"},
      {"/users/0/user", "users[0].user", "a mapping with the settings of this user"},
      {"/users/0/user/token", "users[0].user.token", "text"},
      {"/users/0/user/as", "users[0].user.as", "text"},
      {"/users/0/user/as-uid", "users[0].user.as-uid", "text"},
      {"/users/0/user/as-groups", "users[0].user.as-groups", "a list of texts"},
      {"/users/0/user/as-groups/1", "users[0].user.as-groups[1]", "text"},
      {"/users/0/user/as-user-extra", "users[0].user.as-user-extra",
       "a mapping with lists of texts"},
      {"/users/0/user/as-user-extra/scopes", "users[0].user.as-user-extra.scopes",
       "a list of texts"},
      {"/users/1/user/client-certificate-data", "users[1].user.client-certificate-data", "text"},
      {"/users/1/user/client-key-data", "users[1].user.client-key-data", "text"},
      {"/users/2/user/client-certificate", "users[2].user.client-certificate", "text"},
      {"/users/2/user/client-key", "users[2].user.client-key", "text"},
      {"/users/3/user/tokenFile", "users[3].user.tokenFile", "text"},
      {"/users/4/user/username", "users[4].user.username", "text"},
      {"/users/4/user/password", "users[4].user.password", "text"},
      {"/users/5/user/exec", "users[5].user.exec", "a mapping with apiVersion and command"},
      {"/users/5/user/exec/apiVersion", "users[5].user.exec.apiVersion", "text"},
      {"/users/5/user/exec/command", "users[5].user.exec.command", "text"},
      {"/users/5/user/exec/args", "users[5].user.exec.args", "a list of texts"},
      {"/users/5/user/exec/args/0", "users[5].user.exec.args[0]", "text"},
      {"/users/5/user/exec/env", "users[5].user.exec.env",
       "a list of mappings with name and value"},
      {"/users/5/user/exec/env/0/name", "users[5].user.exec.env[0].name", "text"},
      {"/users/5/user/exec/env/0/value", "users[5].user.exec.env[0].value", "text"},
      {"/users/5/user/exec/installHint", "users[5].user.exec.installHint", "text"},
      {"/users/5/user/exec/provideClusterInfo", "users[5].user.exec.provideClusterInfo",
       "true or false"},
      {"/users/5/user/exec/interactiveMode", "users[5].user.exec.interactiveMode", "text"},
      {"/contexts", "contexts", "a list of mappings with name and context"},
      {"/contexts/2/name", "contexts[2].name", "text"},
      {"/contexts/2/context", "contexts[2].context", "a mapping with the settings of this context"},
      {"/contexts/2/context/cluster", "contexts[2].context.cluster", "text"},
      {"/contexts/2/context/user", "contexts[2].context.user", "text"},
      {"/contexts/0/context/namespace", "contexts[0].context.namespace", "text"},
  };
  const std::pair<std::string, std::string> values[] = {{"7", "a number"},
                                                        {"true", "true or false"},
                                                        {R"("sEcReT text")", "text"},
                                                        {R"([["sEcReT"]])", "a list"},
                                                        {R"({"x": "sEcReT"})", "a mapping"}};
  for (const Field& field : fields) {
    for (const auto& [value, found] : values) {
      bool fits = field.expected.starts_with(found) || field.expected == found;
      if (fits) {
        continue;
      }
      Result<Kubeconfig> config =
          parse_kubeconfig(sample_with(field.pointer, value), std::string(kSamplePath));
      ASSERT_FALSE(config) << field.pointer << " = " << value;
      std::string hint =
          field.expected == "text" && (value == "7" || value == "true") ? "; put it in quotes" : "";
      EXPECT_EQ(config.error().message, "/home/me/.kube/config: " + field.name + ": expected " +
                                            field.expected + ", found " + found + hint);
      EXPECT_EQ(config.error().code, ErrorCode::invalid_argument);
      expect_clean(config.error().message);
    }
  }
}

TEST(Kubeconfig, names_with_line_breaks_do_not_break_the_message) {
  std::string message = parse_error(
      "{\"users\": [{\"name\": \"a\", \"user\": {\"as-user-extra\": "
      "{\"x\\ny\": 1}}}]}");
  EXPECT_EQ(message,
            "/k: users[0].user.as-user-extra.x y: expected a list of texts, found a number");
}

TEST(Kubeconfig, a_key_that_occurs_twice_is_a_warning) {
  Result<Kubeconfig> config =
      parse_kubeconfig(R"({"current-context": "a", "current-context": "b"})", "/k");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->current_context, "b");
  EXPECT_EQ(config->warnings,
            std::vector<std::string>{"/k: current-context occurs twice; the last one counts"});
}

TEST(Kubeconfig, a_misspelt_field_is_a_warning_with_its_place) {
  auto warnings = [](std::string_view text) { return parse_kubeconfig(text, "/k")->warnings; };
  EXPECT_EQ(warnings("contexts: [{name: x, context: {cluster: c, nmespace: n}}]"),
            std::vector<std::string>{
                "/k: contexts[0].context.nmespace: is not a field of a kubeconfig and is ignored; "
                "expected one of: cluster, user, namespace, extensions"});
  for (std::string_view text : {
           "curent-context: a",
           "clusters: [{name: c, clutser: {}}]",
           "clusters: [{name: c, cluster: {sever: https://h}}]",
           "users: [{name: u, user: {tokn: sEcReT}}]",
           "users: [{name: u, user: {exec: {apiVersion: v, command: c, arg: [sEcReT]}}}]",
       }) {
    std::vector<std::string> said = warnings(text);
    ASSERT_EQ(said.size(), 1u) << text;
    EXPECT_TRUE(said[0].contains("is not a field of a kubeconfig")) << said[0];
    testing::expect_clean(said[0]);
  }
  EXPECT_TRUE(warnings(testing::sample_kubeconfig()).empty());
}

TEST(Kubeconfig, a_secret_that_became_a_key_is_not_shown) {
  Result<Kubeconfig> config =
      parse_kubeconfig("users: [{name: u, user: {token:sEcReT, 'a/sEcReT': 1}}]", "/k");
  ASSERT_TRUE(config) << config.error().message;
  ASSERT_EQ(config->warnings.size(), 2u);
  for (const std::string& warning : config->warnings) {
    EXPECT_TRUE(warning.starts_with("/k: users[0].user: has a field with an invalid name"))
        << warning;
    testing::expect_clean(warning);
  }
}

TEST(Kubeconfig, the_first_file_wins_per_name) {
  SimEnv sim;
  Env env = sim.env();
  put_file(env, "/a/config", R"({"clusters": [{"name": "x", "cluster": {"server": "https://a"}}],
      "users": [{"name": "u", "user": {"token": "first"}}]})");
  put_file(env, "/b/config", R"({"current-context": "from-b",
      "clusters": [{"name": "x", "cluster": {"server": "https://b", "certificate-authority": "ca"}},
                   {"name": "y", "cluster": {"server": "https://y", "certificate-authority": "ca"}}],
      "users": [{"name": "u", "user": {"username": "not merged in"}}]})");
  put_file(env, "/c/config", R"({"current-context": "from-c"})");
  Result<Kubeconfig> config = load_kubeconfig(
      env.files, split_kubeconfig_list("/a/config::/missing:/b/config:/c/config:/a/config"), false);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->files, (std::vector<std::string>{"/a/config", "/b/config", "/c/config"}));
  ASSERT_EQ(config->clusters.size(), 2u);
  EXPECT_EQ(config->cluster("x")->server, "https://a");
  EXPECT_EQ(config->cluster("x")->certificate_authority, "");
  EXPECT_EQ(config->cluster("y")->certificate_authority, "/b/ca");
  EXPECT_EQ(config->cluster("y")->place.file, "/b/config");
  EXPECT_EQ(config->cluster("y")->place.path, "clusters[1].cluster");
  EXPECT_EQ(config->user("u")->token.reveal(), "first");
  EXPECT_EQ(config->user("u")->username, "");
  EXPECT_EQ(config->current_context, "from-b");
  EXPECT_EQ(config->current_context_file, "/b/config");
}

TEST(Kubeconfig, a_file_that_must_exist_is_missed) {
  SimEnv sim;
  Result<Kubeconfig> config = load_kubeconfig(sim.env().files, {"/missing"}, true);
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().message, "kubeconfig: open /missing: no such file or directory");
}

TEST(Kubeconfig, the_file_to_edit_is_the_one_kubectl_would_take) {
  SimEnv sim;
  Env env = sim.env();
  EXPECT_FALSE(kubeconfig_to_edit(env, ""));
  sim.set_variable("HOME", "/home/me");
  EXPECT_EQ(kubeconfig_to_edit(env, "").value(), "/home/me/.kube/config");
  sim.set_variable("KUBECONFIG", "/x:/y:/z");
  EXPECT_EQ(kubeconfig_to_edit(env, "").value(), "/z");
  put_file(env, "/y", "");
  EXPECT_EQ(kubeconfig_to_edit(env, "").value(), "/y");
  EXPECT_EQ(kubeconfig_to_edit(env, "/given").value(), "/given");
}

}  // namespace
}  // namespace codeflare::kube
