#include "net/tls.h"

#include "net/testing/certificates.h"
#include "net/testing/loopback.h"
#include "net/testing/raw_peer.h"

namespace codeflare::net {
namespace {

using testing::CertificateAuthority;
using testing::Identity;
using testing::Loopback;
using testing::RawPeer;
using testing::RawServer;
using testing::RealWorld;

// Says who called.
Task<Result<Response>> whoami(Request request) {
  std::string text = request.peer->foreign_certificate ? "foreign" : "anonymous";
  if (const auto& certificate = request.peer->certificate) {
    text = certificate->common_name;
    for (const std::string& organization : certificate->organizations) {
      text += "/" + organization;
    }
    EXPECT_EQ(certificate->sha256.size(), 64u);
  }
  co_return make_response(200, "text/plain", Bytes::from(text));
}

struct Authorities {
  CertificateAuthority ca{"test-ca"};
  Identity server = ca.issue({.common_name = "server",
                              .dns_names = {"kubernetes.default", "*.example.test"},
                              .addresses = {"127.0.0.1", "::1"}});

  ServerOptions server_options() const {
    return {.tls = TlsServerOptions{server.certificate_pem, server.key_pem, ca.certificate_pem()}};
  }
  ClientOptions client_options() const { return {.tls = {.ca_bundle_pem = ca.certificate_pem()}}; }
};

std::string ask(Loopback& loopback, HttpClient& client) {
  Result<Response> response = loopback.world().run(client.send({}));
  if (!response) {
    return response.error().to_string();
  }
  return loopback.read(*response).value_or("body lost");
}

TEST(Tls, a_handshake_that_does_not_come_makes_room_for_one_that_does) {
  Authorities made;
  ServerOptions options = made.server_options();
  options.connections_max = 1;
  Loopback loopback(whoami, options, made.client_options());
  const Result<RawPeer> silent =
      loopback.world().run(RawPeer::connect(loopback.env(), loopback.port()));
  ASSERT_TRUE(silent.has_value());
  // Before the time for handshakes is over.
  const Result<Response> response = loopback.world().run(
      with_timeout(std::chrono::seconds(8), "answer", loopback.client().send({})));
  EXPECT_TRUE(response.has_value());
}

TEST(Tls, carries_requests_and_large_bodies) {
  Authorities made;
  Loopback loopback(
      [](Request request) -> Task<Result<Response>> {
        CO_TRY_ASSIGN(std::string body, co_await read_all(std::move(request.body), 64u << 20));
        co_return make_response(200, "text/plain", Bytes::from(std::move(body)));
      },
      made.server_options(), made.client_options());
  for (std::size_t size : {1u, 1000u, 16384u, 16385u, 10u << 20, 5u, 832u, 833u, 40000u, 7u}) {
    Request request{.method = "POST", .body = body_of(std::string(size, 'x'))};
    Result<Response> response = loopback.send(std::move(request));
    ASSERT_TRUE(response) << response.error().to_string();
    EXPECT_EQ(*loopback.read(*response), std::string(size, 'x'));
  }
  EXPECT_EQ(loopback.client().counts().connects, 1u);
}

TEST(Tls, joins_many_small_pieces_and_finishes_under_back_pressure) {
  Authorities made;
  std::vector<std::string> pieces;
  std::string whole;
  for (int i = 0; i < 20000; ++i) {
    pieces.push_back("piece " + std::to_string(i) +
                     std::string(static_cast<std::size_t>(i % 700), '.'));
    whole += pieces.back();
  }
  Loopback loopback(
      [&](Request) -> Task<Result<Response>> {
        Response response;
        response.body = std::make_unique<testing::ListBody>(pieces);
        return [](Response r) -> Task<Result<Response>> {
          co_return std::move(r);
        }(std::move(response));
      },
      made.server_options(), made.client_options());
  Result<Response> response = loopback.send({});
  ASSERT_TRUE(response);
  EXPECT_EQ(*loopback.read(*response), whole);
}

// Pieces that come one by one, as the events of a watch do.
class Events final : public BodyStream {
 public:
  explicit Events(std::vector<std::string> pieces) : pieces_(std::move(pieces)) {}
  Task<Result<Bytes>> read() override {
    co_await yield();
    co_return at_ < pieces_.size() ? Bytes::from(pieces_[at_++]) : Bytes();
  }

 private:
  std::vector<std::string> pieces_;
  std::size_t at_ = 0;
};

TEST(Tls, pieces_that_come_one_by_one_arrive_in_order_whatever_their_size) {
  Authorities made;
  std::vector<std::string> pieces;
  std::string whole;
  for (std::size_t i = 0; i < 600; ++i) {
    // Small ones are made ready and sent later, large ones are written at once.
    const std::size_t size = i % 7 == 6 ? 40'000 : i % 5 == 4 ? 8192 : 100 * (i % 13);
    pieces.push_back("event " + std::to_string(i) + std::string(size, '.') + "\n");
    whole += pieces.back();
  }
  Loopback loopback(
      [&](Request) -> Task<Result<Response>> {
        Response response;
        response.body = std::make_unique<Events>(pieces);
        return [](Response r) -> Task<Result<Response>> {
          co_return std::move(r);
        }(std::move(response));
      },
      made.server_options(), made.client_options());
  std::vector<Result<Response>> streams;
  for (int i = 0; i < 3; ++i) {
    streams.push_back(loopback.send({}));
    ASSERT_TRUE(streams.back());
  }
  for (Result<Response>& stream : streams) {
    EXPECT_EQ(*loopback.read(*stream), whole);
  }
}

TEST(Tls, knows_the_client_by_its_certificate) {
  Authorities made;
  Identity admin =
      made.ca.issue({.common_name = "admin", .organizations = {"system:masters", "ops"}});
  ClientOptions options = made.client_options();
  options.tls.certificate_pem = admin.certificate_pem;
  options.tls.key_pem = admin.key_pem;
  Loopback loopback(whoami, made.server_options(), options);
  EXPECT_EQ(ask(loopback, loopback.client()), "admin/system:masters/ops");
  auto nobody = loopback.new_client(made.client_options(), "127.0.0.1", true);
  EXPECT_EQ(ask(loopback, *nobody), "anonymous");
}

TEST(Tls, lets_a_foreign_client_certificate_in_but_marks_it) {
  Authorities made;
  CertificateAuthority other("other-ca");
  Identity expired = made.ca.issue({.common_name = "late", .valid_to_seconds = -60});
  Identity stranger = other.issue({.common_name = "admin", .organizations = {"system:masters"}});
  Loopback loopback(whoami, made.server_options(), made.client_options());
  for (const Identity& identity : {expired, stranger}) {
    ClientOptions options = made.client_options();
    options.tls.certificate_pem = identity.certificate_pem;
    options.tls.key_pem = identity.key_pem;
    auto client = loopback.new_client(options, "127.0.0.1", true);
    EXPECT_EQ(ask(loopback, *client), "foreign");
  }
}

TEST(Tls, verifies_names_and_addresses_and_an_overriding_server_name) {
  Authorities made;
  Loopback loopback(whoami, made.server_options(), made.client_options());
  EXPECT_EQ(ask(loopback, loopback.client()), "anonymous") << "by its address";

  auto by_wrong_name = loopback.new_client(made.client_options(), "localhost", true);
  EXPECT_EQ(ask(loopback, *by_wrong_name),
            "failed_precondition: TLS with localhost:" + std::to_string(loopback.port()) +
                ": certificate CN=server is valid for kubernetes.default, *.example.test, "
                "127.0.0.1, ::1, not for localhost");

  for (const char* name : {"kubernetes.default", "a.example.test"}) {
    ClientOptions options = made.client_options();
    options.tls.server_name = name;
    EXPECT_EQ(ask(loopback, *loopback.new_client(options, "localhost", true)), "anonymous");
  }
  ClientOptions options = made.client_options();
  options.tls.server_name = "a.b.example.test";
  EXPECT_NE(ask(loopback, *loopback.new_client(options, "localhost", true)).find("not for a.b."),
            std::string::npos);
}

std::string ask_server_with(const Identity& server, const TlsClientOptions& client) {
  Loopback loopback(whoami, {.tls = TlsServerOptions{server.certificate_pem, server.key_pem, {}}},
                    {.tls = client});
  return ask(loopback, loopback.client());
}

TEST(Tls, says_what_is_wrong_with_the_servers_certificate) {
  Authorities made;
  CertificateAuthority other("other-ca");
  auto contains = [](const std::string& text, std::string_view part) {
    return text.starts_with("failed_precondition: ") && text.find(part) != std::string::npos;
  };
  std::string unknown = ask_server_with(made.server, {.ca_bundle_pem = other.certificate_pem()});
  EXPECT_TRUE(
      contains(unknown, "certificate CN=server is signed by an unknown authority (CN=test-ca)"))
      << unknown;
  Identity chain = made.server;
  chain.certificate_pem += made.ca.certificate_pem();
  std::string namesake = ask_server_with(chain, {.ca_bundle_pem = other.certificate_pem()});
  EXPECT_TRUE(
      contains(namesake, "the certificate is signed by an unknown authority (CN=test-ca, SHA-256 "))
      << namesake;
  std::string system = ask_server_with(made.server, {});
  EXPECT_TRUE(contains(system, "unknown authority")) << system;
  Identity expired =
      made.ca.issue({.common_name = "old", .addresses = {"127.0.0.1"}, .valid_to_seconds = -3000});
  std::string late = ask_server_with(expired, {.ca_bundle_pem = made.ca.certificate_pem()});
  EXPECT_TRUE(contains(late, "certificate CN=old expired at 20")) << late;
  Identity early =
      made.ca.issue({.common_name = "new", .addresses = {"127.0.0.1"}, .valid_from_seconds = 3000});
  std::string soon = ask_server_with(early, {.ca_bundle_pem = made.ca.certificate_pem()});
  EXPECT_TRUE(contains(soon, "certificate CN=new is not valid before 20")) << soon;
  Identity nameless = made.ca.issue({.common_name = "127.0.0.1"});
  std::string no_names = ask_server_with(nameless, {.ca_bundle_pem = made.ca.certificate_pem()});
  EXPECT_TRUE(contains(no_names, "is valid for no name or address, not for 127.0.0.1")) << no_names;
  EXPECT_EQ(ask_server_with(expired, {.insecure = true}), "anonymous");
}

TEST(Tls, follows_a_chain_and_trusts_what_the_bundle_holds) {
  CertificateAuthority root("root");
  auto intermediate = root.intermediate("intermediate");
  Identity server = intermediate->issue({.common_name = "leaf", .addresses = {"127.0.0.1"}});
  EXPECT_EQ(ask_server_with(server, {.ca_bundle_pem = root.certificate_pem()}), "anonymous");
  EXPECT_EQ(ask_server_with(server, {.ca_bundle_pem = intermediate->certificate_pem()}),
            "anonymous");
  CertificateAuthority other("other");
  EXPECT_EQ(
      ask_server_with(server, {.ca_bundle_pem = other.certificate_pem() + root.certificate_pem()}),
      "anonymous");
}

TEST(Tls, refuses_bad_credentials_before_any_connection) {
  RealWorld world;
  Authorities made;
  Url url{.scheme = "https", .host = "127.0.0.1", .port = 1};
  auto message = [&](TlsClientOptions tls) {
    auto client = HttpClient::create(world.env(), url, {.tls = std::move(tls)});
    return client ? "accepted" : client.error().message;
  };
  Identity other = made.ca.issue({.common_name = "other"});
  const Identity& server = made.server;
  EXPECT_EQ(message({.ca_bundle_pem = "rubbish"}), "CA bundle: no certificate in PEM form");
  EXPECT_EQ(message({.certificate_pem = server.certificate_pem}),
            "a client certificate needs its key, and a key its certificate");
  EXPECT_EQ(message({.certificate_pem = server.certificate_pem, .key_pem = other.key_pem}),
            "client key does not belong to the client certificate");
  std::string bad_key =
      message({.certificate_pem = server.certificate_pem, .key_pem = "my-secret-key"});
  EXPECT_TRUE(bad_key.starts_with("client key: no private key in PEM form")) << bad_key;
  EXPECT_EQ(bad_key.find("my-secret-key"), std::string::npos);
  std::string damaged = server.certificate_pem;
  damaged.replace(100, 10, "##########");
  EXPECT_TRUE(message({.ca_bundle_pem = damaged}).starts_with("CA bundle: ")) << damaged;
}

TEST(Tls, a_server_reports_bad_certificates_when_it_is_to_listen) {
  RealWorld world;
  testing::ScriptedService service(whoami);
  HttpServer server(world.env(), service, {.tls = TlsServerOptions{"x", "y", ""}});
  Result<std::uint16_t> port = server.listen("127.0.0.1", 0);
  EXPECT_EQ(port.error().message, "server certificate: no certificate in PEM form");
}

TEST(Tls, new_connections_use_reloaded_certificates) {
  Authorities made;
  CertificateAuthority next("next-ca");
  Identity renewed = next.issue({.common_name = "renewed", .addresses = {"127.0.0.1"}});
  Loopback loopback(whoami, made.server_options(), made.client_options());
  EXPECT_EQ(ask(loopback, loopback.client()), "anonymous");
  EXPECT_FALSE(loopback.server().reload_tls({"bad", "bad", ""})) << "the old ones stay";
  auto another = loopback.new_client(made.client_options(), "127.0.0.1", true);
  EXPECT_EQ(ask(loopback, *another), "anonymous");
  EXPECT_TRUE(loopback.server().reload_tls({renewed.certificate_pem, renewed.key_pem, ""}));
  EXPECT_EQ(ask(loopback, loopback.client()), "anonymous") << "an open connection goes on";
  auto fresh = loopback.new_client(made.client_options(), "127.0.0.1", true);
  EXPECT_NE(ask(loopback, *fresh).find("unknown authority"), std::string::npos);
  EXPECT_TRUE(fresh->reload_tls({.ca_bundle_pem = next.certificate_pem()}));
  EXPECT_EQ(ask(loopback, *fresh), "anonymous");
}

TEST(Tls, the_client_may_change_its_own_certificate) {
  Authorities made;
  Loopback loopback(whoami, made.server_options(), made.client_options());
  EXPECT_EQ(ask(loopback, loopback.client()), "anonymous");
  Identity me = made.ca.issue({.common_name = "me"});
  TlsClientOptions tls{.ca_bundle_pem = made.ca.certificate_pem(),
                       .certificate_pem = me.certificate_pem,
                       .key_pem = me.key_pem};
  EXPECT_TRUE(loopback.client().reload_tls(tls));
  EXPECT_EQ(ask(loopback, loopback.client()), "me");
}

Task<void> speak_plainly(RawServer& server) {
  Result<RawPeer> peer = co_await server.accept();
  static_cast<void>(co_await peer->send("HTTP/1.1 400 Bad Request\r\n\r\n"));
  static_cast<void>(co_await peer->receive_to_end());
}

TEST(Tls, notices_a_peer_that_does_not_speak_it) {
  RealWorld world;
  RawServer server = *RawServer::listen(world.env());
  TaskGroup group(world.env().loop);
  group.spawn(speak_plainly(server));
  Url url{.scheme = "https", .host = "127.0.0.1", .port = server.port()};
  auto client = *HttpClient::create(world.env(), url, {});
  Result<Response> response = world.run(client->send({}));
  EXPECT_NE(response.error().message.find("the server does not speak TLS"), std::string::npos)
      << response.error().to_string();
  world.run(group.close());
}

TEST(Tls, a_server_drops_clients_that_stall_or_send_rubbish_in_the_handshake) {
  Authorities made;
  ServerOptions options = made.server_options();
  options.header_timeout = std::chrono::milliseconds(50);
  Loopback loopback(whoami, options, made.client_options());
  for (std::string text : {"", "GET / HTTP/1.1\r\n\r\n", "\x16\x03\x01"}) {
    loopback.world().run([](Loopback& l, std::string t) -> Task<void> {
      Result<RawPeer> peer = co_await RawPeer::connect(l.env(), l.port());
      EXPECT_TRUE(co_await peer->send(std::move(t)));
      EXPECT_TRUE(co_await peer->receive_to_end());
      while (l.server().connections() > 0) {
        EXPECT_TRUE(co_await sleep_for(std::chrono::milliseconds(1)));
      }
    }(loopback, text));
  }
  EXPECT_EQ(ask(loopback, loopback.client()), "anonymous");
}

TEST(Tls, a_read_that_was_given_up_keeps_the_connection) {
  Authorities made;
  Loopback loopback(
      [](Request) -> Task<Result<Response>> {
        CO_TRY(co_await sleep_for(std::chrono::hours(1)));
        co_return Response{};
      },
      made.server_options(), made.client_options());
  Result<Response> response = loopback.world().run(
      with_timeout(std::chrono::milliseconds(200), "caller", loopback.client().send({})));
  EXPECT_EQ(response.error().code, ErrorCode::deadline_exceeded);
  loopback.world().run([](Loopback& l) -> Task<void> {
    while (l.server().connections() > 0) {
      EXPECT_TRUE(co_await sleep_for(std::chrono::milliseconds(1)));
    }
  }(loopback));
}

}  // namespace
}  // namespace codeflare::net
