#include "controllers/admission/webhook.h"

#include "base/async/sleep.h"
#include "base/async/when.h"
#include "base/base64.h"
#include "controllers/admission/testing/admission_world.h"
#include "json/parse.h"
#include "json/write.h"
#include "model/codec/app_wrapper.h"
#include "net/in_process.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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

// Signs with a word instead of a key.
class Word final : public controllers::RecordSeal {
 public:
  std::string sign(std::string_view text) const override { return "word" + std::string(text); }
  bool verify(std::string_view text, std::string_view signature) const override {
    return signature == sign(text);
  }
};

// A webhook that looks rights up in an API server which has no rules for AppWrappers itself.
struct WebhookWorld {
  AdmissionWorld cluster{false};
  net::InProcessService service{
      cluster.service(),
      {.address = "test",
       .certificate = net::Peer::Certificate{.common_name = "controller",
                                             .organizations = {"system:masters"}}}};
  kube::Client client{cluster.env(), service};
  std::shared_ptr<const Word> seal = std::make_shared<Word>();
  Webhook webhook{cluster.env().clock, client, seal, Logger()};

  Reply review(const char* path, const std::string& user, const std::string& object,
               const std::string& old = "null") {
    const std::string body = R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview",
        "request":{"uid":"u-1","operation":"CREATE","userInfo":{"username":")" +
                             user + R"(","groups":["system:authenticated"]},"object":)" + object +
                             R"(,"oldObject":)" + old + "}}";
    return *run(cluster.env().loop, ask(webhook, path, body));
  }
  // The result of the two calls of an API server with the object.
  Reply submit(const std::string& user, const std::string& object) {
    return review(kValidatePath, user, recorded(user, object));
  }
  // After the first of them.
  std::string recorded(const std::string& user, const std::string& object) {
    return recorded_over(user, object, "null");
  }
  std::string recorded_over(const std::string& user, const std::string& object,
                            const std::string& old) {
    const Reply mutated = review(kMutatePath, user, object, old);
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
    return json::to_text(changed->root);
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
  EXPECT_TRUE(refused.body.contains("cannot create secrets")) << refused.body;
}

// ConfigMap "item" with these members instead of its name.
std::string with_members(const std::string& members) {
  std::string text = in_team("w", "v1", "ConfigMap");
  const std::string name = R"("metadata":{"name":"item"})";
  return text.replace(text.find(name), name.size(), members);
}

TEST(Webhook, tries_every_item_in_the_name_of_the_user) {
  WebhookWorld world;
  world.cluster.let_ann_submit_config_maps();
  const Reply wrong =
      world.submit("ann", with_members(R"("metadata":{"name":"item","labels":{"team":"a b"}})"));
  EXPECT_EQ(wrong.at({"response", "status", "code"}), "422") << wrong.body;
  EXPECT_TRUE(wrong.body.contains(
      "spec.resources.GenericItems[0].generictemplate.metadata.labels: Invalid value"))
      << wrong.body;
  const Reply warned = world.submit("ann", with_members(R"("metadata":{"name":"item"},"dats":{})"));
  EXPECT_EQ(warned.at({"response", "allowed"}), "true") << warned.body;
  EXPECT_EQ(
      warned.at({"response", "warnings"}),
      R"(["unknown field \"spec.resources.GenericItems[0].generictemplate.dats\"; did you mean )"
      R"(data?"])");
  EXPECT_EQ(world.cluster.as("admin", "GET", "/api/v1/namespaces/team/configmaps/item").status,
            404);
}

// Dry runs are answered only after a minute.
class SlowTrials final : public net::HttpService {
 public:
  explicit SlowTrials(net::HttpService& behind) : behind_(behind) {}
  Task<Result<net::Response>> send(net::Request request) override {
    if (request.target.contains("dryRun=All")) {
      CO_TRY(co_await sleep_for(std::chrono::minutes(1)));
    }
    co_return co_await behind_.send(std::move(request));
  }

 private:
  net::HttpService& behind_;
};

TEST(Webhook, answers_in_time_when_the_server_is_slow) {
  WebhookWorld world;
  world.cluster.let_ann_submit_config_maps();
  SlowTrials slow(world.service);
  kube::Client client(world.cluster.env(), slow);
  Webhook webhook(world.cluster.env().clock, client, world.seal, Logger());
  const std::string object = world.recorded("ann", in_team("w", "v1", "ConfigMap"));
  const std::string body = R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview",
      "request":{"uid":"u-1","operation":"CREATE","userInfo":{"username":"ann",
      "groups":["system:authenticated"]},"object":)" +
                           object + R"(,"oldObject":null}})";
  const Instant begin = world.cluster.env().loop.now();
  const Reply reply = *run(world.cluster.env().loop, ask(webhook, kValidatePath, body));
  EXPECT_LE(world.cluster.env().loop.now() - begin, std::chrono::seconds(5));
  EXPECT_EQ(reply.at({"response", "allowed"}), "true") << reply.body;
  EXPECT_TRUE(reply.body.contains("spec.resources.GenericItems[0]: not checked: ")) << reply.body;
}

TEST(Webhook, an_object_whose_submitter_was_not_recorded_is_refused) {
  WebhookWorld world;
  const Reply refused = world.review(kValidatePath, "ann", in_team("w", "v1", "ConfigMap"));
  EXPECT_EQ(refused.at({"response", "status", "code"}), "422") << refused.body;
}

TEST(Webhook, records_when_it_saw_the_object_and_keeps_that) {
  WebhookWorld world;
  const auto time_of = [](const std::string& object) {
    const Result<json::Document> parsed = json::parse(object);
    const json::Value* time =
        parsed->root.get({"metadata", "annotations", "workload.codeflare.dev/submitted-at"});
    return std::string(time == nullptr ? "absent" : time->as_string());
  };
  const std::string now = to_rfc3339(world.cluster.env().clock.wall(), 6);
  const std::string made = world.recorded("ann", in_team("w", "v1", "ConfigMap"));
  EXPECT_GE(time_of(made), now);
  EXPECT_LE(time_of(made), to_rfc3339(world.cluster.env().clock.wall(), 6));
  const std::string later = wrapper("w", "v1", "ConfigMap",
                                    R"("namespace":"team","annotations":{
      "workload.codeflare.dev/submitted-at":"2000-01-01T00:00:00.000000Z"},)");
  EXPECT_EQ(time_of(world.recorded_over("ann", later, made)), time_of(made));
  const Reply refused = world.review(kValidatePath, "ann", later, made);
  EXPECT_TRUE(refused.body.contains("submitted-at]: cannot be changed")) << refused.body;
}

TEST(Webhook, what_it_records_bears_its_seal) {
  WebhookWorld world;
  std::string sealed = world.recorded("ann", in_team("w", "v1", "ConfigMap"));
  const auto wrapper_of = [](const std::string& text) {
    const Result<json::Document> parsed = json::parse(text);
    return *model::from_json<model::AppWrapper>(parsed->root);
  };
  const controllers::SubmitterTrust trust{.seal = world.seal};
  const Result<controllers::Submitter> known = controllers::submitter_of(wrapper_of(sealed), trust);
  ASSERT_TRUE(known) << known.error().message;
  EXPECT_EQ(known->username, "ann");
  EXPECT_EQ(known->groups, std::vector<std::string>{"system:authenticated"});
  // A later write keeps both, whatever it says.
  const std::string claimed = in_team("w", "v1", "ConfigMap");
  const std::string kept = world.recorded_over("eve", claimed, sealed);
  EXPECT_TRUE(controllers::submitter_of(wrapper_of(kept), trust));
  // Another webhook that puts something else in afterwards is found out.
  sealed.replace(sealed.find("ConfigMap"), 9, "Secret");
  const Reply refused = world.review(kValidatePath, "ann", sealed);
  EXPECT_EQ(refused.at({"response", "status", "code"}), "422") << refused.body;
  EXPECT_TRUE(refused.body.contains("changed the items")) << refused.body;
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
  // MCAD's `Items` of old are nothing that it runs.
  const Reply empty =
      world.submit("ann", R"({"apiVersion":"mcad.ibm.com/v1beta1","kind":"AppWrapper",
          "metadata":{"name":"w","namespace":"team"},"spec":{"resources":{"Items":[{}]}}})");
  EXPECT_EQ(empty.at({"response", "status", "message"}),
            R"("spec.resources.GenericItems: required: an AppWrapper needs at least one item")");
}

TEST(Webhook, later_changes_of_the_spec_are_refused) {
  WebhookWorld world;
  const std::string before = in_team("w", "v1", "ConfigMap");
  EXPECT_EQ(world.review(kValidatePath, "ann", before, before).at({"response", "allowed"}), "true");
  const Reply refused = world.review(kValidatePath, "ann", in_team("w", "v1", "Secret"), before);
  EXPECT_EQ(refused.at({"response", "status", "code"}), "422") << refused.body;
}

TEST(Webhook, while_it_holds_places_labels_change_that_are_no_quota_tree) {
  WebhookWorld world;
  const auto labelled = [&](const std::string& labels) {
    std::string object = world.recorded(
        "ann", wrapper("w", "v1", "ConfigMap", R"("namespace":"team","labels":)" + labels + ","));
    return object.insert(object.size() - 1, R"(,"status":{"plan":{"places":[]}})");
  };
  const std::string old = labelled("{}");
  const auto answer = [&](const std::string& labels) {
    std::string now = old;
    const std::string none = R"("labels":{})";
    now.replace(now.find(none), none.size(), R"("labels":)" + labels);
    return world.review(kValidatePath, "ann", now, old);
  };
  EXPECT_EQ(answer(R"({"team":"gold"})").at({"response", "allowed"}), "true")
      << "the server does not serve quota trees";
  world.cluster.make_quota_tree("team");
  const Reply refused = answer(R"({"note":"x","team":"gold"})");
  EXPECT_EQ(refused.at({"response", "status", "code"}), "422") << refused.body;
  EXPECT_TRUE(refused.body.contains("metadata.labels[team]: cannot be changed")) << refused.body;
  const Reply free = answer(R"({"note":"x"})");
  EXPECT_EQ(free.at({"response", "allowed"}), "true") << free.body;
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

// Most of a body, and then never the rest.
class HalfBody final : public net::BodyStream {
 public:
  explicit HalfBody(std::size_t bytes) : piece_(bytes, 'x') {}
  Task<Result<Bytes>> read() override {
    if (!piece_.empty()) {
      co_return Bytes::from(std::exchange(piece_, ""));
    }
    CO_TRY(co_await sleep_for(std::chrono::hours(1)));
    co_return Bytes();
  }

 private:
  std::string piece_;
};

Task<int> ask_half(Webhook& webhook, std::size_t bytes) {
  net::Request request{.method = "POST", .target = kValidatePath};
  request.body = std::make_unique<HalfBody>(bytes);
  Result<net::Response> response = co_await webhook.send(std::move(request));
  co_return response ? response->status : 0;
}

TEST(Webhook, bodies_that_do_not_end_are_given_up_soon_and_bounded_until_then) {
  WebhookWorld world;
  std::vector<Task<int>> asked;
  for (int i = 0; i < 8; ++i) {
    asked.push_back(ask_half(world.webhook, std::size_t{8} << 20));
  }
  asked.push_back(ask_half(world.webhook, std::size_t{1} << 20));
  asked.push_back(ask_half(world.webhook, std::size_t{64} << 10));
  const Instant begun = world.cluster.env().clock.now();
  const std::vector<int> statuses = *run(world.cluster.env().loop, when_all(std::move(asked)));
  EXPECT_EQ(statuses, (std::vector<int>{408, 408, 408, 408, 408, 408, 408, 408, 429, 408}));
  EXPECT_EQ(world.cluster.env().clock.now() - begun, std::chrono::seconds(10));
  EXPECT_EQ(*run(world.cluster.env().loop, ask_half(world.webhook, std::size_t{8} << 20)), 408)
      << "what they held was given back";
}

}  // namespace
}  // namespace codeflare::admission
