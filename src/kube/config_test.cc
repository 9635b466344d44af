#include "kube/config.h"

#include "kube/in_cluster.h"
#include "kube/internal/config_testing.h"

#include <gtest/gtest.h>

namespace codeflare::kube {
namespace {

using testing::expect_clean;
using testing::kSamplePath;
using testing::put_file;
using testing::put_sample_files;
using testing::sample_kubeconfig;
using testing::sample_with;

class ConfigTest : public ::testing::Test {
 protected:
  ConfigTest() { put_sample_files(env()); }
  Env env() { return sim_.env(); }

  Result<Config> resolve(const std::string& text, ConfigOptions options) {
    Result<Kubeconfig> kubeconfig = parse_kubeconfig(text, std::string(kSamplePath));
    if (!kubeconfig) {
      return fail(kubeconfig.error());
    }
    return resolve_config(env().files, *kubeconfig, options);
  }
  Config sample(const std::string& context) {
    Result<Config> config = resolve(sample_kubeconfig(), {.context = context});
    EXPECT_TRUE(config) << config.error().message;
    return config.value_or(Config());
  }
  // The message about the sample with one change, seen from one context.
  std::string error_of(const std::string& text, const std::string& context) {
    Result<Config> config = resolve(text, {.context = context});
    EXPECT_FALSE(config) << text;
    std::string message = config ? "" : config.error().message;
    expect_clean(message);
    return message;
  }

  SimEnv sim_;
};

TEST_F(ConfigTest, a_token_with_inline_ca_and_impersonation) {
  Config config = sample("");
  EXPECT_EQ(config.server, "https://api.example:6443");
  EXPECT_EQ(config.tls.ca_pem, testing::sample_certificate());
  EXPECT_EQ(config.tls.ca_file, "");
  EXPECT_EQ(config.tls.server_name, "kubernetes.default");
  EXPECT_FALSE(config.tls.insecure);
  EXPECT_EQ(std::get<BearerToken>(config.auth).token.reveal(), "sEcReT-token");
  EXPECT_EQ(config.impersonation.user, "jane");
  EXPECT_EQ(config.impersonation.groups.size(), 2u);
  EXPECT_EQ(config.proxy_url.reveal(), "http://me:sEcReT@proxy:3128");
  EXPECT_TRUE(config.disable_compression);
  EXPECT_EQ(config.ns, "team");
  EXPECT_EQ(config.source, R"(context "token" of /home/me/.kube/config)");
  EXPECT_TRUE(config.warnings.empty());
}

TEST_F(ConfigTest, certificates_from_data_and_from_files) {
  Config inline_data = sample("inline");
  EXPECT_EQ(inline_data.tls.certificate_pem, testing::sample_certificate());
  EXPECT_EQ(inline_data.tls.key_pem.reveal(), testing::sample_key());
  EXPECT_TRUE(std::holds_alternative<std::monostate>(inline_data.auth));
  Config from_files = sample("files");
  EXPECT_EQ(from_files.server, "https://files.example");
  EXPECT_EQ(from_files.tls.ca_pem, testing::sample_certificate("file ca"));
  EXPECT_EQ(from_files.tls.ca_file, "/home/me/.kube/ca.crt");
  EXPECT_EQ(from_files.tls.certificate_pem, testing::sample_certificate("file client"));
  EXPECT_EQ(from_files.tls.certificate_file, "/home/me/.kube/client.crt");
  EXPECT_EQ(from_files.tls.key_file, "/keys/client.key");
  EXPECT_EQ(from_files.ns, "default");
}

TEST_F(ConfigTest, the_other_kinds_of_users) {
  Config token_file = sample("token-file");
  EXPECT_EQ(std::get<BearerTokenFile>(token_file.auth).path, "/home/me/.kube/token");
  EXPECT_EQ(token_file.server, "https://[::1]:6443/k8s");
  EXPECT_TRUE(token_file.tls.insecure);
  Config basic = sample("basic");
  EXPECT_EQ(std::get<BasicAuth>(basic.auth).username, "joe");
  Config exec = sample("exec");
  EXPECT_EQ(std::get<ExecAuth>(exec.auth).plugin.command, "/home/me/.kube/bin/get-token");
  EXPECT_EQ(std::get<ExecAuth>(exec.auth).cluster_config, R"({"audience":"a"})");
  EXPECT_TRUE(std::holds_alternative<std::monostate>(sample("anonymous").auth));
}

TEST_F(ConfigTest, options_override_context_namespace_and_impersonation) {
  ConfigOptions options{.context = "basic", .ns = "other", .impersonation = {.user = "root"}};
  Result<Config> config = resolve(sample_kubeconfig(), options);
  ASSERT_TRUE(config);
  EXPECT_EQ(config->ns, "other");
  EXPECT_EQ(config->impersonation.user, "root");
  EXPECT_TRUE(std::holds_alternative<BasicAuth>(config->auth));
}

TEST_F(ConfigTest, credentials_are_not_sent_over_plain_http) {
  Config config = sample("plain");
  EXPECT_EQ(config.server, "http://localhost:8080");
  EXPECT_TRUE(std::holds_alternative<std::monostate>(config.auth));
  EXPECT_EQ(config.impersonation.user, "jane");
  ASSERT_EQ(config.warnings.size(), 1u);
  EXPECT_EQ(config.warnings[0],
            "/home/me/.kube/config: clusters[3].cluster.server: is plain http: the user's "
            "credentials are not sent");
}

TEST_F(ConfigTest, a_server_without_scheme_gets_one_as_in_client_go) {
  Result<Config> with_ca =
      resolve(sample_with("/clusters/0/cluster/server", R"("api:6443")"), {.context = "token"});
  EXPECT_EQ(with_ca->server, "https://api:6443");
  Result<Config> without =
      resolve(sample_with("/clusters/3/cluster/server", R"("api:8080")"), {.context = "plain"});
  EXPECT_EQ(without->server, "http://api:8080");
}

TEST_F(ConfigTest, a_token_and_a_token_file_are_used_as_in_client_go) {
  std::string both = sample_with("/users/3/user/token", R"("sEcReT-inline")");
  Result<Config> config = resolve(both, {.context = "token-file"});
  ASSERT_TRUE(config);
  EXPECT_EQ(std::get<BearerTokenFile>(config->auth).path, "/home/me/.kube/token");
  EXPECT_EQ(std::get<BearerTokenFile>(config->auth).fallback.reveal(), "sEcReT-inline");
  // With a token beside it the file may be missing for now.
  ASSERT_TRUE(env().files.remove("/home/me/.kube/token"));
  EXPECT_TRUE(resolve(both, {.context = "token-file"}));
}

TEST_F(ConfigTest, credentials_that_are_there_win_over_a_plugin) {
  Result<Config> token =
      resolve(sample_with("/users/5/user/token", R"("sEcReT")"), {.context = "exec"});
  EXPECT_TRUE(std::holds_alternative<BearerToken>(token->auth));
  Result<Config> basic =
      resolve(sample_with("/users/5/user/username", R"("joe")"), {.context = "exec"});
  EXPECT_TRUE(std::holds_alternative<BasicAuth>(basic->auth));
}

TEST_F(ConfigTest, an_older_plugin_needs_no_interactive_mode) {
  std::string exec = R"({"apiVersion": "client.authentication.k8s.io/v1beta1", "command": "x"})";
  Result<Config> config = resolve(sample_with("/users/5/user/exec", exec), {.context = "exec"});
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(std::get<ExecAuth>(config->auth).plugin.interactive_mode, "IfAvailable");
}

TEST_F(ConfigTest, space_around_a_token_is_dropped) {
  Result<Config> config =
      resolve(sample_with("/users/0/user/token", R"(" sEcReT-token\n")"), {.context = "token"});
  EXPECT_EQ(std::get<BearerToken>(config->auth).token.reveal(), "sEcReT-token");
}

struct Broken {
  std::string context;
  std::string pointer;  // into the sample
  std::string value;    // JSON; empty: removed
  std::string message;  // after the file's name
};

void PrintTo(const Broken& broken, std::ostream* out) {
  *out << broken.pointer << " = " << broken.value;
}

class BrokenFieldTest : public ConfigTest, public ::testing::WithParamInterface<Broken> {};

TEST_P(BrokenFieldTest, gives_one_line_naming_file_field_and_expectation) {
  const Broken& broken = GetParam();
  EXPECT_EQ(error_of(sample_with(broken.pointer, broken.value), broken.context),
            "/home/me/.kube/config: " + broken.message);
}

const std::string kServer =
    "clusters[0].cluster.server: expected a URL such as https://host:6443, but the URL ";
const std::string kProxy =
    "clusters[0].cluster.proxy-url: expected a URL such as http://proxy:3128, but the URL ";
const std::string kClusters = R"("main", "files", "insecure", "plain")";
const std::string kContexts = R"("token", "inline", "files", "token-file", "basic", "exec", )"
                              R"("plain", "anonymous")";

// JSON text of PEM in base64.
std::string encoded(std::string_view text) {
  return "\"" + to_base64(text) + "\"";
}

INSTANTIATE_TEST_SUITE_P(
    Selection, BrokenFieldTest,
    ::testing::Values(
        Broken{"", "/current-context", "",
               "current-context: is not set, expected one of the contexts: " + kContexts +
                   " (or give --context)"},
        Broken{"", "/current-context", R"("gone")",
               R"(current-context: no context "gone", expected one of the contexts: )" + kContexts},
        Broken{"gone", "/kind", "",
               R"(contexts: no context "gone" given by --context, expected one of the )"
               "contexts: " +
                   kContexts},
        Broken{
            "files", "/contexts/2/context/cluster", "",
            "contexts[2].context.cluster: is not set, expected one of the clusters: " + kClusters},
        Broken{
            "files", "/contexts/2/context/cluster", R"("gone\n")",
            R"(contexts[2].context.cluster: no cluster "gone?", expected one of the clusters: )" +
                kClusters},
        Broken{"files", "/contexts/2/context/user", R"("gone")",
               R"(contexts[2].context.user: no user "gone", expected one of the users: "token", )"
               R"("inline", "files", "token-file", "basic", "exec", "nobody")"},
        Broken{"token", "/contexts/0/context/namespace", R"("Not_A_Name")",
               "contexts[0].context.namespace: expected a namespace name (at most 63 of a-z, 0-9 "
               R"(and -), found "Not_A_Name")"}));

INSTANTIATE_TEST_SUITE_P(
    Cluster, BrokenFieldTest,
    ::testing::Values(
        Broken{"token", "/clusters/0/cluster/server", "",
               "clusters[0].cluster.server: is not set, expected a URL such as https://host:6443"},
        Broken{"token", "/clusters/0/cluster/server", R"("https://")",
               kServer + "has a malformed host"},
        Broken{"token", "/clusters/0/cluster/server", R"("https://sEcReT b")",
               kServer + "has a malformed host"},
        Broken{"token", "/clusters/0/cluster/server", R"("ftp://host")",
               kServer + "scheme is neither http nor https"},
        Broken{"token", "/clusters/0/cluster/server", R"("https://me:sEcReT@host")",
               kServer + "has a user or password, which belong into the user entry"},
        Broken{"token", "/clusters/0/cluster/server", R"("https://host?token=sEcReT")",
               kServer + "has a query"},
        Broken{"token", "/clusters/0/cluster/server", R"("https://host:70000")",
               kServer + "has a malformed port"},
        Broken{"token", "/clusters/0/cluster/server", R"("https://host:0")",
               kServer + "has a malformed port"},
        Broken{"token", "/clusters/0/cluster/server", R"("https://ho%0Ast")",
               kServer + "has a malformed host"},
        Broken{"token", "/clusters/0/cluster/certificate-authority-data", R"("sEcReT!")",
               "clusters[0].cluster.certificate-authority-data: expected PEM in base64, found "
               "invalid base64 at byte 6"},
        Broken{"token", "/clusters/0/cluster/certificate-authority-data", encoded("sEcReT no PEM"),
               "clusters[0].cluster.certificate-authority-data: expected PEM with a CERTIFICATE "
               "block, found no PEM block"},
        Broken{"token", "/clusters/0/cluster/certificate-authority-data",
               encoded(testing::sample_key()),
               "clusters[0].cluster.certificate-authority-data: expected PEM with a CERTIFICATE "
               "block, found only PRIVATE KEY"},
        Broken{"token", "/clusters/0/cluster/certificate-authority", R"("ca.crt")",
               "clusters[0].cluster.certificate-authority: expected only one of this and "
               "certificate-authority-data, found both"},
        Broken{"files", "/clusters/1/cluster/certificate-authority", R"("gone.crt")",
               "clusters[1].cluster.certificate-authority: expected a readable file: open "
               "/home/me/.kube/gone.crt: no such file or directory"},
        Broken{"files", "/clusters/1/cluster/certificate-authority", R"("~/ca.crt")",
               "clusters[1].cluster.certificate-authority: expected a readable file: open "
               "/home/me/.kube/~/ca.crt: no such file or directory (~ has no meaning in a "
               "kubeconfig)"},
        Broken{"files", "/clusters/1/cluster/certificate-authority", R"("token")",
               "clusters[1].cluster.certificate-authority: in /home/me/.kube/token: expected PEM "
               "with a CERTIFICATE block, found no PEM block"},
        Broken{"token", "/clusters/0/cluster/insecure-skip-tls-verify", "true",
               "clusters[0].cluster.insecure-skip-tls-verify: specifying a root certificates file "
               "with the insecure flag is not allowed, expected only one of this and "
               "certificate-authority-data"},
        Broken{"token", "/clusters/0/cluster/tls-server-name", R"("a name")",
               "clusters[0].cluster.tls-server-name: expected a host name or an IP address"},
        Broken{"token", "/clusters/0/cluster/proxy-url", R"("me:sEcReT@proxy")",
               kProxy + "has no scheme: expected http://, https:// or socks5://"},
        Broken{"token", "/clusters/0/cluster/proxy-url", R"("http://me:sEcReT@pro xy")",
               kProxy + "has a malformed host"},
        Broken{"token", "/clusters/0/cluster/proxy-url", R"("socks4://me:sEcReT@proxy")",
               kProxy + "scheme is none of http, https and socks5"},
        Broken{"token", "/clusters/0/cluster/proxy-url", R"("https://me:sEcReT@pro xy")",
               kProxy + "has a malformed host"},
        Broken{"token", "/clusters/0/cluster/proxy-url", R"("http://me:sEcReT@:80")",
               kProxy + "has a malformed host"}));

const std::string kAs =
    "users[0].user.as: is not set, expected a user to impersonate beside "
    "as-uid, as-groups or as-user-extra";
const std::string kModes = "expected Never, IfAvailable or Always";

INSTANTIATE_TEST_SUITE_P(
    User, BrokenFieldTest,
    ::testing::Values(
        Broken{"token", "/users/0/user/token", R"("sEcReT\nEvil: header")",
               "users[0].user.token: expected a token of printable ASCII, found another character "
               "at byte 6"},
        Broken{"token", "/users/0/user/token", R"("  ")",
               "users[0].user.token: expected a token, found nothing"},
        Broken{"token", "/users/0/user/username", R"("joe")",
               "users[0].user.token: more than one authentication method, expected only one of "
               "token and username/password"},
        Broken{"token-file", "/users/3/user/username", R"("joe")",
               "users[3].user.tokenFile: more than one authentication method, expected only one of "
               "token and username/password"},
        Broken{"token-file", "/users/3/user/tokenFile", R"("gone")",
               "users[3].user.tokenFile: expected a readable file: open /home/me/.kube/gone: no "
               "such file or directory"},
        Broken{"token-file", "/users/3/user/tokenFile", R"("/keys/client.key")",
               "users[3].user.tokenFile: in /keys/client.key: expected a token of printable ASCII, "
               "found another character at byte 10"},
        Broken{"basic", "/users/4/user/username", "",
               "users[4].user.username: is not set, expected it beside password"},
        Broken{"basic", "/users/4/user/username", R"("a:b")",
               "users[4].user.username: expected a name without a colon"},
        Broken{"inline", "/users/1/user/client-certificate-data", R"("A")",
               "users[1].user.client-certificate-data: expected PEM in base64, found invalid "
               "base64: ends after 1 bytes inside a group of four"},
        Broken{"inline", "/users/1/user/client-certificate-data", encoded("sEcReT"),
               "users[1].user.client-certificate-data: expected PEM with a CERTIFICATE block, "
               "found no PEM block"},
        Broken{"inline", "/users/1/user/client-certificate-data", "",
               "users[1].user.client-certificate: is not set, expected this or "
               "client-certificate-data beside client-key-data"},
        Broken{"inline", "/users/1/user/client-key-data", "",
               "users[1].user.client-key: is not set, expected this or client-key-data beside "
               "client-certificate-data"},
        Broken{"inline", "/users/1/user/client-key-data", R"("sEcReT key")",
               "users[1].user.client-key-data: expected PEM in base64, found invalid base64 at "
               "byte 6"},
        Broken{"inline", "/users/1/user/client-key-data", encoded(testing::sample_certificate()),
               "users[1].user.client-key-data: expected PEM with a PRIVATE KEY block, found only "
               "CERTIFICATE"},
        Broken{"inline", "/users/1/user/client-key-data",
               encoded(testing::pem("ENCRYPTED PRIVATE KEY", "sEcReT")),
               "users[1].user.client-key-data: expected PEM with a PRIVATE KEY block without a "
               "passphrase, found an encrypted one"},
        Broken{"inline", "/users/1/user/client-key", R"("k")",
               "users[1].user.client-key: expected only one of this and client-key-data, found "
               "both"},
        Broken{"files", "/users/2/user/client-certificate", R"("gone")",
               "users[2].user.client-certificate: expected a readable file: open "
               "/home/me/.kube/gone: no such file or directory"},
        Broken{"files", "/users/2/user/client-key", R"("client.crt")",
               "users[2].user.client-key: in /home/me/.kube/client.crt: expected PEM with a "
               "PRIVATE KEY block, found only CERTIFICATE"},
        Broken{"token", "/users/0/user/auth-provider", R"({"name": "gcp", "config": "sEcReT"})",
               "users[0].user.auth-provider: auth providers are not supported (Kubernetes' own "
               "clients have kept oidc alone), expected exec with a credential plugin (such as "
               "gke-gcloud-auth-plugin, aws-iam-authenticator or, for Azure and oidc, kubelogin)"},
        Broken{"token", "/users/0/user/as", "", kAs},
        Broken{"token", "/users/0/user", R"({"as-uid": "7"})", kAs},
        Broken{"token", "/users/0/user", R"({"as-groups": ["g"]})", kAs},
        Broken{"token", "/users/0/user", R"({"as-user-extra": {"k": ["v"]}})", kAs},
        Broken{"token", "/users/0/user/as", R"("a\nb")",
               "users[0].user.as: expected text without control characters"},
        Broken{"token", "/users/0/user/as-uid", R"("a\nb")",
               "users[0].user.as-uid: expected text without control characters"},
        Broken{"token", "/users/0/user/as-groups/0", R"("a\nb")",
               "users[0].user.as-groups: expected text without control characters"},
        Broken{"token", "/users/0/user/as-user-extra/k", R"(["a\nb"])",
               "users[0].user.as-user-extra: expected text without control characters"}));

const std::string kVersions =
    "expected client.authentication.k8s.io/v1 or "
    "client.authentication.k8s.io/v1beta1";

INSTANTIATE_TEST_SUITE_P(
    Exec, BrokenFieldTest,
    ::testing::Values(
        Broken{"exec", "/users/5/user/exec/apiVersion", "",
               "users[5].user.exec.apiVersion: is not set, " + kVersions},
        Broken{"exec", "/users/5/user/exec/apiVersion",
               R"("client.authentication.k8s.io/v1alpha1")",
               "users[5].user.exec.apiVersion: " + kVersions +
                   R"(, found "client.authentication.k8s.io/v1alpha1")"},
        Broken{"exec", "/users/5/user/exec/command", "",
               "users[5].user.exec.command: is not set, expected the program that prints "
               "credentials"},
        Broken{"exec", "/users/5/user/exec/env/0/name", "",
               "users[5].user.exec.env[0].name: expected the name of an environment variable"},
        Broken{"exec", "/users/5/user/exec/env/0/name", R"("A=sEcReT")",
               "users[5].user.exec.env[0].name: expected the name of an environment variable"},
        Broken{"exec", "/users/5/user/exec/interactiveMode", "",
               "users[5].user.exec.interactiveMode: is not set, " + kModes},
        Broken{"exec", "/users/5/user/exec/interactiveMode", R"("Sometimes")",
               "users[5].user.exec.interactiveMode: " + kModes + R"(, found "Sometimes")"}));

TEST_F(ConfigTest, a_wrong_namespace_option_is_named) {
  Result<Config> config = resolve(sample_kubeconfig(), {.ns = "No"});
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().message,
            "--namespace: expected a namespace name (at most 63 of a-z, 0-9 and -), found \"No\"");
}

// --- where the configuration comes from ---------------------------------------------------------

std::string one_context(std::string_view server) {
  return R"({"clusters": [{"name": "c", "cluster": {"server": ")" + std::string(server) +
         R"("}}], "contexts": [{"name": "x", "context": {"cluster": "c"}}], "current-context": "x"})";
}

class LoadConfigTest : public ::testing::Test {
 protected:
  Env env() { return sim_.env(); }
  std::string server(ConfigOptions options = {}) {
    Result<Config> config = load_config(env(), options);
    return config ? config->server : config.error().message;
  }
  void enter_pod() {
    sim_.set_variable("KUBERNETES_SERVICE_HOST", "10.0.0.1");
    sim_.set_variable("KUBERNETES_SERVICE_PORT", "443");
    std::string directory(kServiceAccountDirectory);
    put_file(env(), directory + "/token", "sEcReT-pod-token");
    put_file(env(), directory + "/ca.crt", testing::sample_certificate());
    put_file(env(), directory + "/namespace", "pod-ns");
  }
  void put_home_file() {
    sim_.set_variable("HOME", "/home/me");
    put_file(env(), "/home/me/.kube/config", one_context("https://home"));
  }

  SimEnv sim_;
};

TEST_F(LoadConfigTest, the_order_is_explicit_variable_pod_home) {
  put_home_file();
  EXPECT_EQ(server(), "https://home");
  enter_pod();
  EXPECT_EQ(server(), "https://10.0.0.1");
  put_file(env(), "/listed", one_context("https://listed"));
  sim_.set_variable("KUBECONFIG", "/missing:/listed");
  EXPECT_EQ(server(), "https://listed");
  put_file(env(), "/explicit", one_context("https://explicit"));
  EXPECT_EQ(server({.explicit_path = "/explicit"}), "https://explicit");
}

TEST_F(LoadConfigTest, an_explicit_file_must_exist) {
  put_home_file();
  enter_pod();
  EXPECT_EQ(server({.explicit_path = "/gone"}),
            "kubeconfig: open /gone: no such file or directory");
}

TEST_F(LoadConfigTest, a_context_is_looked_for_in_files_only) {
  put_home_file();
  enter_pod();
  EXPECT_EQ(server({.context = "x"}), "https://home");
  EXPECT_TRUE(server({.context = "gone"}).contains("\"gone\""))
      << "another cluster than the one that was named would be worse than none";
}

TEST_F(LoadConfigTest, options_apply_in_a_pod_too) {
  enter_pod();
  EXPECT_EQ(load_config(env())->ns, "pod-ns");
  EXPECT_EQ(load_config(env(), {.ns = "other"})->ns, "other");
}

TEST_F(LoadConfigTest, a_pod_without_service_account_falls_back_to_home) {
  put_home_file();
  sim_.set_variable("KUBERNETES_SERVICE_HOST", "10.0.0.1");
  sim_.set_variable("KUBERNETES_SERVICE_PORT", "443");
  EXPECT_EQ(server(), "https://home");
}

TEST_F(LoadConfigTest, a_file_without_contexts_names_the_fix) {
  put_file(env(), "/empty", "apiVersion: v1\nkind: Config\n");
  sim_.set_variable("KUBECONFIG", "/empty");
  EXPECT_EQ(server(),
            "/empty: contexts: there are none; give --kubeconfig, set KUBECONFIG, or run "
            "'codeflare up' for a local cluster");
}

TEST_F(LoadConfigTest, nothing_found_names_every_place_and_the_fix) {
  EXPECT_EQ(server(),
            "no Kubernetes configuration found (--kubeconfig: not given; KUBECONFIG: not set; "
            "in-cluster service account: not in a pod: KUBERNETES_SERVICE_HOST and "
            "KUBERNETES_SERVICE_PORT are not both set; ~/.kube/config: HOME is not set); give "
            "--kubeconfig, set KUBECONFIG, or run 'codeflare up' for a local cluster");
  sim_.set_variable("HOME", "/home/me");
  sim_.set_variable("KUBERNETES_SERVICE_HOST", "10.0.0.1");
  sim_.set_variable("KUBERNETES_SERVICE_PORT", "443");
  EXPECT_EQ(server(),
            "no Kubernetes configuration found (--kubeconfig: not given; KUBECONFIG: not set; "
            "in-cluster service account: open /var/run/secrets/kubernetes.io/serviceaccount/token: "
            "no such file or directory; /home/me/.kube/config: no such file); give --kubeconfig, "
            "set KUBECONFIG, or run 'codeflare up' for a local cluster");
  sim_.set_variable("KUBECONFIG", "/a:/b");
  EXPECT_EQ(server(),
            "no Kubernetes configuration found (--kubeconfig: not given; KUBECONFIG=/a:/b: no such "
            "file); give --kubeconfig, set KUBECONFIG, or run 'codeflare up' for a local cluster");
}

TEST_F(LoadConfigTest, a_broken_file_is_reported_and_not_skipped) {
  enter_pod();
  put_file(env(), "/broken", R"({"clusters": 7})");
  sim_.set_variable("KUBECONFIG", "/broken");
  EXPECT_EQ(server(),
            "/broken: clusters: expected a list of mappings with name and cluster, found "
            "a number");
}

}  // namespace
}  // namespace codeflare::kube
