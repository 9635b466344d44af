#include "kube/internal/config_url.h"

#include <gtest/gtest.h>

namespace codeflare::kube::internal {
namespace {

std::string normal(std::string_view text, bool default_tls = true) {
  Result<ServerUrl> url = parse_server_url(text, default_tls);
  return url ? url->to_string() : "error";
}

TEST(ServerUrl, comes_out_in_one_form) {
  EXPECT_EQ(normal("https://Host.Example"), "https://host.example");
  EXPECT_EQ(normal("HTTPS://host:443/"), "https://host");
  EXPECT_EQ(normal("http://host:80"), "http://host");
  EXPECT_EQ(normal("https://host:6443/k8s/clusters/c-1//"), "https://host:6443/k8s/clusters/c-1");
  EXPECT_EQ(normal("https://[FD00::1]:6443"), "https://[fd00::1]:6443");
  EXPECT_EQ(normal("https://10.0.0.1"), "https://10.0.0.1");
  EXPECT_EQ(normal("host:6443"), "https://host:6443");
  EXPECT_EQ(normal("host", false), "http://host");
}

TEST(ServerUrl, has_its_parts) {
  ServerUrl url = parse_server_url("https://[::1]/a/", true).value();
  EXPECT_TRUE(url.endpoint.tls());
  EXPECT_EQ(url.endpoint.host, "::1");
  EXPECT_EQ(url.endpoint.port, 443);
  EXPECT_EQ(url.endpoint.target, "/");
  EXPECT_EQ(url.prefix, "/a");
}

TEST(ServerUrl, refuses_the_rest) {
  for (std::string_view text :
       {"", "https://", "https:///x", "https://a b", "https://host:x", "https://host:99999",
        "https://host:0", "https://u@host", "https://host/?q", "https://host/#f", "unix:///run/x",
        "https://ho%00st", "https://host/a b", "://"}) {
    EXPECT_EQ(normal(text), "error") << text;
  }
}

TEST(ProxyUrl, is_http_with_or_without_tls_or_socks_perhaps_with_a_password) {
  net::Url url = parse_config_proxy("http://me:p%40w@Proxy:1").value();
  EXPECT_EQ(url.host, "proxy");
  EXPECT_EQ(url.port, 1);
  EXPECT_EQ(url.password, "p@w");
  EXPECT_EQ(parse_config_proxy("socks5://proxy").value().port, 1080);
  EXPECT_TRUE(parse_config_proxy("https://proxy").value().tls());
  EXPECT_EQ(parse_config_proxy("https://proxy").value().port, 443);
  for (std::string_view text :
       {"proxy:3128", "ftp://proxy", "socks4://proxy", "https://", "http://", "http://p:0"}) {
    EXPECT_FALSE(parse_config_proxy(text)) << text;
  }
}

}  // namespace
}  // namespace codeflare::kube::internal
