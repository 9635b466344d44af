#include "node/agent/service_feed.h"

#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "base/env/sim_env.h"
#include "kube/testing/scripted_service.h"
#include "model/codec/endpoint_slice.h"
#include "model/codec/service.h"
#include "model/resources.h"
#include "node/testing/sim_pod_network.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace codeflare::node {
namespace {

const model::ResourceType kServices = model::resource_type<model::Service>();
const model::ResourceType kSlices = model::resource_type<model::EndpointSlice>();

// A feed between a scripted API server and a scripted network, in virtual time.
struct World {
  SimEnv sim;
  Env env = sim.env();
  kube::testing::ScriptedService server{env};
  kube::Client client{env, server};
  testing::SimPodNetwork network;
  runtime::Manager manager{env, client, {.name = "n"}};
  TaskGroup group{env.loop};

  void start(std::string node = {}) {
    add_service_feed(manager, network, std::move(node));
    group.spawn(go());
    settle();
  }
  ~World() { EXPECT_TRUE(run(env.loop, group.close())); }
  Task<void> go() { static_cast<void>(co_await manager.run()); }
  void settle() { EXPECT_TRUE(*run(env.loop, sleep_for(std::chrono::seconds(1)))); }

  void service(const std::string& ns, const std::string& name) {
    server.put(kServices, R"({"apiVersion":"v1","kind":"Service","metadata":{"name":")" + name +
                              R"(","namespace":")" + ns +
                              R"("},"spec":{"clusterIP":"10.96.0.7","ports":[{"port":80}]}})");
  }
  void slice(const std::string& name, const std::string& service_name, const std::string& address,
             const std::string& more = "") {
    server.put(
        kSlices,
        R"({"apiVersion":"discovery.k8s.io/v1","kind":"EndpointSlice","metadata":{"name":")" +
            name + R"(","namespace":"default","labels":{"kubernetes.io/service-name":")" +
            service_name + R"("}},"addressType":"IPv4","ports":[{"port":8080}],"endpoints":[)" +
            R"({"addresses":[")" + address + R"("])" + more + "}]}");
  }
};

TEST(ServiceFeed, tells_services_with_what_is_behind_them_and_every_change) {
  World w;
  w.service("default", "web");
  w.slice("web-1", "web", "10.244.0.2");
  w.slice("other-1", "other", "10.244.0.9");
  w.start();
  ASSERT_TRUE(w.network.services().contains("default/web"));
  ASSERT_EQ(w.network.services().at("default/web").endpoints.size(), 1u);
  EXPECT_EQ(w.network.services().at("default/web").endpoints[0].ports,
            std::vector<std::int32_t>{8080});
  w.slice("web-2", "web", "10.244.0.3");
  w.settle();
  EXPECT_EQ(w.network.services().at("default/web").endpoints.size(), 2u);
  w.server.erase(kServices, {"default", "web"});
  w.settle();
  EXPECT_TRUE(w.network.services().empty());
}

TEST(ServiceFeed, forgets_what_went_while_nobody_looked_and_leaves_the_api_server_to_others) {
  World w;
  EXPECT_TRUE(*run(w.env.loop, w.network.set_service({.ns = "default", .name = "old"})));
  w.service("default", "kubernetes");
  w.start();
  ASSERT_EQ(w.network.services().size(), 1u);
  EXPECT_TRUE(w.network.services().at("default/kubernetes").elsewhere);
}

TEST(ServiceFeed, among_other_nodes_it_tells_its_own_pods_alone) {
  World w;
  w.service("default", "web");
  w.slice("web-1", "web", "10.244.0.2", R"(,"nodeName":"mine")");
  w.slice("web-2", "web", "10.244.0.3", R"(,"nodeName":"other")");
  w.slice("web-3", "web", "10.244.0.4");
  w.start("mine");
  const auto& endpoints = w.network.services().at("default/web").endpoints;
  ASSERT_EQ(endpoints.size(), 1u);
  EXPECT_EQ(endpoints[0].address, "10.244.0.2");
}

}  // namespace
}  // namespace codeflare::node
