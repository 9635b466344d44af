#include "kube/discovery.h"

#include "base/async/sleep.h"
#include "base/async/when.h"
#include "base/env/sim_env.h"
#include "kube/testing/scripted_service.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>

namespace codeflare::kube {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

std::string resource(const std::string& plural, const std::string& kind, const std::string& more) {
  return R"({"resource":")" + plural + R"(","responseKind":{"group":"","version":"","kind":")" +
         kind + R"("},"scope":"Namespaced","singularResource":")" + plural.substr(0, 3) + "\"" +
         more + "}";
}

std::string group(const std::string& name, const std::string& versions) {
  return R"({"metadata":{"name":")" + name + R"("},"versions":[)" + versions + "]}";
}

std::string version(const std::string& name, const std::string& resources,
                    const std::string& freshness = "Current") {
  return R"({"version":")" + name + R"(","freshness":")" + freshness + R"(","resources":[)" +
         resources + "]}";
}

std::string aggregated(const std::string& groups) {
  return R"({"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[)" +
         groups + "]}";
}

class DiscoveryTest : public ::testing::Test {
 protected:
  DiscoveryTest() {
    service_.set_intercept([this](const net::Request& request) -> std::optional<net::Response> {
      auto page = pages_.find(request.target);
      if (page == pages_.end()) {
        return testing::status_answer(404, "NotFound", "no such page");
      }
      if (page->second.empty()) {
        return testing::status_answer(503, "ServiceUnavailable", "not now");
      }
      const std::string etag = "\"" + std::to_string(std::hash<std::string>()(page->second)) + "\"";
      if (use_etags_ && request.headers.get("if-none-match") == etag) {
        ++not_modified_;
        return net::Response{.status = 304};
      }
      net::Response response =
          net::make_response(200, "application/json", Bytes::from(std::string(page->second)));
      response.headers.set("ETag", etag);
      return response;
    });
    pages_["/api"] = aggregated(
        group("", version("v1", resource("pods", "Pod",
                                         R"(,"shortNames":["po"],"categories":["all"],)"
                                         R"("verbs":["get","list","watch"],)"
                                         R"("subresources":[{"subresource":"log"}])") +
                                    "," + resource("events", "Event", "") +
                                    R"(,{"resource":"nodes","responseKind":{"kind":"Node"},)"
                                    R"("scope":"Cluster"},{"resource":"broken"},7)")));
    pages_["/apis"] =
        aggregated(group("apps", version("v1", resource("deployments", "Deployment", ""))) + "," +
                   group("batch", version("v1", resource("jobs", "Job", "")) + "," +
                                      version("v1beta1", resource("jobs", "Job", "") + "," +
                                                             resource("cronjobs", "CronJob", ""))) +
                   "," + group("events.k8s.io", version("v1", resource("events", "Event", ""))));
  }

  template <typename T>
  T run(Task<T> task) {
    std::optional<T> value = codeflare::run(sim_.env().loop, std::move(task));
    CHECK(value.has_value());
    return *std::move(value);
  }
  // "group/version/plural", or the error.
  std::string find(std::string name, std::optional<std::string> in_group = std::nullopt,
                   std::string in_version = {}) {
    Result<ApiResource> found =
        run(discovery_.find(std::move(name), std::move(in_group), std::move(in_version)));
    return found ? found->type.api_version() + "/" + found->type.plural : found.error().to_string();
  }
  void pass(Duration time) { ASSERT_TRUE(run(sleep_for(time))); }
  void make_legacy() {
    pages_["/api"] = R"({"kind":"APIVersions","versions":["v1"]})";
    pages_["/apis"] = R"({"kind":"APIGroupList","groups":[{"name":"batch","versions":[)"
                      R"({"groupVersion":"batch/v1beta1","version":"v1beta1"},)"
                      R"({"groupVersion":"batch/v1","version":"v1"}],)"
                      R"("preferredVersion":{"groupVersion":"batch/v1","version":"v1"}},)"
                      R"({"name":"metrics.k8s.io","versions":[{"version":"v1beta1"}]}]})";
    pages_["/api/v1"] =
        R"({"kind":"APIResourceList","resources":[{"name":"pods","singularName":"pod",)"
        R"("namespaced":true,"kind":"Pod","verbs":["get"],"shortNames":["po"]},)"
        R"({"name":"pods/log","kind":"Pod"},{"name":"nodes","namespaced":false,"kind":"Node"}]})";
    const std::string jobs =
        R"({"kind":"APIResourceList","resources":[{"name":"jobs","namespaced":true,"kind":"Job"}]})";
    pages_["/apis/batch/v1"] = jobs;
    pages_["/apis/batch/v1beta1"] = jobs;
    pages_["/apis/metrics.k8s.io/v1beta1"] = "";
  }

  SimEnv sim_;
  testing::ScriptedService service_{sim_.env()};
  Client client_{sim_.env(), service_, {.attempts_max = 1}};
  Discovery discovery_{client_};
  std::map<std::string, std::string> pages_;
  bool use_etags_ = true;
  int not_modified_ = 0;
};

TEST_F(DiscoveryTest, finds_a_kind_by_any_of_its_names_with_two_requests) {
  for (const char* name : {"pods", "pod", "po", "Pod", "PODS"}) {
    EXPECT_EQ(find(name), "v1/pods") << name;
  }
  const ApiResource pods = *run(discovery_.find("pods"));
  EXPECT_TRUE(pods.type.namespaced);
  EXPECT_TRUE(pods.can("watch"));
  EXPECT_FALSE(pods.can("delete"));
  EXPECT_TRUE(pods.has_subresource("log"));
  EXPECT_EQ(pods.categories, std::vector<std::string>{"all"});
  EXPECT_FALSE(run(discovery_.find("nodes"))->type.namespaced);
  EXPECT_EQ(service_.requests(), (std::vector<std::string>{"GET /api", "GET /apis"}));
}

TEST_F(DiscoveryTest, the_servers_order_decides_between_groups_and_versions) {
  EXPECT_EQ(find("events"), "v1/events");
  EXPECT_EQ(find("events", "events.k8s.io"), "events.k8s.io/v1/events");
  EXPECT_EQ(find("events.events.k8s.io"), "events.k8s.io/v1/events");
  EXPECT_EQ(find("events", ""), "v1/events") << "the core group by name";
  EXPECT_EQ(find("jobs"), "batch/v1/jobs");
  EXPECT_EQ(find("jobs", "batch", "v1beta1"), "batch/v1beta1/jobs");
  EXPECT_EQ(find("jobs.v1beta1.batch"), "batch/v1beta1/jobs");
  EXPECT_EQ(find("cronjobs"), "batch/v1beta1/cronjobs") << "only an older version has it";
}

TEST_F(DiscoveryTest, what_is_missing_is_asked_for_again_but_not_all_the_time) {
  EXPECT_EQ(find("widgets"), "not_found: the server does not serve \"widgets\"");
  const std::size_t asked = service_.requests().size();
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(find("widgets"), "not_found: the server does not serve \"widgets\"");
  }
  EXPECT_EQ(service_.requests().size(), asked);
  pages_["/apis"] = aggregated(group("x.io", version("v1", resource("widgets", "Widget", ""))));
  pass(seconds(6));
  EXPECT_EQ(find("widgets"), "x.io/v1/widgets");
}

TEST_F(DiscoveryTest, a_copy_that_is_still_good_is_kept) {
  find("pods");
  pass(minutes(11));
  EXPECT_EQ(find("pods"), "v1/pods");
  EXPECT_EQ(not_modified_, 2);
}

TEST_F(DiscoveryTest, old_knowledge_serves_while_the_server_is_away) {
  find("pods");
  pages_["/api"] = "";
  pass(minutes(11));
  EXPECT_EQ(find("pods"), "v1/pods");
}

TEST_F(DiscoveryTest, with_nothing_known_the_error_is_told) {
  pages_["/api"] = "";
  EXPECT_EQ(find("pods"), "unavailable: not now");
  pages_["/api"] = R"({"kind":"Elephant"})";
  EXPECT_EQ(find("pods"), "data_loss: discovery: unexpected kind \"Elephant\"");
}

TEST_F(DiscoveryTest, a_stale_group_keeps_what_was_known_of_it) {
  find("pods");
  pages_["/apis"] = aggregated(group("batch", version("v1", "", "Stale")));
  ASSERT_TRUE(run(discovery_.refresh()));
  EXPECT_EQ(find("jobs"), "batch/v1/jobs");
  EXPECT_TRUE(discovery_.failures().contains("batch/v1"));
  EXPECT_TRUE(find("widgets").contains("batch/v1 did not answer")) << find("widgets");
}

TEST_F(DiscoveryTest, servers_without_the_aggregated_form_are_asked_version_by_version) {
  make_legacy();
  EXPECT_EQ(find("po"), "v1/pods");
  EXPECT_TRUE(run(discovery_.find("pods"))->has_subresource("log"));
  EXPECT_FALSE(run(discovery_.find("nodes"))->type.namespaced);
  EXPECT_EQ(find("jobs"), "batch/v1/jobs") << "the preferred version, though listed second";
  EXPECT_EQ(run(discovery_.resources())->size(), 4u);
  ASSERT_EQ(discovery_.failures().size(), 1u) << "one group that is down hides no other";
  EXPECT_EQ(discovery_.failures().begin()->first, "metrics.k8s.io/v1beta1");
}

Task<Result<void>> find_many(Discovery* discovery, int* found) {
  CO_TRY(co_await discovery->find("pods"));
  ++*found;
  co_return Result<void>();
}

// Answers take a while, so that questions can meet.
class SlowService final : public net::HttpService {
 public:
  explicit SlowService(HttpService& target) : target_(target) {}
  Task<Result<net::Response>> send(net::Request request) override {
    CO_TRY(co_await sleep_for(seconds(1)));
    co_return co_await target_.send(std::move(request));
  }

 private:
  HttpService& target_;
};

std::vector<Task<Result<void>>> twenty_questions(Discovery* discovery, int* found) {
  std::vector<Task<Result<void>>> tasks;
  for (int i = 0; i < 20; ++i) {
    tasks.push_back(find_many(discovery, found));
  }
  return tasks;
}

TEST_F(DiscoveryTest, questions_at_the_same_time_share_one_load) {
  SlowService slow(service_);
  Client client(sim_.env(), slow);
  Discovery discovery(client);
  int found = 0;
  run(when_all(twenty_questions(&discovery, &found)));
  EXPECT_EQ(found, 20);
  EXPECT_EQ(service_.requests().size(), 2u);
}

TEST_F(DiscoveryTest, questions_at_the_same_time_share_its_failure) {
  SlowService slow(service_);
  Client client(sim_.env(), slow, {.attempts_max = 1});
  Discovery discovery(client);
  pages_["/api"] = "";
  int found = 0;
  for (const Result<void>& result : run(when_all(twenty_questions(&discovery, &found)))) {
    EXPECT_EQ(result.error().code, ErrorCode::unavailable);
  }
  EXPECT_EQ(service_.requests().size(), 1u);
}

}  // namespace
}  // namespace codeflare::kube
