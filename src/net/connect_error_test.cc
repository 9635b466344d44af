#include "net/connect_error.h"

#include "net/pem_check.h"
#include "net/testing/certificates.h"
#include "net/testing/loopback.h"
#include "net/testing/raw_peer.h"

namespace codeflare::net {
namespace {

using testing::CertificateAuthority;
using testing::Identity;
using testing::Loopback;
using testing::RawServer;
using testing::RealWorld;

Task<Result<Response>> hello(Request) {
  co_return make_response(200, "text/plain", Bytes::from_static("hello"));
}

std::optional<ConnectStep> step_of(RealWorld& world, const Url& url, ClientOptions options) {
  auto client = HttpClient::create(world.env(), url, std::move(options));
  Result<Response> response = world.run((*client)->send({}));
  return response ? std::nullopt : connect_step(response.error());
}

TEST(ConnectError, says_whether_server_or_proxy_could_not_be_reached) {
  RealWorld world;
  std::uint16_t closed = RawServer::listen(world.env())->port();
  Url url{.scheme = "https", .host = "127.0.0.1", .port = closed};
  EXPECT_EQ(step_of(world, url, {}), ConnectStep::server);
  ClientOptions options;
  options.proxy = Url{.scheme = "http", .host = "127.0.0.1", .port = closed};
  EXPECT_EQ(step_of(world, url, options), ConnectStep::proxy);
}

TEST(ConnectError, says_what_is_wrong_with_a_certificate) {
  CertificateAuthority ca("test-ca");
  Identity server = ca.issue({.common_name = "server", .addresses = {"127.0.0.1"}});
  Identity old =
      ca.issue({.common_name = "old", .addresses = {"127.0.0.1"}, .valid_to_seconds = -60});
  ServerOptions options{.tls = TlsServerOptions{server.certificate_pem, server.key_pem, ""}};
  Loopback loopback(hello, options, {.tls = {.ca_bundle_pem = ca.certificate_pem()}});
  Url url{.scheme = "https", .host = "127.0.0.1", .port = loopback.port()};
  auto step = [&](TlsClientOptions tls) {
    return step_of(loopback.world(), url, {.tls = std::move(tls)});
  };
  EXPECT_EQ(step({.ca_bundle_pem = ca.certificate_pem()}), std::nullopt);
  EXPECT_EQ(step({.ca_bundle_pem = CertificateAuthority("other").certificate_pem()}),
            ConnectStep::trust);
  EXPECT_EQ(step({.ca_bundle_pem = ca.certificate_pem(), .server_name = "other.example"}),
            ConnectStep::name);
  EXPECT_TRUE(loopback.server().reload_tls({old.certificate_pem, old.key_pem, ""}));
  EXPECT_EQ(step({.ca_bundle_pem = ca.certificate_pem()}), ConnectStep::server);
}

TEST(ConnectError, says_when_the_server_does_not_speak_tls) {
  Loopback loopback(hello);
  Url url{.scheme = "https", .host = "127.0.0.1", .port = loopback.port()};
  EXPECT_EQ(step_of(loopback.world(), url, {}), ConnectStep::protocol);
}

TEST(PemCheck, what_is_inside_counts) {
  CertificateAuthority ca("test-ca");
  Identity one = ca.issue({.common_name = "one"});
  Identity two = ca.issue({.common_name = "two"});
  EXPECT_TRUE(check_certificates(one.certificate_pem));
  EXPECT_TRUE(check_private_key(one.key_pem));
  EXPECT_TRUE(key_belongs_to(one.key_pem, one.certificate_pem));
  EXPECT_FALSE(key_belongs_to(two.key_pem, one.certificate_pem));
  constexpr std::string_view kCertificate =
      "-----BEGIN CERTIFICATE-----\nc0VjUmVU\n-----END CERTIFICATE-----\n";
  constexpr std::string_view kKey =
      "-----BEGIN PRIVATE KEY-----\nc0VjUmVU\n-----END PRIVATE KEY-----\n";
  EXPECT_EQ(check_certificates(kCertificate).error().message, "its PEM block is not a certificate");
  EXPECT_EQ(check_private_key(kKey).error().message, "its PEM block is not a private key");
  EXPECT_FALSE(check_certificates(one.certificate_pem + std::string(kCertificate)))
      << "every certificate of a bundle";
}

}  // namespace
}  // namespace codeflare::net
