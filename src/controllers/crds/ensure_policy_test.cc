#include "controllers/crds/ensure_policy.h"

#include "controllers/crds/crds.h"
#include "controllers/crds/testing/server_world.h"
#include "kube/testing/scripted_service.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace codeflare::controllers {
namespace {

// A server that is not ours: it stores all kinds, and answers as told where a path contains a word.
struct OtherServer {
  OtherServer() {
    service.set_intercept([this](const net::Request& request) -> std::optional<net::Response> {
      if (request.target == "/version") {
        return net::make_response(200, "application/json",
                                  Bytes::from(std::string(R"({"gitVersion":"v1.34.4"})")));
      }
      if (!refused.empty() && request.target.contains(refused) && request.method != spared) {
        return net::make_response(status, "application/json", Bytes::from(std::string("{}")));
      }
      return std::nullopt;
    });
  }
  Result<PolicyReport> ensure() { return *run(sim.env().loop, ensure_policy(client)); }
  std::size_t stored() const {
    std::size_t count = 0;
    for (const EmbeddedObject& object : *embedded_policy()) {
      count += service.find(object.type, {"", object.name}) == nullptr ? 0 : 1;
    }
    return count;
  }

  SimEnv sim;
  kube::testing::ScriptedService service{sim.env()};
  kube::Client client{sim.env(), service};
  std::string refused{};
  std::string spared{};
  int status = 0;
};

TEST(EnsurePolicy, policy_and_binding_are_applied) {
  OtherServer server;
  EXPECT_EQ(server.ensure(), PolicyReport::applied);
  EXPECT_EQ(server.stored(), 2u);
  EXPECT_EQ(server.ensure(), PolicyReport::applied);
}

TEST(EnsurePolicy, our_own_server_would_only_store_it) {
  ServerWorld world;
  EXPECT_EQ(world.wait(ensure_policy(*world.client)), PolicyReport::built_in);
  for (const EmbeddedObject& object : *embedded_policy()) {
    EXPECT_EQ(world.wait(world.client->get(object.type, {"", object.name})).error().code,
              ErrorCode::not_found);
  }
}

TEST(EnsurePolicy, a_server_without_the_kind_goes_without_it) {
  OtherServer server;
  server.refused = "validatingadmissionpolic";
  server.status = 404;
  EXPECT_EQ(server.ensure(), PolicyReport::not_served);
}

TEST(EnsurePolicy, without_the_right_to_change_it_what_is_there_will_do) {
  OtherServer server;
  ASSERT_EQ(server.ensure(), PolicyReport::applied);
  server.refused = "validatingadmissionpolic";
  server.status = 403;
  server.spared = "GET";
  EXPECT_EQ(server.ensure(), PolicyReport::left_alone);
}

TEST(EnsurePolicy, without_any_right_the_queue_works_all_the_same) {
  OtherServer server;
  server.refused = "validatingadmissionpolic";
  server.status = 403;
  EXPECT_EQ(server.ensure(), PolicyReport::not_allowed);
}

TEST(EnsurePolicy, a_server_that_refuses_the_policy_itself_is_an_error) {
  OtherServer server;
  server.refused = "validatingadmissionpolicybindings";
  server.status = 422;
  const Result<PolicyReport> report = server.ensure();
  ASSERT_FALSE(report.has_value());
  EXPECT_TRUE(report.error().to_string().contains("codeflare-appwrapper-spec"))
      << report.error().to_string();
}

}  // namespace
}  // namespace codeflare::controllers
