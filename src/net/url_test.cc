#include "net/url.h"

#include <gtest/gtest.h>

namespace codeflare::net {
namespace {

TEST(Url, reads_scheme_host_port_and_target) {
  Result<Url> url = parse_url("HTTPS://Example.COM:6443/api/v1?limit=5");
  ASSERT_TRUE(url) << url.error().to_string();
  EXPECT_EQ(url->scheme, "https");
  EXPECT_EQ(url->host, "example.com");
  EXPECT_EQ(url->port, 6443);
  EXPECT_EQ(url->target, "/api/v1?limit=5");
  EXPECT_EQ(url->authority(), "example.com:6443");
  EXPECT_EQ(parse_url("http://a")->port, 80);
  EXPECT_EQ(parse_url("http://a")->target, "/");
  EXPECT_EQ(parse_url("https://a?x")->target, "/?x");
  EXPECT_EQ(parse_url("https://a")->authority(), "a");
  EXPECT_EQ(parse_url("https://a")->host_and_port(), "a:443");
}

TEST(Url, keeps_ipv6_addresses_without_brackets) {
  Result<Url> url = parse_url("https://[::1]:6443");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->host, "::1");
  EXPECT_EQ(url->authority(), "[::1]:6443");
  EXPECT_EQ(parse_url("https://[fe80::1]")->authority(), "[fe80::1]");
}

TEST(Url, decodes_user_information_and_never_quotes_it) {
  Result<Url> url = parse_url("http://me:p%40ss:w@d@proxy:3128");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->user, "me");
  EXPECT_EQ(url->password, "p@ss:w@d");
  EXPECT_EQ(url->host, "proxy");
  Result<Url> bad = parse_url("http://me:secret%zz@proxy:3128");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().message.find("secret"), std::string::npos);
}

TEST(Url, refuses_what_it_does_not_understand) {
  for (const char* text : {"",
                           "a",
                           "//a",
                           "ftp://a",
                           "http://",
                           "http://:80",
                           "http://a:",
                           "http://a:0",
                           "http://a:65536",
                           "http://a:8x",
                           "http://a b/",
                           "http://a/ b",
                           "http://a/%zz",
                           "http://a/%4",
                           "http://a/#f",
                           "http://[::1",
                           "http://[zz]",
                           "http://[::1]x",
                           "http://[]",
                           "http://a_b!/",
                           "http://a/\x80",
                           "http://u%@a"}) {
    EXPECT_FALSE(parse_url(text)) << text;
  }
}

TEST(Percent, encoding_and_decoding_are_inverse) {
  std::string all;
  for (int c = 0; c < 256; ++c) {
    all += static_cast<char>(c);
  }
  EXPECT_EQ(*percent_decode(percent_encode(all)), all);
  EXPECT_EQ(percent_encode("a/b c~"), "a%2Fb%20c~");
  EXPECT_EQ(*percent_decode("a+b%2f"), "a+b/");
  EXPECT_FALSE(percent_decode("%"));
  EXPECT_FALSE(percent_decode("%1"));
  EXPECT_FALSE(percent_decode("%1g"));
}

TEST(Query, keeps_order_and_repeated_names) {
  std::vector<QueryItem> items{{"b", "1"}, {"a", "x y&=z"}, {"b", ""}};
  EXPECT_EQ(build_query(items), "b=1&a=x%20y%26%3Dz&b=");
  EXPECT_EQ(*parse_query(build_query(items)), items);
  std::vector<QueryItem> plus{{"watch", ""}, {"sel", "a b"}};
  EXPECT_EQ(*parse_query("watch&&sel=a+b"), plus);
  EXPECT_FALSE(parse_query("a=%"));
}

TEST(Target, splits_at_the_first_question_mark) {
  EXPECT_EQ(split_target("/a?b?c").path, "/a");
  EXPECT_EQ(split_target("/a?b?c").query, "b?c");
  EXPECT_EQ(split_target("/a").query, "");
}

}  // namespace
}  // namespace codeflare::net
