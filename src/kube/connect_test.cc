#include "kube/connect.h"

#include "base/env/real_env.h"
#include "kube/internal/config_testing.h"
#include "net/server.h"
#include "net/testing/certificates.h"
#include "net/testing/loopback.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace codeflare::kube {
namespace {

using net::testing::CertificateAuthority;
using net::testing::Identity;

// Says who called and how.
Task<Result<net::Response>> whoami(net::Request request) {
  std::string text = request.peer->certificate ? request.peer->certificate->common_name : "nobody";
  for (std::string_view name : {"Authorization", "Impersonate-User", "User-Agent"}) {
    text += "|" + std::string(request.headers.get(name).value_or(""));
  }
  text += "|" + request.target;
  bool refused = request.headers.get("Authorization") == "Bearer old";
  co_return net::make_response(refused ? 401 : 200, "text/plain", Bytes::from(text));
}

// A TLS server on loopback that knows its clients by certificate, and files beside it.
class ConnectTest : public ::testing::Test {
 protected:
  ConnectTest() : service_(whoami), server_(world_.env(), service_, server_options()) {
    port_ = server_.listen("127.0.0.1", 0).value();
    directory_ = ::testing::TempDir() + "connect_test_" + std::to_string(port_);
    EXPECT_TRUE(env().files.make_directories(directory_));
    config_.server = "https://127.0.0.1:" + std::to_string(port_);
    config_.tls.ca_pem = ca_.certificate_pem();
  }
  ~ConnectTest() override {
    world_.run(server_.drain(Duration::zero()));
    std::filesystem::remove_all(directory_);
  }

  Env env() { return world_.env(); }
  net::ServerOptions server_options() {
    return {.tls = net::TlsServerOptions{identity_.certificate_pem, identity_.key_pem,
                                         ca_.certificate_pem()}};
  }
  std::string ask(Connection& connection, std::string target = "/version") {
    net::Request request;
    request.target = std::move(target);
    Result<net::Response> response = world_.run(connection.service().send(std::move(request)));
    if (!response) {
      return response.error().to_string();
    }
    return std::to_string(response->status) + " " +
           world_.run(net::read_all(std::move(response->body), 1 << 20)).value_or("body lost");
  }
  std::string ask() {
    Result<std::unique_ptr<Connection>> connection = connect(env(), config_);
    return connection ? ask(**connection) : connection.error().to_string();
  }
  // A program that prints its credentials from a file; each run also leaves a line in "runs".
  void use_plugin() {
    std::string program = directory_ + "/plugin";
    ASSERT_TRUE(env().files.write(
        program,
        "#!/bin/sh\necho run >> " + directory_ + "/runs\ncat " + directory_ + "/credential\n",
        {.mode = 0755}));
    config_.auth = ExecAuth{.plugin = {.api_version = "client.authentication.k8s.io/v1",
                                       .command = program,
                                       .interactive_mode = "Never"}};
  }
  void put_credential(const std::string& token, const Identity& identity) {
    std::string text;
    json::Writer writer(text);
    writer.begin_object().member("kind", "ExecCredential");
    writer.member("apiVersion", "client.authentication.k8s.io/v1").key("status").begin_object();
    writer.member_if_set("token", token);
    writer.member_if_set("clientCertificateData", identity.certificate_pem);
    writer.member_if_set("clientKeyData", identity.key_pem);
    writer.end_object().end_object();
    ASSERT_TRUE(env().files.write(directory_ + "/credential", text));
  }

  net::testing::RealWorld world_;
  CertificateAuthority ca_{"test-ca"};
  Identity identity_ = ca_.issue(
      {.common_name = "server", .dns_names = {"kubernetes.default"}, .addresses = {"127.0.0.1"}});
  net::testing::ScriptedService service_;
  net::HttpServer server_;
  std::uint16_t port_ = 0;
  std::string directory_;
  Config config_;
};

TEST_F(ConnectTest, a_token_impersonation_and_a_path_reach_the_server) {
  config_.auth = BearerToken{Secret("t")};
  config_.impersonation.user = "jane";
  config_.server += "/k8s";
  Result<std::unique_ptr<Connection>> connection =
      connect(env(), config_, {.user_agent = "test/1"});
  ASSERT_TRUE(connection) << connection.error().message;
  EXPECT_EQ(ask(**connection), "200 nobody|Bearer t|jane|test/1|/k8s/version");
  EXPECT_EQ((*connection)->config().impersonation.user, "jane");
  EXPECT_EQ((*connection)->host(), "127.0.0.1:" + std::to_string(port_));
}

TEST_F(ConnectTest, a_client_certificate_says_who_we_are) {
  Identity jane = ca_.issue({.common_name = "jane"});
  config_.tls.certificate_pem = jane.certificate_pem;
  config_.tls.key_pem = Secret(jane.key_pem);
  EXPECT_EQ(ask(), "200 jane|||codeflare|/version");
}

TEST_F(ConnectTest, another_authority_is_not_trusted_unless_told_so) {
  config_.tls.ca_pem = CertificateAuthority("other").certificate_pem();
  EXPECT_TRUE(ask().starts_with("failed_precondition")) << ask();
  config_.tls.ca_pem.clear();
  config_.tls.insecure = true;
  EXPECT_TRUE(ask().starts_with("200 "));
}

TEST_F(ConnectTest, the_name_to_verify_can_be_given) {
  config_.server = "https://localhost:" + std::to_string(port_);
  EXPECT_TRUE(ask().starts_with("failed_precondition")) << ask();
  config_.tls.server_name = "kubernetes.default";
  EXPECT_TRUE(ask().starts_with("200 "));
}

TEST_F(ConnectTest, settings_that_make_no_sense_fail_before_anything_is_sent) {
  Identity one = ca_.issue({.common_name = "one"});
  Identity two = ca_.issue({.common_name = "two"});
  config_.source = "context \"x\" of /k";
  config_.tls.certificate_pem = one.certificate_pem;
  config_.tls.key_pem = Secret(two.key_pem);
  std::string message = ask();
  EXPECT_TRUE(message.contains("context \"x\" of /k: ")) << message;
  config_.tls = {};
  config_.proxy_url = Secret("http://me:sEcReT@bad host");
  message = ask();
  EXPECT_TRUE(message.contains("proxy: expected a URL")) << message;
  testing::expect_clean(message);
}

TEST_F(ConnectTest, a_refused_plugin_token_is_renewed_by_a_real_program) {
  use_plugin();
  put_credential("old", {});
  Result<std::unique_ptr<Connection>> connection = connect(env(), config_);
  ASSERT_TRUE(connection);
  EXPECT_EQ(ask(**connection), "401 nobody|Bearer old||codeflare|/version");
  put_credential("new", {});
  EXPECT_EQ(ask(**connection), "200 nobody|Bearer new||codeflare|/version");
  EXPECT_EQ(ask(**connection), "200 nobody|Bearer new||codeflare|/version");
  EXPECT_EQ(env().files.read(directory_ + "/runs").value(), "run\nrun\nrun\n");
}

TEST_F(ConnectTest, a_certificate_from_the_plugin_makes_new_connections) {
  use_plugin();
  put_credential("old", ca_.issue({.common_name = "first"}));
  Result<std::unique_ptr<Connection>> connection = connect(env(), config_);
  ASSERT_TRUE(connection);
  EXPECT_EQ(ask(**connection), "401 first|Bearer old||codeflare|/version");
  put_credential("", ca_.issue({.common_name = "second"}));
  EXPECT_EQ(ask(**connection), "200 second|||codeflare|/version");
}

TEST_F(ConnectTest, a_whole_kubeconfig_leads_to_the_server) {
  Identity jane = ca_.issue({.common_name = "jane"});
  std::string path = directory_ + "/config";
  ASSERT_TRUE(env().files.write(directory_ + "/ca.crt", ca_.certificate_pem()));
  Result<void> edited = world_.run(edit_kubeconfig(env(), path, [&](KubeconfigEditor& editor) {
    editor.set_cluster({.name = "c", .server = config_.server, .certificate_authority = "ca.crt"});
    editor.set_user({.name = "u",
                     .client_certificate_data = to_base64(jane.certificate_pem),
                     .client_key_data = Secret(to_base64(jane.key_pem))});
    editor.set_context({.name = "x", .cluster = "c", .user = "u"});
    editor.set_current_context("x");
    return Result<void>();
  }));
  ASSERT_TRUE(edited) << edited.error().message;
  Result<Config> config = load_config(env(), {.explicit_path = path});
  ASSERT_TRUE(config) << config.error().message;
  config_ = *config;
  EXPECT_EQ(ask(), "200 jane|||codeflare|/version");
}

}  // namespace
}  // namespace codeflare::kube
