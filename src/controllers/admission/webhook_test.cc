#include "controllers/admission/webhook.h"

#include "base/base64.h"
#include "controllers/admission/testing/admission_world.h"
#include "json/parse.h"
#include "json/write.h"
#include "net/in_process.h"

#include <gtest/gtest.h>

#include <optional>

namespace codeflare::admission {
namespace {

using testing::AdmissionWorld;
using testing::Reply;
using testing::wrapper;

Task<Reply> ask(Webhook& webhook, std::string path, std::string body) {
  net::Request request{.method = "POST", .target = std::move(path)};
  request.body = net::body_of(std::move(body));
  Result<net::Response> response = co_await webhook.send(std::move(request));
  CHECK(response.has_value());
  Reply reply{.status = response->status};
  reply.body = *co_await net::read_all(std::move(response->body), 1u << 20);
  co_return reply;
}

// A webhook that looks rights up in an API server which has no rules for AppWrappers itself.
struct WebhookWorld {
  AdmissionWorld cluster{false};
  net::InProcessService service{
      cluster.service(),
      {.address = "test",
       .certificate = net::Peer::Certificate{.common_name = "controller",
                                             .organizations = {"system:masters"}}}};
  kube::Client client{cluster.env(), service};
  Webhook webhook{client, Logger()};

  Reply review(const char* path, const std::string& user, const std::string& object,
               const std::string& old = "null") {
    const std::string body = R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview",
        "request":{"uid":"u-1","operation":"CREATE","userInfo":{"username":")" +
                             user + R"(","groups":["system:authenticated"]},"object":)" + object +
                             R"(,"oldObject":)" + old + "}}";
    return *run(cluster.env().loop, ask(webhook, path, body));
  }
  // What the two calls of an API server make of the object.
  Reply submit(const std::string& user, const std::string& object) {
    const Reply mutated = review(kMutatePath, user, object);
    Result<json::Document> answer = json::parse(mutated.body);
    Result<std::string> patch = from_base64(answer->root.get({"response", "patch"})->as_string());
    Result<json::Document> operations = json::parse(*patch);
    Result<json::Document> changed = json::parse(object);
    for (const json::Value& operation : operations->root.items()) {
      const std::string_view path = operation.string_or_empty("path");
      changed->root.find("metadata")
          ->set(changed->arena, path.substr(path.rfind('/') + 1),
                operation.find("value")->clone(changed->arena));
    }
    return review(kValidatePath, user, json::to_text(changed->root));
  }
};

std::string in_team(std::string_view name, std::string_view api_version, std::string_view kind) {
  return wrapper(name, api_version, kind, R"("namespace":"team",)");
}

TEST(Webhook, allows_what_the_user_may_create_and_refuses_the_rest) {
  WebhookWorld world;
  world.cluster.let_ann_submit_config_maps();
  const Reply allowed = world.submit("ann", in_team("w", "v1", "ConfigMap"));
  EXPECT_EQ(allowed.at({"response", "allowed"}), "true") << allowed.body;
  EXPECT_EQ(allowed.at({"response", "uid"}), R"("u-1")");
  const Reply refused = world.submit("ann", in_team("w", "v1", "Secret"));
  EXPECT_EQ(refused.at({"response", "allowed"}), "false");
  EXPECT_EQ(refused.at({"response", "status", "code"}), "403");
  EXPECT_TRUE(refused.body.contains("may not create secrets")) << refused.body;
}

TEST(Webhook, an_object_whose_submitter_was_not_recorded_is_refused) {
  WebhookWorld world;
  const Reply refused = world.review(kValidatePath, "ann", in_team("w", "v1", "ConfigMap"));
  EXPECT_EQ(refused.at({"response", "status", "code"}), "422") << refused.body;
}

TEST(Webhook, judges_wrappers_of_the_older_group_alike) {
  WebhookWorld world;
  world.cluster.let_ann_submit_config_maps();
  const auto old = [](std::string_view kind) {
    std::string text = in_team("w", "v1", kind);
    return text.replace(text.find("workload.codeflare.dev"), 22, "mcad.ibm.com");
  };
  const Reply allowed = world.submit("ann", old("ConfigMap"));
  EXPECT_EQ(allowed.at({"response", "allowed"}), "true") << allowed.body;
  EXPECT_EQ(world.submit("ann", old("Secret")).at({"response", "status", "code"}), "403");
}

TEST(Webhook, later_changes_of_the_spec_are_refused) {
  WebhookWorld world;
  const std::string before = in_team("w", "v1", "ConfigMap");
  EXPECT_EQ(world.review(kValidatePath, "ann", before, before).at({"response", "allowed"}), "true");
  const Reply refused = world.review(kValidatePath, "ann", in_team("w", "v1", "Secret"), before);
  EXPECT_EQ(refused.at({"response", "status", "code"}), "422") << refused.body;
}

TEST(Webhook, what_is_no_review_is_an_error_of_the_caller) {
  WebhookWorld world;
  const auto answer = [&](std::string path, std::string body) {
    return run(world.cluster.env().loop, ask(world.webhook, std::move(path), std::move(body)))
        ->status;
  };
  EXPECT_EQ(answer(kValidatePath, "not json"), 400);
  EXPECT_EQ(answer(kMutatePath, "{}"), 400);
  EXPECT_EQ(answer("/elsewhere", "{}"), 404);
}

}  // namespace
}  // namespace codeflare::admission
