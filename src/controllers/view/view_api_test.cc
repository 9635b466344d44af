#include "controllers/view/view_api.h"

#include "controllers/appwrapper/queue_controllers.h"
#include "controllers/crds/ensure_crds.h"
#include "controllers/dispatch/marks.h"
#include "controllers/testing/embedded_cluster.h"
#include "json/parse.h"
#include "model/codec/app_wrapper.h"
#include "model/codec/core.h"
#include "model/codec/node.h"
#include "model/node.h"
#include "net/testing/scripted_service.h"
#include "queue/report.h"
#include "queue/status_words.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::controllers::view {
namespace {

using controllers::testing::EmbeddedCluster;

constexpr std::string_view kRoot = "/apis/view.codeflare.dev/v1alpha1/namespaces/";

struct Answer {
  int status = 0;
  net::Headers headers{};
  std::string body{};

  json::Document parsed() const {
    Result<json::Document> document = json::parse(body);
    EXPECT_TRUE(document) << body;
    return document ? *std::move(document) : json::Document();
  }
};

// One worker, whose server is a script.
class OneWorker final : public dispatch::WorkerClients {
 public:
  explicit OneWorker(std::shared_ptr<kube::Client> client) : client_(std::move(client)) {}
  std::shared_ptr<kube::Client> client(std::string_view cluster) const override {
    return cluster == "east" ? client_ : nullptr;
  }
  std::vector<dispatch::WorkerSeen> clusters() const override {
    return {{.name = "east", .connected = true}};
  }

 private:
  std::shared_ptr<kube::Client> client_;
};

class ViewWorld {
 public:
  explicit ViewWorld(bool preemption = false) {
    CHECK(run(cluster.env.loop, ensure_crds(cluster.client, {}))->has_value(), "definitions");
    QueueControllersOptions options;
    options.queue.user_check = false;
    options.queue.core.preemption = preemption;
    driver = add_queue_controllers(cluster.manager, std::move(options));
    view.serve({.driver = *driver, .client = cluster.client, .cache = cluster.manager.cache()});
  }
  ~ViewWorld() { CHECK(run(cluster.env.loop, view.end()), "it ends"); }

  void add_node(const std::string& name, const std::string& cpus) {
    cluster.create<model::Node>(R"({"metadata":{"name":")" + name + R"("}})");
    const std::string amounts = R"({"cpu":")" + cpus + R"(","memory":"64Gi","pods":"110"})";
    cluster.patch<model::Node>(name,
                               R"({"status":{"conditions":[{"type":"Ready","status":"True"}],)"
                               R"("allocatable":)" +
                                   amounts + R"(,"capacity":)" + amounts + "}}",
                               "status");
    cluster.patch<model::Node>(name, R"({"spec":{"taints":null}})");
  }
  // A pod of so many CPUs.
  void create(const std::string& name, const std::string& cpu, int priority = 0) {
    cluster.create<model::AppWrapper>(
        R"({"metadata":{"name":")" + name + R"("},"spec":{"priority":)" + std::to_string(priority) +
        R"(,"resources":{"GenericItems":[{"generictemplate":{"apiVersion":"v1","kind":"Pod",)"
        R"("metadata":{"name":")" +
        name +
        R"("},"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":")" +
        cpu + R"("}}}]}}}]}}})");
  }
  Answer ask(std::string target) {
    auto response = *run(cluster.env.loop, view.send({.target = std::move(target)}));
    EXPECT_TRUE(response) << response.error().message;
    Answer answer{.status = response->status, .headers = response->headers};
    if (response->body != nullptr) {
      answer.body = *run(cluster.env.loop, net::read_all(std::move(response->body), 1 << 20))
                         .value_or(std::string());
    }
    return answer;
  }
  Answer explain(const std::string& name, const std::string& query = "") {
    return ask(std::string(kRoot) + "default/appwrappers/" + name + "/explain" + query);
  }
  // The reason of the condition Queued, which is what the status says of one that waits.
  std::string reason(const std::string& name) {
    std::string found;
    for (const auto& condition : cluster.read<model::AppWrapper>(name).status.conditions) {
      if (condition.type == "Queued" && condition.status == "True") {
        found = condition.reason;
      }
    }
    return found;
  }

  EmbeddedCluster cluster;
  ViewApi view{cluster.env};
  std::shared_ptr<QueueDriver> driver;
};

TEST(ViewApi, explains_from_the_queue_that_decides) {
  ViewWorld world;
  world.cluster.start();
  world.add_node("n", "4");
  world.create("first", "3");
  world.cluster.settle();
  world.create("second", "2");
  world.cluster.settle();
  const Answer answer = world.explain("second");
  ASSERT_EQ(answer.status, 200) << answer.body;
  const json::Document document = answer.parsed();
  EXPECT_EQ(document.root.string_or_empty("kind"), "Explanation");
  EXPECT_EQ(document.root.string_or_empty("apiVersion"), "view.codeflare.dev/v1alpha1");
  const Result<queue::Report> report = queue::report_from_json(*document.root.find("report"));
  ASSERT_TRUE(report) << answer.body;
  EXPECT_EQ(queue::word(report->standing.reason), world.reason("second"));
  EXPECT_EQ(report->position, 1);
  ASSERT_EQ(report->holders.size(), 1U);
  EXPECT_TRUE(report->holders[0].starts_with("default/first holds 3 CPUs")) << report->holders[0];
}

TEST(ViewApi, a_new_object_is_waited_for) {
  ViewWorld world;
  world.cluster.start();
  world.add_node("n", "4");
  world.create("huge", "5");
  const Answer answer = world.explain("huge");
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_FALSE(answer.body.contains("Evaluating")) << answer.body;
}

// A queue made of the objects alone begins anew with evictions.
TEST(ViewApi, explanation_and_status_agree_while_work_is_preempted) {
  ViewWorld world(true);
  world.cluster.start();
  world.add_node("n", "4");
  world.create("low", "3", 1);
  world.cluster.settle();
  // It runs, and its end takes a while.
  world.cluster.patch<model::Pod>("low", R"({"metadata":{"finalizers":["test/slow"]}})");
  world.cluster.settle();
  world.create("high", "3", 10);
  world.create("behind", "3", 5);
  world.create("small", "1", 2);
  world.cluster.settle(std::chrono::seconds(3));
  EXPECT_EQ(world.reason("high"), "Preempting");
  for (const char* name : {"high", "behind"}) {
    const Answer answer = world.explain(name);
    ASSERT_EQ(answer.status, 200) << answer.body;
    const json::Document document = answer.parsed();
    EXPECT_EQ(document.root.find("report")->string_or_empty("reason"), world.reason(name))
        << answer.body;
  }
}

TEST(ViewApi, other_objects_are_not_found) {
  ViewWorld world;
  world.cluster.start();
  world.add_node("n", "4");
  world.create("waits", "5");
  world.cluster.settle();
  const std::string uid = world.cluster.read<model::AppWrapper>("waits").metadata.uid;
  EXPECT_EQ(world.explain("waits", "?uid=" + uid).status, 200);
  EXPECT_EQ(world.explain("other").status, 404);
  // The right was judged by namespace and name: a UID leads nowhere else.
  EXPECT_EQ(world.explain("other", "?uid=" + uid).status, 404);
  EXPECT_EQ(world.ask(std::string(kRoot) + "team/appwrappers/waits/explain?uid=" + uid).status,
            404);
  EXPECT_EQ(world.ask(std::string(kRoot) + "default/trainingjobs/waits/explain").status, 404);
  EXPECT_EQ(world.ask(std::string(kRoot) + "default/appwrappers/waits").status, 404);
  EXPECT_EQ(world.ask("/api/v1/pods").status, 404);
}

// Clients look for themselves then, at once.
TEST(ViewApi, without_a_live_queue_it_is_unavailable_and_asks_for_no_wait) {
  ViewWorld world;
  const Answer before = world.explain("any");
  EXPECT_EQ(before.status, 503) << before.body;
  EXPECT_FALSE(before.headers.has("Retry-After"));
  ASSERT_TRUE(run(world.cluster.env.loop, world.view.end()));
  EXPECT_EQ(world.explain("any").status, 503);
}

// Without the controllers: the plan is the test's.
TEST(ViewApi, logs_of_a_worker_come_through_the_hub_and_show_no_environment) {
  ViewWorld world;
  world.create("train", "1");
  world.cluster.patch<model::AppWrapper>(
      "train", R"({"status":{"plan":{"places":[{"podSet":0,"node":"east/n1","count":1}]}}})",
      "status");
  const std::string uid = world.cluster.read<model::AppWrapper>("train").metadata.uid;
  std::vector<std::string> targets;
  std::string mark = uid;
  net::testing::ScriptedService script([&](net::Request request) -> Task<Result<net::Response>> {
    targets.push_back(request.target);
    std::string text = "line 1\nline 2\n";
    if (request.target.contains("/appwrappers/")) {
      text = R"({"apiVersion":"workload.codeflare.dev/v1beta1","kind":"AppWrapper",)"
             R"("metadata":{"name":"train","namespace":"default","uid":"copy-uid",)"
             R"("annotations":{"dispatch.codeflare.dev/hub-uid":")" +
             mark + R"("}},"spec":{"resources":{}}})";
    } else if (!request.target.contains("/log")) {
      const bool other = request.target.contains("other");
      text = std::string(R"({"kind":"PodList","apiVersion":"v1","metadata":{},"items":[)") +
             (other ? ""
                    : R"({"metadata":{"name":"p1","namespace":"default","uid":"u"},"spec":)"
                      R"({"nodeName":"n1","containers":[{"name":"c","env":[{"name":"TOKEN",)"
                      R"("value":"hidden"}]}]},"status":{"phase":"Running"}})") +
             "]}";
    }
    co_return net::make_response(200, "application/json", Bytes::from(std::move(text)));
  });
  OneWorker workers(std::make_shared<kube::Client>(world.cluster.env, script));
  world.view.serve({.driver = *world.driver,
                    .client = world.cluster.client,
                    .cache = world.cluster.manager.cache(),
                    .workers = &workers});
  const std::string log = std::string(kRoot) + "default/appwrappers/train/log";
  const Answer pods = world.ask(log);
  EXPECT_EQ(pods.status, 200) << pods.body;
  EXPECT_TRUE(pods.body.contains("\"p1\"")) << pods.body;
  EXPECT_FALSE(pods.body.contains("hidden")) << pods.body;
  ASSERT_FALSE(targets.empty());
  EXPECT_TRUE(targets.back().contains("copy-uid")) << targets.back();
  const Answer text = world.ask(log + "?pod=p1&follow=true&tailLines=7");
  EXPECT_EQ(text.status, 200) << text.body;
  EXPECT_EQ(text.body, "line 1\nline 2\n");
  EXPECT_TRUE(targets.back().contains("/namespaces/default/pods/p1/log?")) << targets.back();
  EXPECT_TRUE(targets.back().contains("follow=true")) << targets.back();
  EXPECT_TRUE(targets.back().contains("tailLines=7")) << targets.back();
  EXPECT_EQ(world.ask(log + "?pod=other").status, 404) << "a pod of somebody else";
  EXPECT_EQ(world.ask(log + "?pod=p1&tailLines=x").status, 400);
  mark = "another";
  EXPECT_EQ(world.ask(log + "?pod=p1").status, 404) << "an AppWrapper of somebody else";
}

}  // namespace
}  // namespace codeflare::controllers::view
