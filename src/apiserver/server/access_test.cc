#include "apiserver/server/api_server.h"
#include "base/env/sim_env.h"
#include "base/log_capture.h"
#include "base/metrics.h"
#include "json/parse.h"
#include "net/http.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::apiserver {
namespace {

using Certificate = net::Peer::Certificate;

struct Reply {
  int status = 0;
  std::string body{};
};

// A whole server, asked as the transport would hand requests over.
class AccessTest : public testing::Test {
 protected:
  AccessTest() {
    EXPECT_TRUE(sim_.env().files.write("/tokens", "letmein,eve,9\n"));
    auto started = run(sim_.env().loop, ApiServer::start(sim_.env(),
                                                         {.data_directory = "/data",
                                                          .durability = Durability::memory,
                                                          .token_file = "/tokens"},
                                                         log_.logger(sim_.env().clock), metrics_));
    CHECK(started.has_value() && started->has_value());
    server_ = *std::move(*started);
  }
  ~AccessTest() override { EXPECT_TRUE(run(sim_.env().loop, server_->stop({}))); }

  Reply send(net::Request request) {
    return *run(sim_.env().loop, exchange(server_->service(), std::move(request)));
  }
  Reply as(const std::string& user, std::string method, std::string target, std::string body = "",
           std::string type = "application/json") {
    net::Request request{.method = std::move(method), .target = std::move(target)};
    if (!body.empty()) {
      request.headers.set("Content-Type", std::move(type));
      request.body_size = body.size();
      request.body = net::body_of(std::move(body));
    }
    std::vector<std::string> groups;
    if (user == "admin") {
      groups.emplace_back("system:masters");
    }
    request.peer =
        std::make_shared<net::Peer>(net::Peer{.certificate = Certificate{user, groups, ""}});
    return send(std::move(request));
  }
  void make(std::string target, std::string body) {
    Reply reply = as("admin", "POST", std::move(target), std::move(body));
    ASSERT_EQ(reply.status, 201) << reply.body;
  }
  void give_ann_config_maps() {
    make("/api/v1/namespaces", R"({"metadata":{"name":"team"}})");
    make("/apis/rbac.authorization.k8s.io/v1/namespaces/team/roles",
         R"({"metadata":{"name":"maps"},
             "rules":[{"verbs":["*"],"apiGroups":[""],"resources":["configmaps"]}]})");
    make("/apis/rbac.authorization.k8s.io/v1/namespaces/team/rolebindings",
         R"({"metadata":{"name":"ann"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io",
             "kind":"Role","name":"maps"},"subjects":[{"kind":"User","name":"ann",
             "apiGroup":"rbac.authorization.k8s.io"}]})");
  }

 private:
  static Task<Reply> exchange(net::HttpService& service, net::Request request) {
    Result<net::Response> response = co_await service.send(std::move(request));
    CHECK(response.has_value());
    Reply reply{.status = response->status};
    Result<std::string> text = co_await net::read_all(std::move(response->body), 16u << 20);
    reply.body = text ? *std::move(text) : text.error().to_string();
    co_return reply;
  }

  SimEnv sim_;
  MetricsRegistry metrics_;
  LogCapture log_;
  std::unique_ptr<ApiServer> server_;
};

constexpr std::string_view kUnauthorized =
    R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",)"
    R"("message":"Unauthorized","reason":"Unauthorized","code":401})"
    "\n";

TEST_F(AccessTest, a_role_for_config_maps_in_one_namespace_is_exactly_that) {
  give_ann_config_maps();
  const std::string merge = "application/merge-patch+json";
  const std::string maps = "/api/v1/namespaces/team/configmaps";
  EXPECT_EQ(as("ann", "POST", maps, R"({"metadata":{"name":"a"}})").status, 201);
  EXPECT_EQ(as("ann", "GET", maps).status, 200);
  EXPECT_EQ(as("ann", "GET", maps + "/a").status, 200);
  EXPECT_EQ(as("ann", "PUT", maps + "/a", R"({"metadata":{"name":"a"},"data":{"k":"v"}})").status,
            200);
  EXPECT_EQ(as("ann", "PATCH", maps + "/a", R"({"data":{"k":"w"}})", merge).status, 200);
  EXPECT_EQ(as("ann", "DELETE", maps + "/a").status, 200);
  EXPECT_EQ(as("ann", "DELETE", maps).status, 200);

  make("/api/v1/namespaces/default/configmaps", R"({"metadata":{"name":"a"}})");
  for (const std::string collection : {
           "/api/v1/configmaps",
           "/api/v1/namespaces/default/configmaps",
           "/api/v1/namespaces/team/secrets",
           "/api/v1/namespaces/team/pods",
           "/api/v1/namespaces",
           "/api/v1/nodes",
           "/apis/apps/v1/namespaces/team/deployments",
           "/apis/rbac.authorization.k8s.io/v1/namespaces/team/roles",
           "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
           "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
       }) {
    EXPECT_EQ(as("ann", "GET", collection).status, 403) << collection;
    EXPECT_EQ(as("ann", "GET", collection + "?watch=1").status, 403) << collection;
    EXPECT_EQ(as("ann", "POST", collection, "{}").status, 403) << collection;
    EXPECT_EQ(as("ann", "DELETE", collection).status, 403) << collection;
    for (const std::string suffix : {"/a", "/a/status"}) {
      const std::string object = collection + suffix;
      EXPECT_EQ(as("ann", "GET", object).status, 403) << object;
      EXPECT_EQ(as("ann", "PUT", object, "{}").status, 403) << object;
      EXPECT_EQ(as("ann", "PATCH", object, "{}", merge).status, 403) << object;
      EXPECT_EQ(as("ann", "DELETE", object).status, 403) << object;
    }
  }
  EXPECT_EQ(as("ann", "GET", "/metrics").status, 403);
  EXPECT_EQ(as("ann", "GET", "/api").status, 200) << "discovery is for everybody who is known";
  EXPECT_EQ(as("bob", "GET", maps).status, 403);
}

TEST_F(AccessTest, refusals_read_as_upstreams) {
  EXPECT_EQ(
      as("ann", "GET", "/api/v1/namespaces/default/pods").body,
      R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":)"
      R"("pods is forbidden: User \"ann\" cannot list resource \"pods\" in API group \"\" in )"
      R"(the namespace \"default\"","reason":"Forbidden","details":{"kind":"pods"},"code":403})"
      "\n");
  EXPECT_EQ(as("ann", "GET", "/apis/apps/v1/namespaces/default/deployments/x/scale").body,
            R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":)"
            R"("deployments.apps \"x\" is forbidden: User \"ann\" cannot get resource )"
            R"(\"deployments/scale\" in API group \"apps\" in the namespace \"default\"",)"
            R"("reason":"Forbidden","details":{"name":"x","group":"apps","kind":"deployments"},)"
            R"("code":403})"
            "\n");
}

TEST_F(AccessTest, whoever_shows_nothing_or_something_wrong_gets_401) {
  for (const std::string target : {"/api", "/version", "/api/v1/namespaces/default/pods"}) {
    Reply nothing = send({.target = target});
    EXPECT_EQ(nothing.status, 401) << target;
    EXPECT_EQ(nothing.body, kUnauthorized);
  }
  for (const std::string target : {"/api", "/healthz"}) {
    Reply wrong = send({.target = target, .headers = {{"Authorization", "Bearer nope"}}});
    EXPECT_EQ(wrong.status, 401) << target;
    EXPECT_EQ(wrong.body, kUnauthorized);
    net::Request foreign{.target = target};
    foreign.peer = std::make_shared<net::Peer>(net::Peer{.foreign_certificate = true});
    EXPECT_EQ(send(std::move(foreign)).status, 401) << target;
  }
  EXPECT_EQ(send({.target = "/api", .headers = {{"Authorization", "Bearer letmein"}}}).status, 200);
}

TEST_F(AccessTest, health_is_for_everybody) {
  for (const std::string target : {"/healthz", "/livez", "/readyz", "/readyz?verbose"}) {
    EXPECT_EQ(send({.target = target}).status, 200) << target;
  }
  EXPECT_EQ(send({.target = "/readyz/ping"}).status, 403);
  EXPECT_EQ(as("admin", "GET", "/readyz/ping").status, 200);
}

TEST_F(AccessTest, a_service_accounts_token_works_until_the_account_is_gone) {
  give_ann_config_maps();
  make("/api/v1/namespaces/team/serviceaccounts", R"({"metadata":{"name":"robot"}})");
  Reply reply =
      as("admin", "POST", "/api/v1/namespaces/team/serviceaccounts/robot/token", R"({"spec":{}})");
  ASSERT_EQ(reply.status, 201) << reply.body;
  auto document = json::parse(reply.body);
  const std::string token(document->root.get({"status", "token"})->as_string());
  auto ask = [&](const std::string& target) {
    return send({.target = target, .headers = {{"Authorization", "Bearer " + token}}}).status;
  };
  EXPECT_EQ(ask("/api"), 200);
  EXPECT_EQ(ask("/openid/v1/jwks"), 200);
  EXPECT_EQ(ask("/.well-known/openid-configuration"), 200);
  EXPECT_EQ(ask("/api/v1/namespaces/team/configmaps"), 403);
  make("/apis/rbac.authorization.k8s.io/v1/namespaces/team/rolebindings",
       R"({"metadata":{"name":"robot"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io",
           "kind":"Role","name":"maps"},"subjects":[{"kind":"ServiceAccount","name":"robot"}]})");
  EXPECT_EQ(ask("/api/v1/namespaces/team/configmaps"), 200);
  EXPECT_EQ(as("admin", "DELETE", "/api/v1/namespaces/team/serviceaccounts/robot").status, 200);
  EXPECT_EQ(ask("/api"), 401);
}

TEST_F(AccessTest, nobody_gives_what_they_do_not_have) {
  give_ann_config_maps();
  make("/apis/rbac.authorization.k8s.io/v1/namespaces/team/roles",
       R"({"metadata":{"name":"roles"},"rules":[{"verbs":["create"],
           "apiGroups":["rbac.authorization.k8s.io"],"resources":["roles","rolebindings"]}]})");
  make("/apis/rbac.authorization.k8s.io/v1/namespaces/team/rolebindings",
       R"({"metadata":{"name":"ann-roles"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io",
           "kind":"Role","name":"roles"},"subjects":[{"kind":"User","name":"ann",
           "apiGroup":"rbac.authorization.k8s.io"}]})");
  const std::string roles = "/apis/rbac.authorization.k8s.io/v1/namespaces/team/roles";
  EXPECT_EQ(as("ann", "POST", roles,
               R"({"metadata":{"name":"fine"},
                   "rules":[{"verbs":["get"],"apiGroups":[""],"resources":["configmaps"]}]})")
                .status,
            201);
  Reply refused = as("ann", "POST", roles,
                     R"({"metadata":{"name":"more"},
                         "rules":[{"verbs":["get"],"apiGroups":[""],"resources":["secrets"]}]})");
  EXPECT_EQ(refused.status, 403);
  EXPECT_TRUE(refused.body.contains("is attempting to grant RBAC permissions not currently held"))
      << refused.body;
}

TEST_F(AccessTest, writing_a_bootstrap_role_back_changes_nothing) {
  const std::string view = "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:discovery";
  const Reply before = as("admin", "GET", view);
  ASSERT_EQ(before.status, 200);
  const Reply after = as("admin", "PUT", view, before.body);
  EXPECT_EQ(after.status, 200) << after.body;
  EXPECT_EQ(after.body, before.body);
}

TEST_F(AccessTest, impersonation_needs_a_right_of_its_own) {
  give_ann_config_maps();
  auto ask = [&](std::vector<std::string> groups) {
    net::Request request{.target = "/api/v1/namespaces/team/configmaps",
                         .headers = {{"Impersonate-User", "ann"}}};
    request.peer = std::make_shared<net::Peer>(
        net::Peer{.certificate = Certificate{"boss", std::move(groups), ""}});
    return send(std::move(request));
  };
  EXPECT_EQ(ask({"system:masters"}).status, 200);
  EXPECT_EQ(ask({}).status, 403);
  EXPECT_TRUE(ask({}).body.contains(
      R"(users \"ann\" is forbidden: User \"boss\" cannot impersonate resource \"users\")"));
}

}  // namespace
}  // namespace codeflare::apiserver
