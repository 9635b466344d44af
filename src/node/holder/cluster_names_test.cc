#include "node/holder/cluster_names.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace codeflare::node {
namespace {

ServiceTable some_services() {
  ServiceTable table;
  table.set({.ns = "default",
             .name = "web",
             .address = "10.96.3.4",
             .ports = {{.name = "http", .protocol = "TCP", .port = 80}},
             .endpoints = {{.address = "10.244.0.9", .ready = true, .ports = {8080}}}});
  table.set({.ns = "ml",
             .name = "train",
             .headless = true,
             .ports = {{.name = "c10d", .protocol = "TCP", .port = 29500}},
             .endpoints = {
                 {.address = "10.244.0.2", .hostname = "train-0", .ready = true, .ports = {29500}},
                 {.address = "10.244.0.3", .ready = true, .ports = {29500}},
                 {.address = "10.244.0.4", .hostname = "train-2", .ports = {29500}}}});
  table.set({.ns = "default", .name = "out", .external_name = "example.org"});
  return table;
}

struct Asked {
  DnsCode code;
  std::vector<std::string> answers;
};

Asked ask(const ServiceTable& table, std::string name, DnsType type = DnsType::a,
          std::uint64_t turn = 0) {
  const DnsQuery query{.name = std::move(name), .type = static_cast<std::uint16_t>(type)};
  const DnsReply reply = resolve(
      table, [](Ipv4 address) { return address.to_string() == "10.244.0.2" ? "ml" : ""; }, query,
      turn);
  Asked asked{.code = reply.code, .answers = {}};
  for (const DnsRecord& record : reply.answers) {
    asked.answers.push_back(record.type == DnsType::a ? record.address.to_string()
                            : record.type == DnsType::srv
                                ? record.target + ":" + std::to_string(record.port)
                                : record.target);
  }
  return asked;
}

using Answers = std::vector<std::string>;

TEST(ClusterNames, a_service_has_its_cluster_address) {
  EXPECT_EQ(ask(some_services(), "web.default.svc.cluster.local").answers, Answers{"10.96.3.4"});
}

TEST(ClusterNames, a_headless_service_has_its_ready_endpoints_another_one_first_each_time) {
  ServiceTable table = some_services();
  EXPECT_EQ(ask(table, "train.ml.svc.cluster.local").answers,
            (Answers{"10.244.0.2", "10.244.0.3"}));
  EXPECT_EQ(ask(table, "train.ml.svc.cluster.local", DnsType::a, 1).answers,
            (Answers{"10.244.0.3", "10.244.0.2"}));
  ServiceRecord all = *table.find("ml", "train");
  all.not_ready_too = true;
  table.set(all);
  EXPECT_EQ(ask(table, "train.ml.svc.cluster.local").answers.size(), 3u);
}

TEST(ClusterNames, endpoints_have_their_hostname_or_else_their_dashed_address) {
  const ServiceTable table = some_services();
  EXPECT_EQ(ask(table, "train-0.train.ml.svc.cluster.local").answers, Answers{"10.244.0.2"});
  EXPECT_EQ(ask(table, "10-244-0-3.train.ml.svc.cluster.local").answers, Answers{"10.244.0.3"});
  EXPECT_EQ(ask(table, "train-2.train.ml.svc.cluster.local").code, DnsCode::no_such_name);
  EXPECT_EQ(ask(table, "10-244-0-9.web.default.svc.cluster.local").code, DnsCode::no_such_name);
}

TEST(ClusterNames, ports_are_found_by_name) {
  const ServiceTable table = some_services();
  EXPECT_EQ(ask(table, "_http._tcp.web.default.svc.cluster.local", DnsType::srv).answers,
            Answers{"web.default.svc.cluster.local:80"});
  EXPECT_EQ(ask(table, "_c10d._tcp.train.ml.svc.cluster.local", DnsType::srv).answers,
            (Answers{"train-0.train.ml.svc.cluster.local:29500",
                     "10-244-0-3.train.ml.svc.cluster.local:29500"}));
  EXPECT_EQ(ask(table, "_http._udp.web.default.svc.cluster.local", DnsType::srv).code,
            DnsCode::no_such_name);
}

TEST(ClusterNames, pods_have_a_name_in_their_own_namespace_alone) {
  const ServiceTable table = some_services();
  EXPECT_EQ(ask(table, "10-244-0-2.ml.pod.cluster.local").answers, Answers{"10.244.0.2"});
  EXPECT_EQ(ask(table, "10-244-0-2.default.pod.cluster.local").code, DnsCode::no_such_name);
  EXPECT_EQ(ask(table, "10-244-0-99.ml.pod.cluster.local").code, DnsCode::no_such_name);
}

TEST(ClusterNames, a_name_that_exists_without_such_a_record_is_not_denied) {
  const ServiceTable table = some_services();
  for (const char* name : {"web.default.svc.cluster.local", "default.svc.cluster.local",
                           "svc.cluster.local", "cluster.local"}) {
    const Asked asked = ask(table, name, DnsType::aaaa);
    EXPECT_EQ(asked.code, DnsCode::ok) << name;
    EXPECT_TRUE(asked.answers.empty()) << name;
  }
}

TEST(ClusterNames, other_names_do_not_exist) {
  const ServiceTable table = some_services();
  for (const char* name : {"example.org", "web", "web.default", "web.other.svc.cluster.local",
                           "xsvc.cluster.local", "other.svc.cluster.local"}) {
    EXPECT_EQ(ask(table, name).code, DnsCode::no_such_name) << name;
  }
}

TEST(ClusterNames, an_external_name_is_an_alias_and_addresses_have_names) {
  const ServiceTable table = some_services();
  EXPECT_EQ(ask(table, "out.default.svc.cluster.local").answers, Answers{"example.org"});
  EXPECT_EQ(ask(table, "4.3.96.10.in-addr.arpa", DnsType::ptr).answers,
            Answers{"web.default.svc.cluster.local"});
  EXPECT_EQ(ask(table, "2.0.244.10.in-addr.arpa", DnsType::ptr).answers,
            Answers{"train-0.train.ml.svc.cluster.local"});
  EXPECT_EQ(ask(table, "1.1.1.1.in-addr.arpa", DnsType::ptr).code, DnsCode::no_such_name);
}

std::string found(const ServiceTable& table, std::string host, std::string ns) {
  const auto address =
      find_host(table, [](Ipv4 at) { return at.to_string() == "10.244.0.2" ? "ml" : ""; },
                {.host = std::move(host), .ns = std::move(ns)});
  return address ? address->to_string() : "nowhere";
}

TEST(ClusterNames, hosts_are_found_by_any_length_of_their_name_from_where_they_are_named) {
  const ServiceTable table = some_services();
  for (const char* host : {"web", "web.default", "web.default.svc", "web.default.svc.cluster.local",
                           "web.default.svc.cluster.local."}) {
    EXPECT_EQ(found(table, host, "default"), "10.96.3.4") << host;
  }
  EXPECT_EQ(found(table, "web", "ml"), "nowhere");
  EXPECT_EQ(found(table, "web.default", "ml"), "10.96.3.4");
  EXPECT_EQ(found(table, "train-0.train", "ml"), "10.244.0.2");
  EXPECT_EQ(found(table, "10-244-0-2.ml.pod", "default"), "10.244.0.2");
}

TEST(ClusterNames, an_address_is_itself_and_hosts_of_the_world_outside_are_not_found) {
  const ServiceTable table = some_services();
  EXPECT_EQ(found(table, "10.96.3.4", "default"), "10.96.3.4");
  EXPECT_EQ(found(table, "192.0.2.1", "default"), "192.0.2.1");
  for (const char* host :
       {"example.org", "localhost", "web.", "web.default.", "default", "::1", "out", "."}) {
    EXPECT_EQ(found(table, host, "default"), "nowhere") << host;
  }
}

}  // namespace
}  // namespace codeflare::node
