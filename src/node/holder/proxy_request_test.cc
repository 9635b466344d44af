#include "node/holder/proxy_request.h"

#include <gtest/gtest.h>

#include <string>

namespace codeflare::node {
namespace {

TEST(ProxyRequest, a_tunnel_names_host_and_port) {
  const std::string text = "CONNECT PyPI.org:443 HTTP/1.1\r\nHost: pypi.org:443\r\n\r\nrest";
  const auto request = parse_proxy_request(text);
  ASSERT_TRUE(request && *request);
  EXPECT_TRUE((*request)->tunnel);
  EXPECT_EQ((*request)->host, "pypi.org");
  EXPECT_EQ((*request)->port, 443);
  EXPECT_EQ(text.substr((*request)->used), "rest");
  EXPECT_EQ((*parse_proxy_request("CONNECT [fd00::1]:80 HTTP/1.1\r\n\r\n"))->host, "fd00::1");
}

TEST(ProxyRequest, a_plain_request_reaches_the_server_as_its_own_and_as_the_only_one) {
  const auto request = parse_proxy_request(
      "GET http://example.org:8080/a?b HTTP/1.1\r\nHost: example.org:8080\r\n"
      "Proxy-Connection: keep-alive\r\nConnection: keep-alive\r\nAccept: */*\r\n\r\n");
  ASSERT_TRUE(request && *request);
  EXPECT_EQ((*request)->host, "example.org");
  EXPECT_EQ((*request)->port, 8080);
  EXPECT_EQ((*request)->head,
            "GET /a?b HTTP/1.1\r\nHost: example.org:8080\r\nAccept: */*\r\n"
            "Connection: close\r\n\r\n");
  EXPECT_EQ((*parse_proxy_request("GET http://a HTTP/1.0\r\n\r\n"))->head,
            "GET / HTTP/1.0\r\nConnection: close\r\n\r\n");
  EXPECT_EQ((*parse_proxy_request("GET http://a HTTP/1.0\r\n\r\n"))->port, 80);
}

TEST(ProxyRequest, waits_for_the_whole_head_but_not_for_ever) {
  const auto some = parse_proxy_request("GET http://a/ HTTP/1.1\r\nHost: a\r\n");
  ASSERT_TRUE(some);
  EXPECT_FALSE(*some);
  EXPECT_FALSE(parse_proxy_request(std::string(kProxyHeadBytesMax + 1, 'x')));
}

TEST(ProxyRequest, refuses_what_is_no_request_to_a_proxy) {
  for (const char* bad : {"GET / HTTP/1.1\r\n\r\n", "CONNECT example.org HTTP/1.1\r\n\r\n",
                          "CONNECT :443 HTTP/1.1\r\n\r\n", "CONNECT a:0 HTTP/1.1\r\n\r\n",
                          "CONNECT a:65536 HTTP/1.1\r\n\r\n", "CONNECT a b:1 HTTP/1.1\r\n\r\n",
                          "GET https://a/ HTTP/1.1\r\n\r\n", "hello\r\n\r\n", "\r\n\r\n",
                          "GET http://u@a/ HTTP/1.1\r\n\r\n", "GET http://a/ SPDY\r\n\r\n"}) {
    EXPECT_FALSE(parse_proxy_request(bad)) << bad;
  }
}

}  // namespace
}  // namespace codeflare::node
