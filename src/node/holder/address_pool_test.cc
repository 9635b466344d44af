#include "node/holder/address_pool.h"

#include <gtest/gtest.h>

#include <string>

namespace codeflare::node {
namespace {

Ipv4 ip(std::string_view text) {
  return *Ipv4::parse(text);
}
Ipv4Block block(std::string_view text) {
  return *Ipv4Block::parse(text);
}

TEST(Ipv4, reads_four_octets_and_nothing_else) {
  EXPECT_EQ(ip("10.244.0.7").value, 0x0af40007u);
  EXPECT_EQ(ip("10.244.0.7").to_string(), "10.244.0.7");
  EXPECT_EQ(ip("10.244.0.7").to_dashed(), "10-244-0-7");
  for (const char* bad : {"", "1.2.3", "1.2.3.4.5", "1.2.3.256", "1.2.3.04", "1..2.3", "1.2.3.4 ",
                          "a.b.c.d", "1.2.3.-4"}) {
    EXPECT_FALSE(Ipv4::parse(bad)) << bad;
  }
}

TEST(Ipv4, blocks_begin_at_their_base) {
  EXPECT_EQ(block("10.244.0.0/16").size(), 65536u);
  EXPECT_TRUE(block("10.96.0.0/12").contains(ip("10.111.255.255")));
  EXPECT_FALSE(block("10.96.0.0/12").contains(ip("10.112.0.0")));
  EXPECT_TRUE(block("0.0.0.0/0").contains(ip("255.1.2.3")));
  EXPECT_EQ(block("1.2.3.4/32").size(), 1u);
  for (const char* bad : {"10.244.0.1/16", "10.0.0.0", "10.0.0.0/33", "10.0.0.0/", "/8"}) {
    EXPECT_FALSE(Ipv4Block::parse(bad)) << bad;
  }
}

TEST(AddressPool, gives_each_pod_one_address_of_its_part_and_never_the_gateway) {
  AddressPool pool(block("10.244.0.0/16"), ip("10.244.0.1"));
  EXPECT_EQ(*pool.take("a", block("10.244.0.0/24")), ip("10.244.0.2"));
  EXPECT_EQ(*pool.take("b", block("10.244.0.0/24")), ip("10.244.0.3"));
  EXPECT_EQ(*pool.take("a", block("10.244.0.0/24")), ip("10.244.0.2"));
  EXPECT_EQ(*pool.take("c", block("10.244.1.0/24")), ip("10.244.1.1"));
  EXPECT_EQ(pool.owner(ip("10.244.0.3")), "b");
}

TEST(AddressPool, gives_a_freed_address_again_only_after_all_others) {
  const Ipv4Block all = block("10.0.0.0/29");  // .2 to .6
  AddressPool pool(all, ip("10.0.0.1"));
  EXPECT_EQ(*pool.take("a", all), ip("10.0.0.2"));
  pool.release("a");
  for (const char* last : {"3", "4", "5", "6", "2"}) {
    EXPECT_EQ(pool.take(last, all)->to_string(), std::string("10.0.0.") + last);
  }
  const auto none = pool.take("x", all);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::resource_exhausted);
  pool.release("4");
  EXPECT_EQ(*pool.take("x", all), ip("10.0.0.4"));
}

TEST(AddressPool, goes_on_where_it_was_when_it_is_read_again) {
  const Ipv4Block all = block("10.0.0.0/24");
  AddressPool pool(all, ip("10.0.0.1"));
  EXPECT_TRUE(pool.put_back("a", ip("10.0.0.9")));
  EXPECT_FALSE(pool.put_back("b", ip("10.0.0.9")));
  EXPECT_FALSE(pool.put_back("b", ip("10.0.0.1")));
  EXPECT_FALSE(pool.put_back("b", ip("10.0.0.255")));
  EXPECT_FALSE(pool.put_back("b", ip("10.0.1.1")));
  pool.set_last(ip("10.0.0.8"));
  EXPECT_EQ(*pool.take("c", all), ip("10.0.0.10"));
  EXPECT_EQ(pool.of("a"), ip("10.0.0.9"));
  pool.set_last(ip("10.0.0.254"));
  EXPECT_EQ(*pool.take("d", all), ip("10.0.0.2"));
}

}  // namespace
}  // namespace codeflare::node
