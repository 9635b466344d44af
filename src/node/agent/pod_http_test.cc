#include "node/agent/pod_http.h"

#include "net/testing/certificates.h"
#include "net/testing/loopback.h"
#include "net/upgrade.h"
#include "node/testing/sim_pod_network.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace codeflare::node {
namespace {

using net::testing::Loopback;

model::Pod running_pod() {
  model::Pod pod;
  pod.metadata.name = "web";
  pod.metadata.uid = "u";
  pod.status.phase = "Running";
  return pod;
}

Task<void> echo(net::ByteStream& connection) {
  Result<std::string> bytes = co_await connection.read();
  if (bytes) {
    static_cast<void>(co_await connection.write("echo " + *bytes));
  }
}

Task<Result<net::Response>> answer(net::Request request) {
  if (request.headers.has("Upgrade")) {
    net::Response response{.status = 101};
    response.headers.add("Upgrade", "echo");
    response.body = std::make_unique<net::Upgrade>(echo);
    co_return response;
  }
  std::string body;
  if (request.body != nullptr) {
    CO_TRY_ASSIGN(body, co_await net::read_all(std::move(request.body), 1u << 20));
  }
  co_return net::make_response(200, "text/plain",
                               Bytes::from(request.method + " " + request.target + " " + body));
}

Task<Result<void>> talk(PodHttp& http, model::Pod pod, std::uint16_t port, std::string& said) {
  net::Request request;
  request.headers = {{"Upgrade", "echo"}, {"Connection", "Upgrade"}};
  CO_TRY_ASSIGN(net::Response response,
                co_await http.send(pod, {.number = port}, std::move(request)));
  EXPECT_EQ(http.open(), 1u);
  struct Hello {
    static Task<void> run(net::ByteStream& connection, std::string& said) {
      static_cast<void>(co_await connection.write("hello"));
      said = (co_await connection.read()).value_or("");
    }
  };
  net::Takeover hello = [&said](net::ByteStream& connection) {
    return Hello::run(connection, said);
  };
  co_return co_await net::converse(std::move(response), std::move(hello));
}

TEST(PodHttp, sends_to_a_port_of_the_machine_where_pods_have_no_network) {
  Loopback pod(answer);
  PodHttp http(pod.env(), nullptr);
  net::Request request{.method = "POST", .target = "/a?b=c", .body = net::body_of("body")};
  Result<net::Response> response =
      pod.world().run(http.send(running_pod(), {.number = pod.port()}, std::move(request)));
  ASSERT_TRUE(response) << response.error().to_string();
  EXPECT_EQ(pod.read(*response).value_or(""), "POST /a?b=c body");
  EXPECT_EQ(http.open(), 0u);
}

TEST(PodHttp, speaks_tls_to_pods_whose_certificate_nobody_knows) {
  const net::testing::CertificateAuthority ca("of-the-pod");
  const net::testing::Identity identity = ca.issue({.common_name = "pod"});
  Loopback pod(answer,
               {.tls = net::TlsServerOptions{identity.certificate_pem, identity.key_pem, {}}});
  PodHttp http(pod.env(), nullptr);
  const PodPort port{.number = pod.port(), .tls = true};
  Result<net::Response> response =
      pod.world().run(http.send(running_pod(), port, {.target = "/secure"}));
  ASSERT_TRUE(response) << response.error().to_string();
  EXPECT_EQ(pod.read(*response).value_or(""), "GET /secure ");
}

TEST(PodHttp, pods_of_a_network_are_reached_in_it_alone) {
  Loopback pod(answer);
  testing::SimPodNetwork network;
  PodHttp http(pod.env(), &network);
  model::Pod of_the_machine = running_pod();
  of_the_machine.spec.host_network = true;
  EXPECT_TRUE(pod.world().run(http.send(of_the_machine, {.number = pod.port()}, {})));
  const Result<net::Response> response =
      pod.world().run(http.send(running_pod(), {.number = pod.port()}, {}));
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().message, "pod web has no address");
}

TEST(PodHttp, answers_an_upgrade_with_the_connection) {
  Loopback pod(answer);
  PodHttp http(pod.env(), nullptr);
  std::string said;
  const Result<void> talked = pod.world().run(talk(http, running_pod(), pod.port(), said));
  ASSERT_TRUE(talked) << talked.error().to_string();
  EXPECT_EQ(said, "echo hello");
  EXPECT_EQ(http.open(), 0u);
}

TEST(PodHttp, a_port_that_nobody_listens_on_is_unavailable) {
  Loopback pod(answer);
  PodHttp http(pod.env(), nullptr);
  pod.world().run(pod.server().drain(Duration::zero()));
  const Result<net::Response> response =
      pod.world().run(http.send(running_pod(), {.number = pod.port()}, {}));
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::unavailable) << response.error().to_string();
  EXPECT_EQ(http.open(), 0u);
}

TEST(PodHttp, a_pod_that_does_not_run_is_not_connected_to) {
  Loopback pod(answer);
  PodHttp http(pod.env(), nullptr);
  model::Pod ended = running_pod();
  ended.status.phase = "Succeeded";
  const Result<net::Response> response =
      pod.world().run(http.send(ended, {.number = pod.port()}, {}));
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().message, "pod web is not running");
}

}  // namespace
}  // namespace codeflare::node
