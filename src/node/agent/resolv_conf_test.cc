#include "node/agent/resolv_conf.h"

#include "json/parse.h"
#include "model/codec/pod.h"

#include <gtest/gtest.h>

namespace codeflare::node {
namespace {

model::Pod pod(const std::string& spec) {
  const auto document = json::parse(
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"ml"},"spec":)" + spec +
      "}");
  return *model::from_json<model::Pod>(document->root);
}

TEST(ResolvConf, leads_to_the_names_of_the_pods_namespace) {
  EXPECT_EQ(resolv_conf(pod("{}"), "10.244.0.1", "machine"),
            "nameserver 10.244.0.1\n"
            "search ml.svc.cluster.local svc.cluster.local cluster.local\n"
            "options ndots:5\n");
}

TEST(ResolvConf, dns_config_adds_and_its_options_replace_ours) {
  EXPECT_EQ(resolv_conf(pod(R"({"dnsPolicy":"ClusterFirst","dnsConfig":{"searches":["x.y"],)"
                            R"("options":[{"name":"ndots","value":"1"},{"name":"edns0"}]}})"),
                        "10.244.0.1", "machine"),
            "nameserver 10.244.0.1\n"
            "search ml.svc.cluster.local svc.cluster.local cluster.local x.y\n"
            "options ndots:1 edns0\n");
  EXPECT_EQ(resolv_conf(pod(R"({"dnsPolicy":"None","dnsConfig":{"nameservers":["1.2.3.4"]}})"),
                        "10.244.0.1", "machine"),
            "nameserver 1.2.3.4\n");
}

TEST(ResolvConf, pods_on_the_machines_network_have_the_machines) {
  EXPECT_EQ(resolv_conf(pod(R"({"hostNetwork":true})"), "10.244.0.1", "machine"), "machine");
}

}  // namespace
}  // namespace codeflare::node
