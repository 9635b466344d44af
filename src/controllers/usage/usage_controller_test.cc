#include "controllers/usage/usage_controller.h"

#include "controllers/appwrapper/queue_controllers.h"
#include "controllers/crds/ensure_crds.h"
#include "controllers/fakenode/fake_nodes.h"
#include "controllers/testing/embedded_cluster.h"
#include "controllers/trainingjob/training_controller.h"
#include "json/parse.h"
#include "model/codec/core.h"
#include "model/codec/node.h"
#include "model/codec/pod.h"
#include "model/codec/training_job.h"
#include "model/usage_ledger.h"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>

namespace codeflare::controllers::metering {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::EmbeddedCluster;

usage::Ledger ledger_of(EmbeddedCluster& cluster, const std::string& ns = "default") {
  const kube::ObjectRef object = cluster.get<model::UsageLedger>("usage", ns);
  if (object == nullptr) {
    return {};
  }
  const Result<json::Document> document = object->parse();
  const json::Value* status = document->root.find("status");
  return status == nullptr ? usage::Ledger() : *usage::read_ledger(*status);
}

std::int64_t total(const usage::Ledger& ledger, const std::string& resource,
                   const std::string& queue = "default") {
  const auto found = ledger.totals.find({.queue = queue, .resource = resource});
  return found == ledger.totals.end() ? 0 : found->second;
}

// A pod of a TrainingJob that no kubelet knows: the test reports about it.
struct Worker {
  std::string name;
  std::int64_t gpus = 1;
  std::string node = "n1";
  bool owned = true;

  std::string body() const {
    const std::string owner =
        R"(,"ownerReferences":[{"apiVersion":"breezeml.ai/v1","kind":"TrainingJob",)"
        R"("name":"bert","uid":"u-1","controller":true}])";
    return R"({"metadata":{"name":")" + name +
           R"(","finalizers":["usage.codeflare.dev/counted"],)"
           R"("annotations":{"usage.codeflare.dev/queue":"research"})" +
           (owned ? owner : "") + R"(},"spec":{"nodeName":")" + node +
           R"(","containers":[{"name":"c","image":"i","resources":{"limits":{)" +
           R"("nvidia.com/gpu":")" + std::to_string(gpus) + R"("}}}]}})";
  }
};

std::string time_text(WallTime time) {
  return "\"" + to_rfc3339(time) + "\"";
}

std::string running_status(WallTime start) {
  return R"({"status":{"phase":"Running","containerStatuses":[{"name":"c","image":"i","imageID":"",)"
         R"("ready":true,"restartCount":0,"state":{"running":{"startedAt":)" +
         time_text(start) + "}}}]}}";
}

std::string ended_status(WallTime start, WallTime end) {
  return R"({"status":{"phase":"Succeeded","containerStatuses":[{"name":"c","image":"i",)"
         R"("imageID":"","ready":false,"restartCount":0,"state":{"running":null,"terminated":{)"
         R"("exitCode":0,"startedAt":)" +
         time_text(start) + R"(,"finishedAt":)" + time_text(end) + "}}}]}}";
}

void install(EmbeddedCluster& cluster) {
  auto crds = *run(cluster.env.loop, ensure_crds(cluster.client, {}));
  ASSERT_TRUE(crds) << crds.error().to_string();
}

TEST(UsageController, counts_a_pod_when_it_has_ended_and_lets_it_go) {
  EmbeddedCluster c;
  install(c);
  add_usage_controller(c.manager, {});
  c.start();
  c.create<model::Pod>(Worker{.name = "a", .gpus = 4}.body());
  const WallTime start = c.env.clock.wall();
  c.patch<model::Pod>("a", running_status(start), "status");
  c.settle();
  EXPECT_TRUE(ledger_of(c).totals.empty());
  c.remove<model::Pod>("a");
  c.settle();
  ASSERT_NE(c.get<model::Pod>("a"), nullptr) << "its kubelet has not reported the end";
  c.patch<model::Pod>("a", ended_status(start, start + seconds(90)), "status");
  c.settle();
  EXPECT_EQ(total(ledger_of(c), "nvidia.com/gpu", "research"), 360);
  EXPECT_EQ(total(ledger_of(c), "workers", "research"), 90);
  c.remove<model::Pod>("a", {.grace_period_seconds = 0});
  c.settle(seconds(3));
  EXPECT_EQ(c.get<model::Pod>("a"), nullptr);
  EXPECT_EQ(total(ledger_of(c), "nvidia.com/gpu", "research"), 360);
  EXPECT_TRUE(ledger_of(c).counted.empty());
  EXPECT_EQ(ledger_of(c).jobs.at("u-1").name, "bert");
}

TEST(UsageController, a_pod_of_a_lost_node_ends_at_the_last_heartbeat) {
  EmbeddedCluster c;
  install(c);
  add_usage_controller(c.manager, {});
  c.start();
  const WallTime start = c.env.clock.wall();
  c.create<model::Lease>(R"({"metadata":{"name":"n1"},"spec":{"renewTime":")" +
                             to_rfc3339(start + seconds(30), 6) + R"("}})",
                         "kube-node-lease");
  c.create<model::Pod>(Worker{.name = "a", .gpus = 2}.body());
  c.patch<model::Pod>("a", running_status(start), "status");
  c.settle(minutes(5));
  c.remove<model::Pod>("a", {.grace_period_seconds = 0});
  c.settle(seconds(5));
  EXPECT_EQ(c.get<model::Pod>("a"), nullptr);
  EXPECT_EQ(total(ledger_of(c), "nvidia.com/gpu", "research"), 60);
}

TEST(UsageController, waits_for_the_word_of_a_node_that_is_up) {
  EmbeddedCluster c;
  install(c);
  add_usage_controller(c.manager, {});
  c.start();
  c.create<model::Node>(R"({"metadata":{"name":"n1"}})");
  c.patch<model::Node>("n1", R"({"status":{"conditions":[{"type":"Ready","status":"True"}]}})",
                       "status");
  c.create<model::Pod>(Worker{.name = "a"}.body());
  const WallTime start = c.env.clock.wall();
  c.patch<model::Pod>("a", running_status(start), "status");
  c.settle(seconds(20));
  c.remove<model::Pod>("a", {.grace_period_seconds = 0});
  c.settle(seconds(10));
  ASSERT_NE(c.get<model::Pod>("a"), nullptr);
  c.patch<model::Pod>("a", ended_status(start, start + seconds(25)), "status");
  c.settle(seconds(3));
  EXPECT_EQ(c.get<model::Pod>("a"), nullptr);
  EXPECT_EQ(total(ledger_of(c), "nvidia.com/gpu", "research"), 25);
}

TEST(UsageController, a_pod_that_never_ran_is_let_go_for_nothing) {
  EmbeddedCluster c;
  install(c);
  add_usage_controller(c.manager, {});
  c.start();
  c.create<model::Pod>(Worker{.name = "a", .node = "", .owned = false}.body());
  c.settle();
  c.remove<model::Pod>("a");
  c.settle(seconds(3));
  EXPECT_EQ(c.get<model::Pod>("a"), nullptr);
  EXPECT_TRUE(ledger_of(c).totals.empty());
}

TEST(UsageController, a_namespace_that_goes_does_not_wait_for_its_pods) {
  EmbeddedCluster c;
  install(c);
  add_usage_controller(c.manager, {});
  c.start();
  c.create<model::Namespace>(R"({"metadata":{"name":"team"}})");
  c.create<model::Pod>(Worker{.name = "a"}.body(), "team");
  const WallTime start = c.env.clock.wall();
  c.patch<model::Pod>("a", running_status(start), "status", "team");
  c.settle();
  c.remove<model::Namespace>("team");
  c.settle(seconds(2));
  if (c.get<model::Pod>("a", "team") != nullptr) {
    c.patch<model::Pod>("a", ended_status(start, start + seconds(3)), "status", "team");
    c.remove<model::Pod>("a", {.grace_period_seconds = 0}, "team");
  }
  c.settle(minutes(2));
  EXPECT_EQ(c.get<model::Namespace>("team"), nullptr);
}

std::string training_job(const std::string& duration) {
  return R"({"apiVersion":"breezeml.ai/v1","kind":"TrainingJob","metadata":{"name":"bert"},"spec":{)"
         R"("minSize":2,"maxSize":2,"queue":"research","replicaSpecs":{"template":{"metadata":{)"
         R"("annotations":{"codeflare.dev/duration":")" +
         duration +
         R"("}},"spec":{"containers":[{"name":"trainingjob","image":"i","resources":{"requests":{)"
         R"("cpu":"1500m"},"limits":{"cpu":"1500m"}}}]}}}}})";
}

// TrainingJobs on a fake node, metered.
struct World {
  EmbeddedCluster cluster;

  World() {
    install(cluster);
    QueueControllersOptions options;
    options.queue.binds = queue::Binds::all;
    options.queue.user_check = false;
    options.training_jobs = true;
    options.trim_caches = false;
    const auto driver = add_queue_controllers(cluster.manager, options);
    trainingjob::add_training_controller(cluster.manager, *driver,
                                         {.scheduler_name = "codeflare", .metered = true});
    add_usage_controller(cluster.manager, {.caught_up = [driver] { return driver->active(); }});
    fakenode::add_fake_node_controllers(cluster.manager);
    auto nodes = *run(cluster.env.loop,
                      fakenode::register_fake_nodes(cluster.client, {.cpus = model::Quantity(8)}));
    EXPECT_TRUE(nodes);
    cluster.start();
  }
};

TEST(UsageController, a_training_job_shows_its_usage_and_its_deletion_loses_nothing) {
  World w;
  w.cluster.create<model::TrainingJob>(training_job("60s"));
  w.cluster.settle(minutes(3));
  const usage::Ledger ledger = ledger_of(w.cluster);
  const std::int64_t seconds_used = total(ledger, "workers", "research");
  EXPECT_GE(seconds_used, 118);
  EXPECT_LE(seconds_used, 124);
  EXPECT_EQ(total(ledger, "millicpu", "research"), seconds_used * 1500);
  EXPECT_TRUE(w.cluster.list<model::Pod>().empty());
  const kube::ObjectRef job = w.cluster.get<model::TrainingJob>("bert");
  ASSERT_NE(job, nullptr);
  const Result<json::Document> document = job->parse();
  const json::Value* shown = document->root.get({"status", "usage"});
  ASSERT_NE(shown, nullptr) << job->text();
  EXPECT_EQ(usage::read_ledger(*shown)->totals, ledger.totals);
  EXPECT_EQ(document->root.get({"status", "stage"})->as_string(), "Completed");
  w.cluster.remove<model::TrainingJob>("bert");
  w.cluster.settle(seconds(10));
  EXPECT_EQ(ledger_of(w.cluster).totals, ledger.totals);
}

TEST(UsageController, deleting_a_running_job_counts_its_pods) {
  World w;
  w.cluster.create<model::TrainingJob>(training_job("24h"));
  w.cluster.settle(minutes(2));
  w.cluster.remove<model::TrainingJob>("bert");
  w.cluster.settle(minutes(2));
  EXPECT_TRUE(w.cluster.list<model::Pod>().empty());
  EXPECT_GE(total(ledger_of(w.cluster), "workers", "research"), 200);
}

TEST(UsageController, is_at_rest_when_nothing_changes) {
  World w;
  w.cluster.create<model::TrainingJob>(training_job("60s"));
  w.cluster.settle(minutes(3));
  const auto ledger = w.cluster.get<model::UsageLedger>("usage");
  const auto job = w.cluster.get<model::TrainingJob>("bert");
  w.cluster.settle(minutes(30));
  EXPECT_EQ(w.cluster.get<model::UsageLedger>("usage")->resource_version(),
            ledger->resource_version());
  EXPECT_EQ(w.cluster.get<model::TrainingJob>("bert")->resource_version(), job->resource_version());
}

// Lets so many writes through and is dead then: the last one may have happened without an answer.
class DyingService final : public net::HttpService {
 public:
  DyingService(net::HttpService& target, int writes, bool last_happens)
      : target_(target), writes_(writes), last_happens_(last_happens) {}

  Task<Result<net::Response>> send(net::Request request) override {
    if (dead_) {
      co_return fail(unavailable("dead"));
    }
    if (request.method == "GET" || writes_-- > 0) {
      co_return co_await target_.send(std::move(request));
    }
    dead_ = true;
    if (last_happens_) {
      Result<net::Response> lost = co_await target_.send(std::move(request));
      static_cast<void>(lost);
    }
    co_return fail(deadline_exceeded("no answer"));
  }

 private:
  net::HttpService& target_;
  int writes_;
  bool last_happens_;
  bool dead_ = false;
};

Task<void> run_manager(runtime::Manager& manager) {
  static_cast<void>(co_await manager.run());
}

// One life of a controller.
void live(EmbeddedCluster& c, int writes, bool last_happens, Duration time) {
  DyingService service(c.service(), writes, last_happens);
  kube::Client client(c.env, service);
  runtime::Manager manager(c.env, client, {.name = "metering"});
  add_usage_controller(manager, {});
  TaskGroup group(c.env.loop);
  group.spawn(run_manager(manager));
  c.settle(time);
  ASSERT_TRUE(run(c.env.loop, group.close()));
}

TEST(UsageController, equals_the_integral_of_pod_statuses_whoever_dies_after_any_write) {
  for (int seed = 1; seed <= 4; ++seed) {
    EmbeddedCluster c;
    install(c);
    std::int64_t expected = 0;
    for (int round = 0; round < 10; ++round) {
      for (int i = 0; i < 3; ++i) {
        const Worker worker{.name = "w-" + std::to_string(round) + "-" + std::to_string(i),
                            .gpus = 1 + (round + i + seed) % 4};
        const std::int64_t length = 7 * round + 13 * i + seed;
        c.create<model::Pod>(worker.body());
        const WallTime start = c.env.clock.wall();
        c.patch<model::Pod>(worker.name, ended_status(start, start + seconds(length)), "status");
        c.remove<model::Pod>(worker.name, {.grace_period_seconds = 0});
        expected += worker.gpus * length;
      }
      live(c, (round * 3 + seed) % 6, (round + seed) % 2 == 0, seconds(4));
    }
    live(c, 1'000, true, seconds(60));
    live(c, 1'000, true, seconds(20));
    EXPECT_EQ(total(ledger_of(c), "nvidia.com/gpu", "research"), expected) << "seed " << seed;
    EXPECT_TRUE(c.list<model::Pod>().empty()) << "seed " << seed;
    EXPECT_TRUE(ledger_of(c).counted.empty()) << "seed " << seed;
    std::int64_t by_day = 0;
    for (const auto& [day, totals] : ledger_of(c).days) {
      by_day += totals.at({.queue = "research", .resource = "nvidia.com/gpu"});
    }
    EXPECT_EQ(by_day, expected);
  }
}

}  // namespace
}  // namespace codeflare::controllers::metering
