#include "controllers/view/front_proxy.h"

#include "controllers/testing/embedded_cluster.h"
#include "controllers/view/register_view.h"
#include "model/codec/core.h"
#include "model/config_map.h"
#include "net/testing/scripted_service.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::controllers::view {
namespace {

using controllers::testing::EmbeddedCluster;

constexpr std::string_view kExplain =
    "/apis/view.codeflare.dev/v1alpha1/namespaces/default/appwrappers/train/explain";

const model::ResourceType kRoles{"rbac.authorization.k8s.io", "v1", "Role", "roles", true};
const model::ResourceType kBindings{"rbac.authorization.k8s.io", "v1", "RoleBinding",
                                    "rolebindings", true};

struct World {
  World() {
    const auto make = [&](const model::ResourceType& type, std::string text) {
      const auto made =
          *run(cluster.env.loop, cluster.client.create(type, "default", std::move(text)));
      EXPECT_TRUE(made) << made.error().to_string();
    };
    // ann may ask for explanations in her namespace.
    make(kRoles, R"({"metadata":{"name":"explain"},"rules":[{"apiGroups":["view.codeflare.dev"],)"
                 R"("resources":["appwrappers/explain"],"verbs":["get"]}]})");
    make(kBindings, R"({"metadata":{"name":"ann"},"roleRef":{"apiGroup":)"
                    R"("rbac.authorization.k8s.io","kind":"Role","name":"explain"},"subjects":)"
                    R"([{"apiGroup":"rbac.authorization.k8s.io","kind":"Group","name":"team"}]})");
  }
  int ask(std::string target, std::string user, std::string common_name = "front-proxy",
          bool certificate = true) {
    net::Request request{.target = std::move(target)};
    request.headers.add("X-Remote-User", std::move(user));
    request.headers.add("X-Remote-Group", "team");
    request.headers.add("X-Remote-Group", "system:authenticated");
    net::Peer peer{.address = "10.0.0.1:1"};
    if (certificate) {
      peer.certificate = net::Peer::Certificate{.common_name = std::move(common_name)};
    }
    request.peer = std::make_shared<const net::Peer>(std::move(peer));
    auto response = *run(cluster.env.loop, front.send(std::move(request)));
    EXPECT_TRUE(response) << response.error().message;
    body = response->body == nullptr
               ? ""
               : run(cluster.env.loop, net::read_all(std::move(response->body), 1 << 20))
                     ->value_or("");
    return response->status;
  }

  EmbeddedCluster cluster;
  std::vector<std::string> seen;
  std::string body;
  net::testing::ScriptedService view{[this](net::Request request) -> Task<Result<net::Response>> {
    seen.push_back(request.target);
    co_return net::make_response(200, "application/json", Bytes::from("{}"));
  }};
  FrontProxy front{view,
                   cluster.client,
                   {.ca_pem = "ca",
                    .allowed_names = {"front-proxy"},
                    .user_headers = {"X-Remote-User"},
                    .group_headers = {"X-Remote-Group"},
                    .extra_prefixes = {"X-Remote-Extra-"}}};
};

TEST(FrontProxy, lets_users_through_who_have_the_right) {
  World world;
  EXPECT_EQ(world.ask(std::string(kExplain) + "?uid=1", "ann"), 200) << world.body;
  ASSERT_EQ(world.seen.size(), 1U);
  EXPECT_EQ(world.seen[0], std::string(kExplain) + "?uid=1");
  EXPECT_EQ(world.ask("/apis/view.codeflare.dev/v1alpha1/namespaces/default/appwrappers/train/log",
                      "ann"),
            403)
      << "another right";
  EXPECT_TRUE(world.body.contains("user ann cannot get appwrappers/log")) << world.body;
  EXPECT_EQ(world.ask("/apis/view.codeflare.dev/v1alpha1/namespaces/other/appwrappers/train/"
                      "explain",
                      "ann"),
            403)
      << "another namespace";
  EXPECT_EQ(world.seen.size(), 1U);
}

// The headers say who asks: nobody else may send them.
TEST(FrontProxy, believes_the_aggregating_server_alone) {
  World world;
  EXPECT_EQ(world.ask(std::string(kExplain), "ann", "front-proxy", false), 401);
  EXPECT_EQ(world.ask(std::string(kExplain), "ann", "somebody"), 401);
  EXPECT_EQ(world.ask(std::string(kExplain), ""), 401);
  EXPECT_TRUE(world.seen.empty());
}

TEST(FrontProxy, shows_subresources_alone_in_discovery) {
  World world;
  EXPECT_EQ(world.ask("/apis/view.codeflare.dev/v1alpha1", "system:kube-aggregator"), 200);
  EXPECT_TRUE(world.body.contains(R"("name":"appwrappers/explain")")) << world.body;
  EXPECT_FALSE(world.body.contains(R"("name":"appwrappers")")) << world.body;
  EXPECT_EQ(world.ask("/apis/apps/v1/namespaces/default/deployments", "ann"), 404);
}

TEST(FrontProxy, settings_come_from_the_cluster) {
  EmbeddedCluster cluster;
  EXPECT_FALSE(*run(cluster.env.loop, read_front_proxy(cluster.client)));
  cluster.create<model::ConfigMap>(
      R"({"metadata":{"name":"extension-apiserver-authentication"},"data":{)"
      R"("requestheader-client-ca-file":"PEM","requestheader-allowed-names":"[\"a\",\"b\"]",)"
      R"("requestheader-username-headers":"[\"X-Remote-User\"]",)"
      R"("requestheader-group-headers":"[\"X-Remote-Group\"]",)"
      R"("requestheader-extra-headers-prefix":"[\"X-Remote-Extra-\"]"}})",
      "kube-system");
  const auto settings = *run(cluster.env.loop, read_front_proxy(cluster.client));
  ASSERT_TRUE(settings) << settings.error().to_string();
  EXPECT_EQ(settings->ca_pem, "PEM");
  EXPECT_EQ(settings->allowed_names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(settings->user_headers, (std::vector<std::string>{"X-Remote-User"}));
}

// Helm 4 applies the chart's APIService too, and stops when a label of its own is another's.
TEST(RegisterView, applies_no_labels) {
  EmbeddedCluster cluster;
  std::string applied;
  net::testing::ScriptedService script(
      [&applied](net::Request request) -> Task<Result<net::Response>> {
        EXPECT_TRUE(request.target.contains("/apiservices/v1alpha1.view.codeflare.dev"));
        Task<Result<std::string>> reading = net::read_all(std::move(request.body), 1u << 20);
        CO_TRY_ASSIGN(applied, co_await std::move(reading));
        co_return net::make_response(200, "application/json", Bytes::from(applied));
      });
  kube::Client client(cluster.env, script);
  const auto done = *run(cluster.env.loop, register_view(client, {.service = {"ns", "web"}}));
  ASSERT_TRUE(done) << done.error().to_string();
  EXPECT_TRUE(applied.contains(R"("service":{"namespace":"ns","name":"web","port":443})"));
  EXPECT_FALSE(applied.contains("labels")) << applied;
}

}  // namespace
}  // namespace codeflare::controllers::view
