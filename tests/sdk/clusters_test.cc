#include "sdk/clusters.h"

#include "controllers/appwrapper/queue_controllers.h"
#include "controllers/crds/ensure_crds.h"
#include "controllers/fakenode/fake_nodes.h"
#include "controllers/raycluster/raycluster_controller.h"
#include "controllers/testing/embedded_cluster.h"
#include "model/codec/app_wrapper.h"
#include "model/codec/pod.h"
#include "model/codec/ray_cluster.h"
#include "sdk/cluster_manifest.h"

#include <gtest/gtest.h>

namespace codeflare::sdk {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

// Counts what the SDK asks of the server.
class Counted final : public net::HttpService {
 public:
  explicit Counted(net::HttpService& target) : target_(target) {}
  Task<Result<net::Response>> send(net::Request request) override {
    ++requests;
    return target_.send(std::move(request));
  }
  int requests = 0;

 private:
  net::HttpService& target_;
};

// A queue, RayClusters and one fake node of `cpus` CPUs, in virtual time.
struct World {
  controllers::testing::EmbeddedCluster cluster;
  kube::Discovery discovery{cluster.client};
  Clusters clusters{cluster.client, discovery};
  std::vector<std::string> lines;

  struct Options {
    std::int64_t cpus = 8;
    bool wrappers = true;  // the server has AppWrappers, and a queue
    bool kubelet = true;   // pods on the fake node start
  };
  World() : World(Options()) {}
  explicit World(Options options) {
    auto crds =
        *run(cluster.env.loop, controllers::ensure_crds(cluster.client, {.ray_cluster = true}));
    EXPECT_TRUE(crds) << crds.error().to_string();
    if (!options.wrappers) {
      cluster.remove<model::CustomResourceDefinition>("appwrappers.workload.codeflare.dev");
    }
    auto nodes = *run(cluster.env.loop,
                      controllers::fakenode::register_fake_nodes(
                          cluster.client, {.count = 1, .cpus = model::Quantity(options.cpus)}));
    EXPECT_TRUE(nodes) << nodes.error().to_string();
    if (options.wrappers) {
      controllers::add_queue_controllers(
          cluster.manager,
          {.queue = {.binds = queue::Binds::all, .user_check = false}, .trim_caches = false});
    }
    if (options.kubelet) {
      controllers::fakenode::add_fake_node_controllers(cluster.manager);
    }
    controllers::raycluster::add_raycluster_controller(cluster.manager);
    cluster.start();
  }

  template <typename T>
  Result<T> await(Task<Result<T>> task) {
    return *run(cluster.env.loop, std::move(task));
  }
  Result<kube::ObjectRef> create(ClusterConfig config) {
    auto manifest = await(clusters.manifest_for(std::move(config)));
    if (!manifest) {
      return fail(manifest.error());
    }
    return await(clusters.create(*std::move(manifest), "default"));
  }
  Result<ClusterInfo> wait(const std::string& name, ClusterWait options = {}) {
    options.observer = [this](const ClusterState& state) { lines.push_back(progress_line(state)); };
    return await(clusters.wait({"default", name}, std::move(options)));
  }
};

ClusterConfig small(std::string name, std::int64_t workers = 1) {
  return {.name = std::move(name), .num_workers = workers, .head_cpu_limits = "1"};
}

TEST(Clusters, are_queued_started_watched_and_deleted) {
  World w;
  ASSERT_TRUE(w.create(small("demo", 2)));
  const Result<ClusterInfo> ready = w.wait("demo");
  ASSERT_TRUE(ready) << ready.error().message;
  EXPECT_EQ(ready->state.phase, ClusterPhase::ready);
  EXPECT_EQ(ready->state.workers_ready, 2);
  EXPECT_EQ(ready->wrapper, "demo");
  EXPECT_EQ(ready->client_uri(), "ray://demo-head-svc.default.svc:10001");
  EXPECT_EQ(w.lines.back(), "Ready");
  EXPECT_GE(w.lines.size(), 2u);

  const auto listed = w.await(w.clusters.list("default"));
  ASSERT_TRUE(listed);
  ASSERT_EQ(listed->size(), 1u);
  EXPECT_EQ(listed->front().sizes.cpus().to_string(), "3");

  ASSERT_TRUE(w.await(w.clusters.remove({"default", "demo"})));
  ASSERT_TRUE(w.wait("demo", {.goal = ClusterGoal::deleted}));
  EXPECT_EQ(w.cluster.list<model::Pod>().size(), 0u);
  EXPECT_EQ(w.await(w.clusters.get({"default", "demo"})).error().message,
            "Ray cluster 'demo' not found in namespace 'default'");
}

TEST(Clusters, a_name_that_is_taken_is_refused) {
  World w;
  ASSERT_TRUE(w.create(small("demo")));
  EXPECT_EQ(w.create(small("demo")).error().code, ErrorCode::already_exists);
  ASSERT_TRUE(w.wait("demo"));
  EXPECT_EQ(w.create(small("demo")).error().message,
            "Ray cluster 'demo' already exists in namespace 'default'");
}

TEST(Clusters, applying_creates_keeps_or_recreates) {
  World w;
  EXPECT_EQ(w.await(w.clusters.apply(small("demo"), "default", false)), Applied::created);
  ASSERT_TRUE(w.wait("demo"));
  EXPECT_EQ(w.await(w.clusters.apply(small("demo"), "default", false)), Applied::unchanged);
  ClusterConfig larger = small("demo", 2);
  larger.envs = {{"A", "1"}};
  const auto refused = w.await(w.clusters.apply(larger, "default", false));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "Ray cluster 'demo' exists and differs in num_workers, envs; delete it first, or apply "
            "with force to queue it anew");
  EXPECT_EQ(w.await(w.clusters.apply(larger, "default", true)), Applied::recreated);
  ASSERT_TRUE(w.wait("demo"));
  EXPECT_EQ(w.await(w.clusters.get({"default", "demo"}))->sizes.workers, 2);
}

TEST(Clusters, are_scaled_in_place) {
  World w;
  ASSERT_TRUE(w.create(small("demo", 2)));
  ASSERT_TRUE(w.wait("demo"));
  const auto down = w.await(w.clusters.scale({"default", "demo"}, "", 1));
  ASSERT_TRUE(down) << down.error().message;
  EXPECT_EQ(down->before, 2);
  EXPECT_EQ(down->after, 1);
  w.cluster.settle(seconds(10));
  const auto smaller = w.await(w.clusters.get({"default", "demo"}));
  EXPECT_EQ(smaller->state.workers_wanted, 1);
  EXPECT_EQ(smaller->state.workers_ready, 1);
  EXPECT_EQ(smaller->state.phase, ClusterPhase::ready);
  // Beyond the plan, where they fit.
  EXPECT_EQ(w.await(w.clusters.apply(small("demo", 3), "default", false)), Applied::scaled);
  w.cluster.settle(seconds(10));
  EXPECT_EQ(w.await(w.clusters.get({"default", "demo"}))->state.workers_ready, 3);
  const auto unknown = w.await(w.clusters.scale({"default", "demo"}, "big", 1));
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message,
            "Ray cluster 'demo' has no worker group 'big'; its groups are workers");
  EXPECT_FALSE(w.await(w.clusters.scale({"default", "demo"}, "", -1)));
}

TEST(Clusters, definitions_are_read_back_or_not_at_all) {
  World w;
  ClusterConfig config = small("demo", 2);
  config.priority = 7;
  config.max_seconds = 60;
  config.labels = {{"a", "b"}};
  config.envs = {{"A", "1"}};
  config.worker_node_selector = {};
  ASSERT_TRUE(w.create(config));
  ASSERT_TRUE(w.wait("demo"));
  const auto info = w.await(w.clusters.get({"default", "demo"}));
  const Result<ClusterConfig> read = definition_of(*info);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->priority, 7);
  EXPECT_EQ(read->max_seconds, 60);
  EXPECT_EQ(changed_fields(*info, *read), std::vector<std::string>());
  EXPECT_EQ(cluster_manifest(*read).root.find("spec")->find("priority")->to_int64().value(), 7);

  ClusterConfig odd = small("odd");
  odd.volumes.text = R"([{"name":"v","emptyDir":{}}])";
  ASSERT_TRUE(w.create(odd));
  ASSERT_TRUE(w.wait("odd"));
  const Result<ClusterConfig> unread = definition_of(*w.await(w.clusters.get({"default", "odd"})));
  ASSERT_FALSE(unread);
  EXPECT_EQ(unread.error().code, ErrorCode::failed_precondition);
}

TEST(Clusters, one_that_does_not_fit_waits_and_is_listed) {
  World w({.cpus = 4});
  ASSERT_TRUE(w.create(small("first", 2)));
  ASSERT_TRUE(w.wait("first"));
  ASSERT_TRUE(w.create(small("second", 2)));
  w.cluster.settle(seconds(2));
  const auto second = w.await(w.clusters.get({"default", "second"}));
  ASSERT_TRUE(second);
  EXPECT_EQ(second->state.phase, ClusterPhase::queued);
  EXPECT_EQ(second->state.reason, "InsufficientResources");
  EXPECT_EQ(second->state.workers_wanted, 2);
  EXPECT_EQ(w.await(w.clusters.list("")).value().size(), 2u);

  const auto waited = w.wait("second", {.timeout = seconds(30)});
  ASSERT_FALSE(waited);
  EXPECT_EQ(waited.error().code, ErrorCode::deadline_exceeded);
  EXPECT_TRUE(waited.error().message.starts_with(
      "Ray cluster 'second' did not become ready within 30s: Queued: InsufficientResources: "))
      << waited.error().message;
  ASSERT_TRUE(w.await(w.clusters.remove({"default", "first"})));
  ASSERT_TRUE(w.wait("second"));
}

TEST(Clusters, without_app_wrappers_a_ray_cluster_is_created_by_itself) {
  World w({.wrappers = false});
  ASSERT_TRUE(w.create(small("demo")));
  w.cluster.settle();
  const auto info = w.await(w.clusters.get({"default", "demo"}));
  ASSERT_TRUE(info) << info.error().message;
  EXPECT_EQ(info->wrapper, "");
  EXPECT_EQ(info->state.phase, ClusterPhase::starting);
  ClusterConfig insists = small("other");
  insists.queueing = Queueing::appwrapper;
  const auto refused = w.create(insists);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::failed_precondition);
  ASSERT_TRUE(w.await(w.clusters.remove({"default", "demo"})));
  ASSERT_TRUE(w.wait("demo", {.goal = ClusterGoal::deleted}));
}

TEST(Clusters, a_wait_ends_when_the_cluster_is_deleted) {
  World w({.cpus = 1});
  ASSERT_TRUE(w.create(small("demo")));
  TaskGroup group(w.cluster.env.loop);
  const auto remove_later = [](Clusters& clusters) -> Task<void> {
    CHECK(co_await sleep_for(seconds(20)));
    CHECK(co_await clusters.remove({"default", "demo"}));
  };
  group.spawn(remove_later(w.clusters));
  const auto waited = w.wait("demo");
  ASSERT_FALSE(waited);
  EXPECT_TRUE(run(w.cluster.env.loop, group.join()));
}

TEST(Clusters, a_state_that_will_hardly_heal_ends_the_wait_after_a_minute) {
  World w({.wrappers = false, .kubelet = false});
  ASSERT_TRUE(w.create(small("demo")));
  w.cluster.settle(seconds(5));
  const auto heads = w.cluster.list<model::Pod>("default", "ray.io/node-type=head");
  ASSERT_EQ(heads.size(), 1u);
  w.cluster.patch<model::Pod>(
      heads.front().metadata.name,
      R"({"status":{"containerStatuses":[{"name":"ray-head","ready":false,"restartCount":0,)"
      R"("image":"x","imageID":"","state":{"waiting":{"reason":"ErrImagePull",)"
      R"("message":"no such image"}}}]}})",
      "status");
  const Instant before = w.cluster.env.loop.now();
  const auto waited = w.wait("demo");
  ASSERT_FALSE(waited);
  EXPECT_EQ(waited.error().message,
            "Ray cluster 'demo' did not make progress for 60s: Starting: pod " +
                heads.front().metadata.name + ", container ray-head: image " +
                heads.front().spec.containers.front().image +
                " is missing (ErrImagePull): no such image");
  EXPECT_GE(w.cluster.env.loop.now() - before, minutes(1));
  EXPECT_LT(w.cluster.env.loop.now() - before, minutes(2));
}

TEST(Clusters, a_container_that_is_started_again_and_again_is_no_progress) {
  World w({.wrappers = false, .kubelet = false});
  ASSERT_TRUE(w.create(small("demo")));
  w.cluster.settle(seconds(5));
  const auto heads = w.cluster.list<model::Pod>("default", "ray.io/node-type=head");
  ASSERT_EQ(heads.size(), 1u);
  const auto flap = [](World& world, std::string pod) -> Task<void> {
    for (int i = 0; i < 10; ++i) {
      const std::string state = i % 2 == 0
                                    ? R"("waiting":{"reason":"CrashLoopBackOff"},"running":null)"
                                    : R"("waiting":null,"running":{})";
      std::string body =
          R"({"status":{"containerStatuses":[{"name":"ray-head","ready":false,"restartCount":1,)"
          R"("image":"x","imageID":"","state":{)" +
          state + "}}]}}";
      CHECK(co_await world.cluster.client.patch(model::resource_type<model::Pod>(),
                                                {"default", pod}, kube::PatchKind::merge,
                                                std::move(body), {.subresource = "status"}));
      CHECK(co_await sleep_for(seconds(15)));
    }
  };
  TaskGroup group(w.cluster.env.loop);
  group.spawn(flap(w, heads.front().metadata.name));
  const auto waited = w.wait("demo", {.timeout = minutes(5)});
  ASSERT_FALSE(waited);
  EXPECT_EQ(waited.error().code, ErrorCode::failed_precondition) << waited.error().message;
  EXPECT_TRUE(run(w.cluster.env.loop, group.join()));
}

TEST(Clusters, ten_quiet_minutes_cost_five_requests_at_most) {
  World w({.cpus = 1});
  ASSERT_TRUE(w.create(small("demo")));
  w.cluster.settle(seconds(10));
  Counted counted(w.cluster.service());
  kube::Client client(w.cluster.env, counted);
  kube::Discovery discovery(client);
  Clusters clusters(client, discovery);
  const auto waited = w.await(clusters.wait({"default", "demo"}, {.timeout = minutes(10)}));
  EXPECT_EQ(waited.error().code, ErrorCode::deadline_exceeded);
  EXPECT_LE(counted.requests, 5);
}

}  // namespace
}  // namespace codeflare::sdk
