#include "net/proxy.h"

#include "base/env/sim_env.h"
#include "net/connect_error.h"
#include "net/testing/certificates.h"
#include "net/testing/loopback.h"
#include "net/testing/raw_peer.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace codeflare::net {
namespace {

using testing::CertificateAuthority;
using testing::Identity;
using testing::Loopback;
using testing::RawPeer;
using testing::RawServer;

std::string proxy_of(std::initializer_list<std::pair<std::string, std::string>> variables,
                     std::string_view url) {
  SimEnv sim;
  for (const auto& [name, value] : variables) {
    sim.set_variable(name, value);
  }
  Result<std::optional<Url>> proxy = proxy_for(*parse_url(url), sim.env().variables);
  if (!proxy) {
    return proxy.error().to_string();
  }
  return *proxy ? (*proxy)->host_and_port() : "direct";
}

TEST(Proxy, is_chosen_by_scheme) {
  EXPECT_EQ(proxy_of({}, "https://a"), "direct");
  EXPECT_EQ(proxy_of({{"HTTPS_PROXY", "p:1"}}, "https://a"), "p:1");
  EXPECT_EQ(proxy_of({{"HTTPS_PROXY", "p:1"}}, "http://a"), "direct");
  EXPECT_EQ(proxy_of({{"http_proxy", "http://p"}}, "http://a"), "p:80");
  EXPECT_EQ(proxy_of({{"HTTPS_PROXY", "socks5://p"}}, "https://a"), "p:1080");
  EXPECT_EQ(proxy_of({{"HTTPS_PROXY", "socks5h://p:80"}}, "https://a"), "p:80");
  EXPECT_EQ(proxy_of({{"HTTPS_PROXY", "https://p"}}, "https://a"), "p:443");
  EXPECT_EQ(proxy_of({{"HTTPS_PROXY", "upper:1"}, {"https_proxy", "lower:1"}}, "https://a"),
            "upper:1");
}

TEST(Proxy, never_serves_localhost) {
  for (const char* url : {"https://localhost", "https://127.0.0.1:6443", "https://127.9.9.9",
                          "https://[::1]:6443", "https://[::ffff:127.0.0.1]"}) {
    EXPECT_EQ(proxy_of({{"HTTPS_PROXY", "p:1"}}, url), "direct") << url;
  }
  EXPECT_EQ(proxy_of({{"HTTPS_PROXY", "p:1"}}, "https://128.0.0.1"), "p:1");
}

TEST(Proxy, names_what_is_malformed_and_distrusts_cgi) {
  EXPECT_EQ(proxy_of({{"HTTPS_PROXY", "u:secret@p:x"}}, "https://a"),
            "invalid_argument: HTTPS_PROXY: URL has a malformed port");
  EXPECT_EQ(proxy_of({{"HTTP_PROXY", "p:1"}, {"REQUEST_METHOD", "GET"}}, "http://a"),
            "failed_precondition: HTTP_PROXY is not trusted in a CGI environment");
  EXPECT_EQ(proxy_of({{"HTTPS_PROXY", "p:1"}, {"no_proxy", "b, a"}}, "https://a"), "direct");
}

struct NoProxyCase {
  const char* list;
  const char* host;
  std::uint16_t port;
  bool matches;
};

TEST(NoProxy, follows_the_rules_of_go) {
  for (const NoProxyCase& each : std::vector<NoProxyCase>{
           {"", "a.com", 443, false},
           {"*", "a.com", 443, true},
           {"x,*", "10.0.0.1", 443, true},
           {"a.com", "a.com", 443, true},
           {"A.COM ", "a.com", 443, true},
           {"a.com", "b.a.com", 443, true},
           {"a.com", "ba.com", 443, false},
           {".a.com", "b.a.com", 443, true},
           {".a.com", "a.com", 443, false},
           {"*.a.com", "b.a.com", 443, true},
           {"*.a.com", "a.com", 443, false},
           {"a.com:443", "a.com", 443, true},
           {"a.com:443", "a.com", 6443, false},
           {"com", "a.com", 443, true},
           {"10.0.0.0/8", "10.1.2.3", 443, true},
           {"10.0.0.0/8", "11.1.2.3", 443, false},
           {"10.0.0.0/33", "10.1.2.3", 443, false},
           {"0.0.0.0/0", "10.1.2.3", 443, true},
           {"0.0.0.0/0", "fd00::1", 443, false},
           {"172.16.0.0/12", "172.31.255.255", 443, true},
           {"172.16.0.0/12", "172.32.0.0", 443, false},
           {"10.1.2.3", "10.1.2.3", 443, true},
           {"10.1.2.3:80", "10.1.2.3", 443, false},
           {"10.1.2.3:443", "10.1.2.3", 443, true},
           {"fd00::/8", "fd12::1", 443, true},
           {"fd00::/8", "fe80::1", 443, false},
           {"fd00::1", "fd00::1", 443, true},
           {"[fd00::1]:443", "fd00::1", 443, true},
           {"[fd00::1]:80", "fd00::1", 443, false},
           {"10.0.0.0/8", "a.com", 443, false},
           {",, ,:80,", "a.com", 80, false},
       }) {
    EXPECT_EQ(no_proxy_matches(each.list, each.host, each.port), each.matches)
        << each.list << " " << each.host;
  }
}

// Passes bytes one way until either side ends.
Task<void> pass_on(RawPeer& from, RawPeer& to) {
  for (;;) {
    Result<std::string> bytes = co_await from.receive();
    if (!bytes || bytes->empty() || !co_await to.send(*std::move(bytes))) {
      break;
    }
  }
  to.socket().shutdown_write();
}

Task<void> pass_both_ways(Env env, RawPeer& client, RawPeer& upstream) {
  const TaskContext& context = co_await current_context();
  TaskGroup group(env.loop, context.stop);
  group.spawn(pass_on(client, upstream));
  group.spawn(pass_on(upstream, client));
  co_await group.join();
}

// A proxy for one tunnel that remembers what it was asked.
Task<void> tunnel(Env env, RawServer& server, std::uint16_t target, std::string& asked) {
  Result<RawPeer> client = co_await server.accept();
  if (!client) {
    co_return;
  }
  asked = *co_await client->receive_until("\r\n\r\n");
  Result<RawPeer> upstream = co_await RawPeer::connect(env, target);
  EXPECT_TRUE(co_await client->send("HTTP/1.1 200 Connection established\r\n\r\n"));
  co_await pass_both_ways(env, *client, *upstream);
}

Task<Result<Response>> hello(Request request) {
  co_return make_response(200, "text/plain", Bytes::from("hello " + request.target));
}

using Tunnel = Task<void>(Env, RawServer&, std::uint16_t, std::string&);

// The request that the proxy got on the way to a TLS server. The server's name exists nowhere: only
// the proxy could know it.
std::string ask_through(Tunnel& tunnel_of, const std::string& scheme) {
  CertificateAuthority ca("ca");
  Identity identity = ca.issue({.common_name = "server", .dns_names = {"kubernetes.test"}});
  Loopback loopback(hello,
                    {.tls = TlsServerOptions{identity.certificate_pem, identity.key_pem, {}}});
  RawServer proxy = *RawServer::listen(loopback.env());
  std::string asked;
  TaskGroup group(loopback.env().loop);
  group.spawn(tunnel_of(loopback.env(), proxy, loopback.port(), asked));
  const std::string address = "127.0.0.1:" + std::to_string(proxy.port());
  ClientOptions options{.tls = {.ca_bundle_pem = ca.certificate_pem()},
                        .proxy = parse_proxy_url(scheme + "://me:pass%20word@" + address).value()};
  auto client =
      *HttpClient::create(loopback.env(), *parse_url("https://kubernetes.test:6443"), options);
  Result<Response> response = loopback.world().run(client->send({.target = "/x"}));
  EXPECT_TRUE(response) << response.error().to_string();
  if (response) {
    EXPECT_EQ(*loopback.read(*response), "hello /x");
  }
  client = nullptr;
  loopback.world().run(group.close());
  return asked;
}

TEST(Proxy, opens_a_tunnel_for_tls_and_verifies_the_real_server) {
  EXPECT_EQ(ask_through(tunnel, "http"),
            "CONNECT kubernetes.test:6443 HTTP/1.1\r\nHost: kubernetes.test:6443\r\n"
            "Proxy-Authorization: Basic bWU6cGFzcyB3b3Jk\r\n\r\n");
}

Task<void> answer_once(RawServer& server, std::string answer, std::string& asked) {
  Result<RawPeer> client = co_await server.accept();
  if (!client) {
    co_return;
  }
  asked = *co_await client->receive_until("\r\n\r\n");
  static_cast<void>(co_await client->send(std::move(answer)));
}

TEST(Proxy, forwards_plain_requests_in_absolute_form) {
  testing::RealWorld world;
  RawServer proxy = *RawServer::listen(world.env());
  std::string asked;
  TaskGroup group(world.env().loop);
  group.spawn(answer_once(proxy, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", asked));
  ClientOptions options{.proxy =
                            parse_proxy_url("127.0.0.1:" + std::to_string(proxy.port())).value()};
  options.user_agent = "";
  auto client = *HttpClient::create(world.env(), *parse_url("http://there.test:8080"), options);
  EXPECT_TRUE(world.run(client->send({.target = "/x?y"})));
  EXPECT_EQ(asked, "GET http://there.test:8080/x?y HTTP/1.1\r\nHost: there.test:8080\r\n\r\n");
  world.run(group.close());
}

TEST(Proxy, a_refusal_names_the_proxy_and_has_no_effect) {
  for (const char* answer :
       {"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", "rubbish\r\n\r\n", ""}) {
    testing::RealWorld world;
    RawServer proxy = *RawServer::listen(world.env());
    std::string asked;
    TaskGroup group(world.env().loop);
    group.spawn(answer_once(proxy, answer, asked));
    std::string address = "127.0.0.1:" + std::to_string(proxy.port());
    ClientOptions options{.proxy = parse_proxy_url("u:secret@" + address).value()};
    auto client = *HttpClient::create(world.env(), *parse_url("https://there.test"), options);
    Result<Response> response = world.run(client->send({.method = "POST"}));
    EXPECT_EQ(response.error().code, ErrorCode::unavailable);
    EXPECT_TRUE(response.error().message.starts_with("proxy " + address))
        << response.error().message;
    EXPECT_EQ(response.error().message.find("secret"), std::string::npos);
    world.run(group.close());
  }
}

// A SOCKS 5 proxy for one tunnel that wants a name and remembers what it was asked.
Task<void> socks_tunnel(Env env, RawServer& server, std::uint16_t target, std::string& asked) {
  Result<RawPeer> client = co_await server.accept();
  if (!client) {
    co_return;
  }
  asked = *co_await client->receive_until(std::string("\x05\x01\x02", 3));
  EXPECT_TRUE(co_await client->send(std::string("\x05\x02", 2)));
  asked += *co_await client->receive_until("word");
  EXPECT_TRUE(co_await client->send(std::string("\x01\x00", 2)));
  asked += *co_await client->receive_until(std::string("\x19\x2b", 2));
  Result<RawPeer> upstream = co_await RawPeer::connect(env, target);
  // The address that it connected from may be a name.
  EXPECT_TRUE(co_await client->send(std::string("\x05\x00\x00\x03\x02gw\x00\x01", 9)));
  co_await pass_both_ways(env, *client, *upstream);
}

TEST(Proxy, by_socks_opens_a_tunnel_and_looks_names_up_itself) {
  EXPECT_EQ(ask_through(socks_tunnel, "socks5"),
            std::string("\x05\x01\x02", 3) + "\x01\x02me\x09pass word" +
                std::string("\x05\x01\x00\x03\x0f", 5) + "kubernetes.test\x19\x2b");
}

Task<void> refuse_by_socks(RawServer& server, std::string answer) {
  Result<RawPeer> client = co_await server.accept();
  if (!client) {
    co_return;
  }
  static_cast<void>(co_await client->receive_until(std::string("\x05\x01\x00", 3)));
  static_cast<void>(co_await client->send(std::move(answer)));
  static_cast<void>(co_await client->receive_to_end());
}

TEST(Proxy, by_socks_says_why_it_does_not_go_on) {
  struct Case {
    std::string answer;
    std::string why;
  };
  for (const Case& each : std::vector<Case>{
           {"HTTP/1.1 400 Bad Request\r\n\r\n", "it does not speak SOCKS 5"},
           {std::string("\x05\xff", 2), "it wants a name and a password"},
           {std::string("\x05\x00\x05\x05\x00\x01", 6),
            "it rejected the connection to 192.0.2.7:443: the connection was refused"},
       }) {
    testing::RealWorld world;
    RawServer proxy = *RawServer::listen(world.env());
    TaskGroup group(world.env().loop);
    group.spawn(refuse_by_socks(proxy, each.answer));
    std::string address = "127.0.0.1:" + std::to_string(proxy.port());
    ClientOptions options{.proxy = parse_proxy_url("socks5://" + address).value()};
    auto client = *HttpClient::create(world.env(), *parse_url("https://192.0.2.7"), options);
    Result<Response> response = world.run(client->send({.method = "POST"}));
    EXPECT_EQ(response.error().code, ErrorCode::unavailable);
    EXPECT_EQ(response.error().message, "proxy " + address + ": " + each.why);
    client = nullptr;
    world.run(group.close());
  }
}

// Answers whatever comes first as a web server would, in plain text.
Task<void> refuse_as_http(RawServer& server) {
  Result<RawPeer> client = co_await server.accept();
  if (!client) {
    co_return;
  }
  static_cast<void>(co_await client->receive());
  static_cast<void>(co_await client->send("HTTP/1.1 400 Bad Request\r\n\r\n"));
  static_cast<void>(co_await client->receive_to_end());
}

Task<Result<Response>> echo(Request request) {
  std::string text = "echo " + request.target + " ";
  CO_TRY_ASSIGN(const std::string body, co_await read_all(std::move(request.body), 64u << 20));
  co_return make_response(200, "text/plain", Bytes::from(text + body));
}

TlsServerOptions shown_by(const Identity& identity) {
  return {identity.certificate_pem, identity.key_pem, {}};
}

// A server by TLS and, before it, a proxy that is spoken to by TLS too, each with an authority of
// its own.
class TlsProxyTest : public ::testing::Test {
 protected:
  ~TlsProxyTest() override {
    client_ = nullptr;
    loopback_.world().run(group_.close());
  }

  // The next connection to the proxy gets this: a tunnel, or a fixed answer.
  void serve_tunnel() { group_.spawn(tunnel_by_tls()); }
  void serve_answer(std::string answer) { group_.spawn(answer_by_tls(std::move(answer))); }

  std::string proxy_address() const { return "127.0.0.1:" + std::to_string(proxy_.port()); }
  std::string trust_both() const {
    return server_ca_.certificate_pem() + proxy_ca_.certificate_pem();
  }

  Result<std::string> ask(const std::string& url, TlsClientOptions tls, std::string body = "") {
    ClientOptions options{
        .tls = std::move(tls),
        .proxy = parse_proxy_url("https://me:pass%20word@" + proxy_address()).value()};
    options.user_agent = "";
    client_ = *HttpClient::create(loopback_.env(), *parse_url(url), options);
    Request request{.method = "POST", .target = "/x"};
    request.body_size = body.size();
    request.body = body_of(std::move(body));
    return loopback_.world().run(answer_of(std::move(request)));
  }

  Task<Result<std::string>> answer_of(Request request) {
    CO_TRY_ASSIGN(Response response, co_await client_->send(std::move(request)));
    co_return co_await read_all(std::move(response.body), 64u << 20);
  }

  // The next client of the proxy, once it has said what it wants.
  Task<Result<RawPeer>> asked_by_tls() {
    CO_TRY_ASSIGN(RawPeer plain, co_await proxy_.accept());
    CO_TRY_ASSIGN(RawPeer client,
                  co_await RawPeer::secured(std::move(plain), shown_by(proxy_identity_)));
    CO_TRY_ASSIGN(asked_, co_await client.receive_until("\r\n\r\n"));
    co_return client;
  }

  Task<void> tunnel_by_tls() {
    Result<RawPeer> client = co_await asked_by_tls();
    if (!client) {
      co_return;
    }
    Result<RawPeer> upstream = co_await RawPeer::connect(loopback_.env(), loopback_.port());
    EXPECT_TRUE(co_await client->send("HTTP/1.1 200 Connection established\r\n\r\n"));
    co_await pass_both_ways(loopback_.env(), *client, *upstream);
  }

  Task<void> answer_by_tls(std::string answer) {
    Result<RawPeer> client = co_await asked_by_tls();
    if (!client) {
      co_return;
    }
    static_cast<void>(co_await client->send(std::move(answer)));
    static_cast<void>(co_await client->receive_to_end());
  }

  CertificateAuthority server_ca_{"server-ca"};
  CertificateAuthority proxy_ca_{"proxy-ca"};
  Identity server_identity_ =
      server_ca_.issue({.common_name = "server", .dns_names = {"kubernetes.test"}});
  Identity proxy_identity_ = proxy_ca_.issue({.common_name = "proxy", .addresses = {"127.0.0.1"}});
  Loopback loopback_{echo, {.tls = shown_by(server_identity_)}};
  RawServer proxy_ = *RawServer::listen(loopback_.env());
  std::string asked_;
  std::unique_ptr<HttpClient> client_;
  TaskGroup group_{loopback_.env().loop};
};

constexpr const char* kServer = "https://kubernetes.test:6443";

TEST_F(TlsProxyTest, opens_a_tunnel_and_verifies_both) {
  serve_tunnel();
  EXPECT_EQ(ask(kServer, {.ca_bundle_pem = trust_both()}).value(), "echo /x ");
  EXPECT_EQ(asked_,
            "CONNECT kubernetes.test:6443 HTTP/1.1\r\nHost: kubernetes.test:6443\r\n"
            "Proxy-Authorization: Basic bWU6cGFzcyB3b3Jk\r\n\r\n");
}

TEST_F(TlsProxyTest, large_bodies_pass_both_ways) {
  serve_tunnel();
  std::string large;
  while (large.size() < (3u << 20)) {
    large += std::to_string(large.size()) + ",";
  }
  const Result<std::string> back = ask(kServer, {.ca_bundle_pem = trust_both()}, large);
  ASSERT_TRUE(back) << back.error().to_string();
  EXPECT_TRUE(*back == "echo /x " + large);
  EXPECT_EQ(client_->counts().connects, 1u);
  EXPECT_EQ(client_->counts().idle, 1u);
}

TEST_F(TlsProxyTest, a_connection_through_it_is_kept_for_later_requests) {
  serve_tunnel();
  EXPECT_TRUE(ask(kServer, {.ca_bundle_pem = trust_both()}));
  EXPECT_EQ(loopback_.world().run(answer_of({.target = "/again"})).value(), "echo /again ");
  EXPECT_EQ(client_->counts().connects, 1u);
}

TEST_F(TlsProxyTest, plain_requests_are_forwarded_through_it) {
  serve_answer("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  EXPECT_EQ(ask("http://there.test:8080", {.ca_bundle_pem = trust_both()}).value(), "ok");
  EXPECT_TRUE(asked_.starts_with("POST http://there.test:8080/x HTTP/1.1\r\n")) << asked_;
  EXPECT_TRUE(asked_.contains("Proxy-Authorization: Basic bWU6cGFzcyB3b3Jk\r\n")) << asked_;
}

TEST_F(TlsProxyTest, an_error_says_which_of_the_two_is_not_trusted) {
  serve_tunnel();
  const Error of_proxy = ask(kServer, {.ca_bundle_pem = server_ca_.certificate_pem()}).error();
  EXPECT_EQ(of_proxy.code, ErrorCode::failed_precondition);
  EXPECT_TRUE(of_proxy.message.starts_with("TLS with the proxy " + proxy_address() + ": "))
      << of_proxy.message;
  EXPECT_EQ(connect_step(of_proxy), ConnectStep::proxy);

  serve_tunnel();
  const Error of_server = ask(kServer, {.ca_bundle_pem = proxy_ca_.certificate_pem()}).error();
  EXPECT_EQ(of_server.code, ErrorCode::failed_precondition);
  EXPECT_TRUE(of_server.message.starts_with("TLS with kubernetes.test:6443: "))
      << of_server.message;
  EXPECT_EQ(connect_step(of_server), ConnectStep::trust);
}

TEST_F(TlsProxyTest, the_name_to_verify_and_our_certificate_are_for_the_server_alone) {
  const Identity jane = server_ca_.issue({.common_name = "jane"});
  serve_tunnel();
  const Error error = ask(kServer, {.ca_bundle_pem = trust_both(),
                                    .certificate_pem = jane.certificate_pem,
                                    .key_pem = jane.key_pem,
                                    .server_name = "another.test"})
                          .error();
  EXPECT_TRUE(error.message.starts_with("TLS with kubernetes.test:6443: ")) << error.message;
  EXPECT_EQ(connect_step(error), ConnectStep::name);
}

TEST_F(TlsProxyTest, who_verifies_nothing_does_not_verify_the_proxy_either) {
  serve_tunnel();
  EXPECT_EQ(ask(kServer, {.insecure = true}).value(), "echo /x ");
}

TEST_F(TlsProxyTest, the_systems_roots_count_beside_the_bundle_of_the_server) {
  const std::string file = ::testing::TempDir() + "tls_proxy_test_" + proxy_address();
  ASSERT_TRUE(loopback_.env().files.write(file, proxy_ca_.certificate_pem()));
  // lint: allow(environment) OpenSSL reads it itself: that is what is tested
  ASSERT_EQ(setenv("SSL_CERT_FILE", file.c_str(), 1), 0);
  serve_tunnel();
  const Result<std::string> answer = ask(kServer, {.ca_bundle_pem = server_ca_.certificate_pem()});
  // lint: allow(environment) as above
  unsetenv("SSL_CERT_FILE");
  EXPECT_TRUE(loopback_.env().files.remove(file));
  EXPECT_EQ(answer.value(), "echo /x ");
}

TEST_F(TlsProxyTest, a_refusal_names_the_proxy) {
  serve_answer("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
  const Error error = ask(kServer, {.ca_bundle_pem = trust_both()}).error();
  EXPECT_EQ(error.to_string(),
            "unavailable: proxy " + proxy_address() +
                ": it rejected the connection to kubernetes.test:6443: status 407");
}

TEST_F(TlsProxyTest, a_server_behind_it_that_speaks_no_tls_is_told_from_it) {
  serve_answer("HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 400 Bad Request\r\n\r\n");
  const Error error = ask(kServer, {.ca_bundle_pem = trust_both()}).error();
  EXPECT_EQ(error.to_string(),
            "failed_precondition: TLS with kubernetes.test:6443: the server does not speak TLS");
  EXPECT_EQ(connect_step(error), ConnectStep::protocol);
}

TEST(Proxy, that_speaks_no_tls_is_not_taken_for_one_that_does) {
  testing::RealWorld world;
  RawServer proxy = *RawServer::listen(world.env());
  TaskGroup group(world.env().loop);
  group.spawn(refuse_as_http(proxy));
  const std::string address = "127.0.0.1:" + std::to_string(proxy.port());
  ClientOptions options{.proxy = parse_proxy_url("https://" + address).value()};
  auto client = *HttpClient::create(world.env(), *parse_url("https://there.test"), options);
  const Error error = world.run(client->send({})).error();
  EXPECT_EQ(error.to_string(), "failed_precondition: TLS with the proxy " + address +
                                   ": the server does not speak TLS");
  EXPECT_EQ(connect_step(error), ConnectStep::proxy);
  client = nullptr;
  world.run(group.close());
}

}  // namespace
}  // namespace codeflare::net
