#include "controllers/endpoints/endpoint_decision.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace codeflare::controllers::endpoints {
namespace {

EndpointPod pod(const std::string& name, const std::string& address) {
  return {.name = name,
          .uid = name,
          .labels = {},
          .address = address,
          .node = "n",
          .hostname = {},
          .subdomain = {},
          .ports = {},
          .ready = true};
}

model::Service service() {
  model::Service service;
  service.metadata.name = "web";
  service.metadata.ns = "default";
  service.spec.selector = {{"app", "web"}};
  service.spec.ports.push_back({.name = "http", .protocol = "TCP", .port = 80});
  return service;
}

TEST(EndpointDecision, an_endpoint_is_ready_when_its_pod_is_and_stays) {
  ObservedService observed{.service = service(), .pods = {}, .slices = {}};
  EndpointPod unready = pod("b", "10.0.0.2");
  unready.ready = false;
  EndpointPod going = pod("c", "10.0.0.3");
  going.deleting = true;
  EndpointPod over = pod("d", "10.0.0.4");
  over.over = true;
  observed.pods = {pod("a", "10.0.0.1"), unready, going, over, pod("e", "")};
  DesiredSlices desired = decide(observed);
  ASSERT_EQ(desired.create.size(), 1u);
  const auto& endpoints = desired.create[0].endpoints;
  ASSERT_EQ(endpoints.size(), 3u);
  EXPECT_EQ(endpoints[0].conditions.ready, true);
  EXPECT_EQ(endpoints[1].conditions.ready, false);
  EXPECT_EQ(endpoints[2].conditions.ready, false);
  EXPECT_EQ(endpoints[2].conditions.serving, true);
  EXPECT_EQ(endpoints[2].conditions.terminating, true);
  EXPECT_EQ(endpoints[0].target_ref->name, "a");
  EXPECT_EQ(desired.create[0].ports.at(0).port, 80);

  observed.service.spec.publish_not_ready_addresses = true;
  desired = decide(observed);
  EXPECT_EQ(desired.create.at(0).endpoints[1].conditions.ready, true);
}

TEST(EndpointDecision, named_ports_are_looked_up_on_each_pod) {
  ObservedService observed{.service = service(), .pods = {}, .slices = {}};
  observed.service.spec.ports[0].target_port = model::IntOrString::of(std::string("http"));
  EndpointPod a = pod("a", "10.0.0.1");
  a.ports.push_back({.name = "http", .protocol = "TCP", .number = 8080});
  EndpointPod b = pod("b", "10.0.0.2");
  b.ports.push_back({.name = "http", .protocol = "TCP", .number = 9090});
  EndpointPod c = pod("c", "10.0.0.3");  // has no such port
  observed.pods = {a, b, c};
  const DesiredSlices desired = decide(observed);
  ASSERT_EQ(desired.create.size(), 3u);
  std::set<std::int32_t> ports;
  for (const model::EndpointSlice& slice : desired.create) {
    ports.insert(slice.ports.empty() ? 0 : slice.ports[0].port.value_or(-1));
  }
  EXPECT_EQ(ports, (std::set<std::int32_t>{0, 8080, 9090}));
}

TEST(EndpointDecision, slices_hold_a_hundred_and_are_reused) {
  ObservedService observed{.service = service(), .pods = {}, .slices = {}};
  for (int i = 0; i < 250; ++i) {
    observed.pods.push_back(pod("p" + std::to_string(1000 + i), "10.0.1." + std::to_string(i)));
  }
  DesiredSlices first = decide(observed);
  ASSERT_EQ(first.create.size(), 3u);
  EXPECT_EQ(first.create[0].endpoints.size(), 100u);
  EXPECT_EQ(first.create[2].endpoints.size(), 50u);
  observed.slices = first.create;
  for (std::size_t i = 0; i < observed.slices.size(); ++i) {
    observed.slices[i].metadata.name = "s" + std::to_string(i);
  }
  const DesiredSlices again = decide(observed);
  EXPECT_TRUE(again.create.empty() && again.update.empty() && again.remove.empty());
  observed.pods.back().ready = false;
  const DesiredSlices changed = decide(observed);
  ASSERT_EQ(changed.update.size(), 1u);
  EXPECT_EQ(changed.update[0].metadata.name, "s2");
  observed.pods.resize(10);
  const DesiredSlices fewer = decide(observed);
  EXPECT_EQ(fewer.update.size(), 1u);
  EXPECT_EQ(fewer.remove.size(), 2u);
}

TEST(EndpointDecision, pods_of_a_headless_service_keep_their_hostnames) {
  ObservedService observed{.service = service(), .pods = {}, .slices = {}};
  observed.service.spec.cluster_ip = "None";
  EndpointPod member = pod("web-0", "10.0.0.1");
  member.hostname = "web-0";
  member.subdomain = "web";
  EndpointPod stranger = member;
  stranger.name = "other-0";
  stranger.subdomain = "other";
  observed.pods = {member, stranger};
  const DesiredSlices desired = decide(observed);
  ASSERT_EQ(desired.create.size(), 1u);
  EXPECT_EQ(desired.create[0].endpoints[0].hostname, "web-0");
  EXPECT_FALSE(desired.create[0].endpoints[1].hostname);
  EXPECT_TRUE(desired.create[0].metadata.labels.contains("service.kubernetes.io/headless"));
}

}  // namespace
}  // namespace codeflare::controllers::endpoints
