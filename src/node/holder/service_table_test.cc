#include "node/holder/service_table.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace codeflare::node {
namespace {

Ipv4 ip(std::string_view text) {
  return *Ipv4::parse(text);
}

ServiceRecord web() {
  return {.ns = "default",
          .name = "web",
          .address = "10.96.3.4",
          .ports = {{.name = "http", .protocol = "TCP", .port = 80},
                    {.name = "dns", .protocol = "UDP", .port = 53},
                    {.name = "admin", .protocol = "TCP", .port = 81}},
          .endpoints = {{.address = "10.244.0.2", .ready = true, .ports = {8080, 5353, 0}},
                        {.address = "10.244.0.3", .ready = true, .ports = {8081, 0, 0}},
                        {.address = "10.244.0.4", .ready = false, .ports = {8082, 5353, 9000}}}};
}

constexpr SocketAddress at(std::uint32_t last, std::uint16_t port) {
  return {Ipv4{0x0af40000u + last}, port};
}
const ServiceAddress kHttp{.at = {Ipv4{0x0a600304u}, 80}, .udp = false};
const ServiceAddress kDns{.at = {Ipv4{0x0a600304u}, 53}, .udp = true};

TEST(ServiceTable, is_listened_at_where_a_ready_endpoint_is_behind) {
  ServiceTable table;
  table.set(web());
  EXPECT_EQ(table.addresses(), (std::set<ServiceAddress>{kHttp, kDns}));
  ServiceRecord none = web();
  none.endpoints.clear();
  table.set(none);
  EXPECT_TRUE(table.addresses().empty());
  ServiceRecord elsewhere = web();
  elsewhere.elsewhere = true;
  table.set(elsewhere);
  EXPECT_TRUE(table.addresses().empty());
}

TEST(ServiceTable, clients_come_to_ready_endpoints_in_turn) {
  ServiceTable table;
  table.set(web());
  const auto first = table.targets(kHttp, ip("10.244.0.9"), 0);
  EXPECT_EQ(first, (std::vector<SocketAddress>{at(2, 8080), at(3, 8081)}));
  EXPECT_EQ(table.targets(kHttp, ip("10.244.0.9"), 1).front(), at(3, 8081));
  EXPECT_EQ(table.targets(kHttp, ip("10.244.0.9"), 2).front(), at(2, 8080));
  EXPECT_EQ(table.targets(kDns, ip("10.244.0.9"), 7), (std::vector<SocketAddress>{at(2, 5353)}));
}

TEST(ServiceTable, a_client_of_a_sticky_service_stays_and_clients_differ) {
  ServiceTable table;
  ServiceRecord sticky = web();
  sticky.sticky = true;
  table.set(sticky);
  std::set<SocketAddress> seen;
  for (std::uint32_t client = 2; client < 40; ++client) {
    const Ipv4 address{0x0af40000u + client};
    const SocketAddress one = table.targets(kHttp, address, 0).front();
    EXPECT_EQ(table.targets(kHttp, address, 1).front(), one);
    seen.insert(one);
  }
  EXPECT_EQ(seen.size(), 2u);
}

TEST(ServiceTable, forgets_what_is_gone_and_not_what_took_its_address) {
  ServiceTable table;
  table.set(web());
  ServiceRecord heir = web();
  heir.name = "heir";
  table.set(heir);
  table.forget("default/web");
  EXPECT_EQ(table.find("default", "web"), nullptr);
  EXPECT_EQ(table.addresses().size(), 2u);
  EXPECT_TRUE(table.has_namespace("default"));
  table.keep({"other/heir"});
  EXPECT_TRUE(table.addresses().empty());
  EXPECT_TRUE(table.all().empty());
  EXPECT_FALSE(table.has_namespace("default"));
  EXPECT_TRUE(table.targets(kHttp, ip("10.244.0.9"), 0).empty());
}

}  // namespace
}  // namespace codeflare::node
