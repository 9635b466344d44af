#include "kube/client.h"
#include "kube/connect.h"
#include "kube/internal/config_testing.h"
#include "net/server.h"
#include "net/testing/certificates.h"
#include "net/testing/loopback.h"
#include "net/testing/raw_peer.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>

namespace codeflare::kube {
namespace {

using net::testing::CertificateAuthority;
using net::testing::Identity;
using net::testing::RawServer;

constexpr std::string_view kStatus = R"({"kind":"Status","apiVersion":"v1","status":"Failure",)";

// As an API server: only one token is known, and nobody may impersonate.
Task<Result<net::Response>> guarded(net::Request request) {
  if (request.headers.has("Impersonate-User")) {
    co_return net::make_response(
        403, "application/json",
        Bytes::from(std::string(kStatus) + R"("code":403,"reason":"Forbidden","message":)" +
                    R"("users \"jane\" is forbidden: User \"u\" cannot impersonate resource"})"));
  }
  if (request.target.starts_with("/elsewhere/")) {
    co_return net::make_response(404, "text/plain", Bytes::from_static("404 page not found"));
  }
  if (request.headers.get("Authorization") == "Bearer sEcReT-good") {
    co_return net::make_response(200, "application/json", Bytes::from_static("{}"));
  }
  co_return net::make_response(
      401, "application/json",
      Bytes::from(std::string(kStatus) + R"("code":401,"reason":"Unauthorized",)" +
                  R"("message":"Unauthorized"})"));
}

// A kubeconfig that leads to a server, and the message its user gets when one field is wrong.
class WrongValueTest : public ::testing::Test {
 protected:
  WrongValueTest() : service_(guarded), server_(world_.env(), service_, server_options()) {
    port_ = server_.listen("127.0.0.1", 0).value();
    directory_ = ::testing::TempDir() + "wrong_value_test_" + std::to_string(port_);
    EXPECT_TRUE(world_.env().files.make_directories(directory_));
    path_ = directory_ + "/config";
    cluster_["server"] = "https://127.0.0.1:" + std::to_string(port_);
    cluster_["certificate-authority-data"] = to_base64(ca_.certificate_pem());
    user_["token"] = "sEcReT-good";
  }
  ~WrongValueTest() override {
    world_.run(server_.drain(Duration::zero()));
    std::filesystem::remove_all(directory_);
  }

  net::ServerOptions server_options() {
    return {.tls = net::TlsServerOptions{identity_.certificate_pem, identity_.key_pem, ""}};
  }
  std::uint16_t closed_port() { return RawServer::listen(world_.env())->port(); }
  std::string file(const std::string& name, const std::string& content, std::uint32_t mode = 0600) {
    std::string path = directory_ + "/" + name;
    EXPECT_TRUE(world_.env().files.write(path, content, {.mode = mode}));
    return path;
  }

  std::string kubeconfig() const {
    std::string text = "clusters:\n- name: c\n  cluster:\n";
    for (const auto& [name, value] : cluster_) {
      text += "    " + name + ": \"" + value + "\"\n";
    }
    text += "users:\n- name: u\n  user:\n    as-groups: []\n";
    for (const auto& [name, value] : user_) {
      text += "    " + name + ": \"" + value + "\"\n";
    }
    return text + user_more_ +
           "contexts:\n"
           "- name: x\n"
           "  context: {cluster: c, user: u}\n"
           "current-context: x\n";
  }

  // The one line; the port and the folder, which differ from run to run, are left out.
  std::string said(Duration patience = std::chrono::seconds(30)) {
    file("config", kubeconfig());
    std::string line = ask(patience);
    testing::expect_clean(line);
    auto replace = [&](const std::string& what, const std::string& with) {
      for (std::size_t at; (at = line.find(what)) != std::string::npos;) {
        line.replace(at, what.size(), with);
      }
    };
    replace(directory_ + "/", "");
    replace(":" + std::to_string(port_), ":PORT");
    return line;
  }

  std::string ask(Duration patience) {
    Result<Config> config = load_config(world_.env(), {.explicit_path = path_});
    if (!config) {
      return config.error().message;
    }
    Result<std::unique_ptr<Connection>> connection = connect(world_.env(), *config);
    if (!connection) {
      return connection.error().message;
    }
    ClientOptions options;
    options.attempts_max = 1;
    options.transport_attempts_max = 1;
    options.request_timeout = patience;
    Client client(world_.env(), (*connection)->service(), options);
    Result<Client::RawResponse> answer = world_.run(client.raw({.target = "/version"}));
    return answer ? "fine" : answer.error().message;
  }

  net::testing::RealWorld world_;
  CertificateAuthority ca_{"test-ca"};
  Identity identity_ = ca_.issue(
      {.common_name = "server", .dns_names = {"kubernetes.default"}, .addresses = {"127.0.0.1"}});
  net::testing::ScriptedService service_;
  net::HttpServer server_;
  std::uint16_t port_ = 0;
  std::string directory_;
  std::string path_;
  std::map<std::string, std::string> cluster_;
  std::map<std::string, std::string> user_;
  std::string user_more_;
};

TEST_F(WrongValueTest, nothing_is_wrong_at_first) {
  EXPECT_EQ(said(), "fine");
}

TEST_F(WrongValueTest, a_certificate_authority_without_a_certificate_inside) {
  cluster_["certificate-authority-data"] = to_base64(testing::sample_certificate("sEcReT"));
  EXPECT_EQ(said(),
            "certificate-authority-data of cluster \"c\" in config: expected a PEM certificate, "
            "but its PEM block is not a certificate");
  cluster_.erase("certificate-authority-data");
  cluster_["certificate-authority"] = "ca.crt";
  file("ca.crt", testing::sample_certificate());
  EXPECT_EQ(said(),
            "certificate-authority of cluster \"c\" in config: in ca.crt: expected a PEM "
            "certificate, but its PEM block is not a certificate");
}

TEST_F(WrongValueTest, a_client_certificate_or_key_with_something_else_inside) {
  Identity jane = ca_.issue({.common_name = "jane"});
  Identity joe = ca_.issue({.common_name = "joe"});
  user_ = {{"client-certificate-data", to_base64(testing::sample_certificate())},
           {"client-key-data", to_base64(jane.key_pem)}};
  EXPECT_EQ(said(),
            "client-certificate-data of user \"u\" in config: expected a PEM certificate, but its "
            "PEM block is not a certificate");
  user_ = {{"client-certificate-data", to_base64(jane.certificate_pem)},
           {"client-key-data", to_base64(testing::sample_key())}};
  EXPECT_EQ(said(),
            "client-key-data of user \"u\" in config: expected a PEM private key, but its PEM "
            "block is not a private key");
  user_["client-key-data"] = to_base64(joe.key_pem);
  EXPECT_EQ(said(),
            "client-key-data of user \"u\" in config: expected the private key of "
            "client-certificate-data of user \"u\" in config, found the key of another "
            "certificate");
  user_ = {{"client-certificate", file("jane.crt", jane.certificate_pem)},
           {"client-key", file("joe.key", joe.key_pem)}};
  EXPECT_EQ(said(),
            "client-key of user \"u\" in config: in joe.key: expected the private key of "
            "client-certificate of user \"u\" in config, found the key of another certificate");
}

TEST_F(WrongValueTest, credentials_that_the_server_refuses) {
  user_["token"] = "sEcReT-bad";
  EXPECT_EQ(said(), "Unauthorized (token of user \"u\" in config was rejected)");
  user_ = {{"tokenFile", "token"}};
  file("token", "sEcReT-bad\n");
  EXPECT_EQ(said(), "Unauthorized (tokenFile of user \"u\" in config was rejected)");
  user_ = {{"username", "joe"}, {"password", "sEcReT"}};
  EXPECT_EQ(said(), "Unauthorized (username and password of user \"u\" in config was rejected)");
  Identity jane = CertificateAuthority("other").issue({.common_name = "jane"});
  user_ = {{"client-certificate-data", to_base64(jane.certificate_pem)},
           {"client-key-data", to_base64(jane.key_pem)}};
  EXPECT_EQ(said(), "Unauthorized (client-certificate-data of user \"u\" in config was rejected)");
  user_.clear();
  EXPECT_EQ(said(), "Unauthorized (no credentials are given by the context \"x\" of config)");
}

TEST_F(WrongValueTest, a_server_that_is_not_there) {
  cluster_["server"] = "https://127.0.0.1:" + std::to_string(closed_port());
  EXPECT_TRUE(said().ends_with(": Connection refused (server of cluster \"c\" in config)"))
      << said();
  cluster_["server"] = "https://no-such-host.invalid:6443";
  EXPECT_TRUE(said().starts_with("GET /version: look up no-such-host.invalid: ")) << said();
  EXPECT_TRUE(said().ends_with(" (server of cluster \"c\" in config)")) << said();
}

TEST_F(WrongValueTest, a_server_under_another_path) {
  cluster_["server"] += "/elsewhere";
  EXPECT_EQ(said(),
            "GET /version: the server answered 404: 404 page not found (server of cluster \"c\" in "
            "config, expected the path of an API server, mostly none)");
}

TEST_F(WrongValueTest, http_where_https_is_spoken) {
  cluster_["server"] = "http://127.0.0.1:" + std::to_string(port_);
  EXPECT_TRUE(
      said().ends_with("(server of cluster \"c\" in config is plain http, expected https "
                       "where the port speaks TLS)"))
      << said();
}

TEST_F(WrongValueTest, https_where_http_is_spoken) {
  net::HttpServer plain(world_.env(), service_, {});
  cluster_["server"] = "https://127.0.0.1:" + std::to_string(plain.listen("127.0.0.1", 0).value());
  EXPECT_TRUE(
      said().ends_with("the server does not speak TLS (server of cluster \"c\" in config "
                       "is https, expected http or a port that speaks TLS)"))
      << said();
  world_.run(plain.drain(Duration::zero()));
}

TEST_F(WrongValueTest, a_server_that_does_not_answer_in_time) {
  RawServer silent = *RawServer::listen(world_.env());
  cluster_["server"] = "https://127.0.0.1:" + std::to_string(silent.port());
  EXPECT_EQ(said(std::chrono::milliseconds(100)),
            "GET /version: no answer within 100 ms: still waiting (server of cluster \"c\" in "
            "config)");
}

TEST_F(WrongValueTest, another_authority) {
  cluster_["certificate-authority-data"] =
      to_base64(CertificateAuthority("other").certificate_pem());
  EXPECT_EQ(
      said(),
      "GET /version: TLS with 127.0.0.1:PORT: certificate CN=server is signed by an unknown "
      "authority (CN=test-ca) (expected that authority in certificate-authority-data of cluster "
      "\"c\" in config; the server may be another cluster, or the authority an old one)");
}

TEST_F(WrongValueTest, another_name) {
  cluster_["tls-server-name"] = "other.example";
  EXPECT_EQ(said(),
            "GET /version: TLS with 127.0.0.1:PORT: certificate CN=server is valid for "
            "kubernetes.default, 127.0.0.1, not for other.example (expected one of these in "
            "tls-server-name of cluster \"c\" in config)");
}

TEST_F(WrongValueTest, a_dead_proxy_is_named_without_its_password) {
  std::string proxy = "127.0.0.1:" + std::to_string(closed_port());
  cluster_["proxy-url"] = "http://me:sEcReT@" + proxy;
  EXPECT_EQ(said(), "GET /version: connect to " + proxy +
                        ": Connection refused through the proxy http://***@" + proxy +
                        " (proxy-url of cluster \"c\" in config)");
}

TEST_F(WrongValueTest, a_proxy_that_is_not_trusted_is_told_from_the_server) {
  const Identity other =
      CertificateAuthority("other").issue({.common_name = "proxy", .addresses = {"127.0.0.1"}});
  net::HttpServer server(world_.env(), service_,
                         {.tls = net::TlsServerOptions{other.certificate_pem, other.key_pem, {}}});
  const std::string proxy = "127.0.0.1:" + std::to_string(server.listen("127.0.0.1", 0).value());
  cluster_["proxy-url"] = "https://me:sEcReT@" + proxy;
  EXPECT_EQ(said(), "GET /version: TLS with the proxy " + proxy +
                        ": certificate CN=proxy is signed by an unknown authority (CN=other) "
                        "(proxy-url of cluster \"c\" in config)");
  world_.run(server.drain(Duration::zero()));
}

TEST_F(WrongValueTest, whom_to_impersonate) {
  user_["as"] = "jane";
  EXPECT_EQ(said(),
            "users \"jane\" is forbidden: User \"u\" cannot impersonate resource (as of user "
            "\"u\" in config)");
}

TEST_F(WrongValueTest, a_plugin_that_hangs_fails_or_prints_what_is_refused) {
  user_.clear();
  user_more_ =
      "    exec: {apiVersion: client.authentication.k8s.io/v1, command: ./plugin, "
      "interactiveMode: Never}\n";
  file("plugin", "#!/bin/sh\nexec sleep 600\n", 0700);
  EXPECT_EQ(said(std::chrono::milliseconds(300)),
            "GET /version: no answer within 300 ms: config: users[0].user.exec: credential plugin "
            "\"./plugin\" did not print an ExecCredential in time");
  file("plugin", "#!/bin/sh\nexit 3\n", 0700);
  EXPECT_EQ(said(),
            "GET /version: config: users[0].user.exec: credential plugin \"./plugin\" failed with "
            "exit code 3, expected 0 and an ExecCredential on its output");
  std::string head = R"(echo '{"kind":"ExecCredential","apiVersion":)"
                     R"("client.authentication.k8s.io/v1","status":)";
  file("plugin", "#!/bin/sh\n" + head + R"({"token":"sEcReT-bad"}}')" + "\n", 0700);
  EXPECT_EQ(said(), "Unauthorized (the output of exec of user \"u\" in config was rejected)");
}

}  // namespace
}  // namespace codeflare::kube
