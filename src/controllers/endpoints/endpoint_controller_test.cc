#include "controllers/endpoints/endpoint_controller.h"

#include "controllers/testing/embedded_cluster.h"
#include "model/codec/endpoint_slice.h"
#include "model/codec/pod.h"
#include "model/codec/service.h"
#include "runtime/testing/idempotence.h"

#include <gtest/gtest.h>

namespace codeflare::controllers::endpoints {
namespace {

struct World {
  testing::EmbeddedCluster cluster;
  EndpointReconciler& reconciler = add_endpoint_controller(cluster.manager);

  World() {
    cluster.start();
    add_service();
  }
  void add_service() {
    cluster.create<model::Service>(
        R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"web"},)"
        R"("spec":{"selector":{"app":"web"},"ports":[{"port":80,"targetPort":8080}]}})");
    cluster.settle();
  }
  void add_pod(const std::string& name, const std::string& app, const std::string& address) {
    cluster.create<model::Pod>(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
                               R"(","labels":{"app":")" + app +
                               R"("}},"spec":{"containers":[{"name":"c","image":"x"}]}})");
    cluster.patch<model::Pod>(name,
                              R"({"status":{"phase":"Running","podIP":")" + address +
                                  R"(","podIPs":[{"ip":")" + address +
                                  R"("}],"conditions":[{"type":"Ready","status":"True"}]}})",
                              "status");
    cluster.settle();
  }
  std::vector<model::EndpointSlice> slices() {
    return cluster.list<model::EndpointSlice>("default", "kubernetes.io/service-name=web");
  }
  std::vector<std::string> addresses() {
    std::vector<std::string> found;
    for (const model::EndpointSlice& slice : slices()) {
      for (const model::Endpoint& endpoint : slice.endpoints) {
        found.push_back(endpoint.addresses.at(0));
      }
    }
    return found;
  }
};

TEST(EndpointController, follows_the_pods_that_the_service_selects) {
  World w;
  ASSERT_EQ(w.slices().size(), 1u);
  EXPECT_TRUE(w.addresses().empty());
  w.add_pod("a", "web", "10.1.0.1");
  w.add_pod("b", "other", "10.1.0.2");
  w.add_pod("c", "web", "10.1.0.3");
  EXPECT_EQ(w.addresses(), (std::vector<std::string>{"10.1.0.1", "10.1.0.3"}));
  EXPECT_EQ(w.slices().size(), 1u);
  EXPECT_EQ(w.slices().at(0).ports.at(0).port, 8080);
  EXPECT_TRUE(runtime::testing::is_idempotent(w.cluster.env, w.reconciler, {"default", "web"}));

  w.cluster.patch<model::Pod>("b", R"({"metadata":{"labels":{"app":"web"}}})");
  w.cluster.remove<model::Pod>("a", {.grace_period_seconds = 0});
  w.cluster.settle();
  EXPECT_EQ(w.addresses(), (std::vector<std::string>{"10.1.0.2", "10.1.0.3"}));
}

TEST(EndpointController, a_service_finds_the_pods_that_were_there_before_as_they_are_now) {
  World w;
  w.cluster.remove<model::Service>("web");
  w.add_pod("a", "web", "10.1.0.1");
  w.add_pod("b", "web", "10.1.0.2");
  w.cluster.patch<model::Pod>("b", R"({"metadata":{"labels":{"app":"other"}}})");
  w.add_service();
  EXPECT_EQ(w.addresses(), std::vector<std::string>{"10.1.0.1"});
  w.cluster.patch<model::Pod>("a", R"({"metadata":{"labels":{"app":"other"}}})");
  w.cluster.patch<model::Pod>("b", R"({"metadata":{"labels":{"app":"web"}}})");
  w.cluster.settle();
  EXPECT_EQ(w.addresses(), std::vector<std::string>{"10.1.0.2"});
}

TEST(EndpointController, the_slices_go_with_the_service) {
  World w;
  w.cluster.remove<model::Service>("web");
  w.cluster.settle();
  EXPECT_TRUE(w.slices().empty());
}

TEST(EndpointController, a_service_without_a_selector_is_somebody_elses) {
  testing::EmbeddedCluster cluster;
  add_endpoint_controller(cluster.manager);
  cluster.start();
  cluster.create<model::Service>(R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"ext"},)"
                                 R"("spec":{"ports":[{"port":80}]}})");
  cluster.settle();
  EXPECT_TRUE(
      cluster.list<model::EndpointSlice>("default", "kubernetes.io/service-name=ext").empty());
}

}  // namespace
}  // namespace codeflare::controllers::endpoints
