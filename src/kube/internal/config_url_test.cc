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
  EXPECT_EQ(normal("https://host:443/"), "https://host");
  EXPECT_EQ(normal("http://host:80"), "http://host");
  EXPECT_EQ(normal("https://host:6443/k8s/clusters/c-1//"), "https://host:6443/k8s/clusters/c-1");
  EXPECT_EQ(normal("https://[FD00::1]:6443"), "https://[fd00::1]:6443");
  EXPECT_EQ(normal("https://10.0.0.1"), "https://10.0.0.1");
  EXPECT_EQ(normal("host:6443"), "https://host:6443");
  EXPECT_EQ(normal("host", false), "http://host");
}

TEST(ServerUrl, has_its_parts) {
  ServerUrl url = parse_server_url("https://[::1]/a/", true).value();
  EXPECT_TRUE(url.tls);
  EXPECT_EQ(url.host, "::1");
  EXPECT_EQ(url.port, 443);
  EXPECT_EQ(url.prefix, "/a");
}

TEST(ServerUrl, refuses_the_rest) {
  for (std::string_view text : {"", "https://", "https:///x", "https://a b", "https://host:x",
                                "https://host:99999", "https://u@host", "https://host/?q",
                                "https://host/#f", "unix:///run/x", "https://ho%00st", "://"}) {
    EXPECT_EQ(normal(text), "error") << text;
  }
}

TEST(ProxyUrl, takes_the_schemes_of_client_go) {
  for (std::string_view text :
       {"http://proxy", "https://me:pw@proxy:1", "socks5://[::1]:1080", "http://proxy:3128/"}) {
    EXPECT_TRUE(check_proxy_url(text)) << text;
  }
  for (std::string_view text :
       {"proxy:3128", "ftp://proxy", "http://", "http://proxy:0", "http:"}) {
    EXPECT_FALSE(check_proxy_url(text)) << text;
  }
}

}  // namespace
}  // namespace codeflare::kube::internal
