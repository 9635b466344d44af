#include "net/proxy.h"

#include "base/env/sim_env.h"
#include "net/testing/certificates.h"
#include "net/testing/loopback.h"
#include "net/testing/raw_peer.h"

#include <gtest/gtest.h>

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

// What the proxy was asked on the way of a request to a server by TLS. The server's name exists
// nowhere: only the proxy could know it.
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
            "it refused to connect to 192.0.2.7:443: the connection was refused"},
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

TEST(Proxy, of_another_kind_is_refused_clearly) {
  testing::RealWorld world;
  ClientOptions options{.proxy = parse_proxy_url("https://p:1").value()};
  auto client = HttpClient::create(world.env(), *parse_url("https://a"), options);
  EXPECT_EQ(client.error().message, "proxy p:1: only http:// and socks5:// proxies are supported");
}

}  // namespace
}  // namespace codeflare::net
