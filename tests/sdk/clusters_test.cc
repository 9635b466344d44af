#include "sdk/clusters.h"

#include "base/async/sleep.h"
#include "controllers/appwrapper/queue_controllers.h"
#include "controllers/crds/ensure_crds.h"
#include "controllers/fakenode/fake_nodes.h"
#include "controllers/raycluster/raycluster_controller.h"
#include "controllers/testing/embedded_cluster.h"
#include "json/parse.h"
#include "json/write.h"
#include "model/codec/app_wrapper.h"
#include "model/codec/pod.h"
#include "model/codec/ray_cluster.h"
#include "sdk/cluster_manifest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

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
    controllers::raycluster::add_raycluster_controller(cluster.manager, nullptr);
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
            "Ray cluster 'demo' not found in namespace 'default'; 'codeflare list raycluster "
            "--all' shows all Ray clusters");
}

// A kind of another product, with any content.
void serve_kind(World& w, const std::string& plural, const std::string& group,
                const std::string& kind) {
  const model::ResourceType crds = model::resource_type<model::CustomResourceDefinition>();
  std::string lower = kind;
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  const std::string body =
      R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":")" +
      plural + "." + group +
      R"(","annotations":{"api-approved.kubernetes.io":"unapproved, for a test"}},"spec":{"group":")" +
      group + R"(","scope":"Namespaced","names":{)" + R"("plural":")" + plural +
      R"(","singular":")" + lower + R"(","kind":")" + kind +
      R"("},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":)" +
      R"({"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}})";
  const auto made = w.await(w.cluster.client.create(crds, "", body));
  ASSERT_TRUE(made) << made.error().message;
  // Discovery does not ask again at once.
  ASSERT_TRUE(w.await(sleep_for(seconds(30))));
}

TEST(Clusters, expose_the_dashboard_by_what_the_server_has) {
  World w;
  ClusterConfig config = small("demo");
  config.expose = true;
  const auto object = [&]() -> std::string {
    const auto manifest = w.await(w.clusters.manifest_for(config));
    if (!manifest) {
      return manifest.error().message;
    }
    const json::Value* items = manifest->root.get({"spec", "resources", "GenericItems"});
    const json::Value* beside = items->items()[1].find("generictemplate");
    return std::string(beside->string_or_empty("kind")) + " " +
           json::to_text(*beside->find("spec"));
  };
  EXPECT_TRUE(object().starts_with("expose_host: is missing for Ray cluster 'demo'")) << object();
  config.expose_host = "demo.example.com";
  EXPECT_TRUE(object().starts_with("Ingress {\"tls\":[{\"hosts\":[\"demo.example.com\"]}]"))
      << object();

  serve_kind(w, "httproutes", "gateway.networking.k8s.io", "HTTPRoute");
  serve_kind(w, "gateways", "gateway.networking.k8s.io", "Gateway");
  EXPECT_TRUE(object().starts_with("Ingress ")) << object();  // no Gateway has TLS
  const model::ResourceType gateways{"gateway.networking.k8s.io", "v1", "Gateway", "gateways",
                                     true};
  const auto gateway = [&](const std::string& name) {
    const std::string body =
        R"({"apiVersion":"gateway.networking.k8s.io/v1","kind":"Gateway","metadata":{"name":")" +
        name + R"("},"spec":{"listeners":[{"name":"web","protocol":"HTTP"},)" +
        R"({"name":"secure","protocol":"HTTPS"}]}})";
    ASSERT_TRUE(w.await(w.cluster.client.create(gateways, "default", body)));
  };
  gateway("main");
  EXPECT_TRUE(
      object().starts_with("HTTPRoute {\"parentRefs\":[{\"name\":\"main\",\"namespace\":"
                           "\"default\",\"sectionName\":\"secure\"}]"))
      << object();
  gateway("other");
  EXPECT_TRUE(
      object().starts_with("expose_gateway: is missing for Ray cluster 'demo': 2 fit "
                           "(default/main/secure, default/other/secure)"))
      << object();

  serve_kind(w, "routes", "route.openshift.io", "Route");
  config.expose_host.clear();
  EXPECT_TRUE(object().starts_with("Route {\"to\":{\"name\":\"demo-head-svc\"")) << object();
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

// A cluster of `config` that runs, and the fields in which it differs from a changed configuration.
struct Differences {
  explicit Differences(ClusterConfig config) : has(std::move(config)) {
    const auto made = info_of_manifest(cluster_manifest(has));
    EXPECT_TRUE(made) << made.error().message;
    info = *made;
    info.objects.ray = wrapped_cluster(*info.objects.wrapper);
  }
  template <typename Change>
  std::string after(Change change) const {
    ClusterConfig wanted = has;
    change(wanted);
    std::string names;
    for (const std::string& field : changed_fields(info, wanted)) {
      names += (names.empty() ? "" : ", ") + field;
    }
    return names;
  }

  ClusterConfig has;
  ClusterInfo info;
};

TEST(Clusters, differences_have_names) {
  ClusterConfig config = small("demo");
  config.queueing = Queueing::appwrapper;
  const Differences bare(config);
  using C = ClusterConfig;
  EXPECT_EQ(bare.after([](C&) {}), "");
  EXPECT_EQ(bare.after([](C& c) { c.priority = 9; }), "priority");
  EXPECT_EQ(bare.after([](C& c) { c.max_seconds = 60; }), "max_time");
  EXPECT_EQ(bare.after([](C& c) { c.quota_labels = {{"team", "gold"}}; }), "quota_labels");
  EXPECT_EQ(bare.after([](C& c) { c.queueing = Queueing::none; }), "queueing");
  EXPECT_EQ(bare.after([](C& c) { c.volumes.text = R"([{"name":"v","emptyDir":{}}])"; }),
            "settings of the head, settings of the workers");
  EXPECT_EQ(bare.after([](C& c) { c.head_pod_overrides.text = R"({"hostNetwork":true})"; }),
            "settings of the head");
  EXPECT_EQ(bare.after([](C& c) {
    c.num_workers = 2;
    c.worker_pod_overrides.text = R"({"hostNetwork":true})";
  }),
            "num_workers, settings of the workers");
  EXPECT_EQ(bare.after([](C& c) {
    c.expose = true;
    c.insecure_dashboard = true;
    c.expose_host = "a.example.com";
  }),
            "expose");

  config.priority = 3;
  config.max_seconds = 60;
  config.quota_labels = {{"team", "gold"}};
  config.expose = true;
  config.expose_kind = "ingress";
  config.expose_host = "a.example.com";
  config.expose_tls_secret = "tls";
  const Differences full(config);
  EXPECT_EQ(full.after([](C&) {}), "");
  EXPECT_EQ(full.after([](C& c) { c.priority.reset(); }), "priority");
  EXPECT_EQ(full.after([](C& c) { c.max_seconds = 0; }), "max_time");
  EXPECT_EQ(full.after([](C& c) { c.quota_labels.clear(); }), "quota_labels");
  EXPECT_EQ(full.after([](C& c) { c.expose_tls_secret = "other"; }), "expose_tls_secret");
  EXPECT_EQ(full.after([](C& c) {
    c.expose_kind = "httproute";
    c.expose_gateway = "a/b";
  }),
            "expose_kind, expose_tls_secret, expose_gateway");
}

TEST(Clusters, the_same_amount_in_other_words_is_no_difference) {
  ClusterConfig config = small("demo");
  config.queueing = Queueing::appwrapper;
  const std::string text = json::to_text(cluster_manifest(config).root);
  std::string other = text;
  for (std::size_t at = 0; (at = other.find(R"("cpu":"1")", at)) != std::string::npos;) {
    other.replace(at, 9, R"("cpu":1)");
  }
  ASSERT_NE(other, text);
  const auto info = [](const std::string& manifest) {
    return info_of_manifest(json::parse(manifest).value()).value();
  };
  EXPECT_EQ(changed_fields(info(other), info(text)), std::vector<std::string>());
}

TEST(Clusters, applying_changes_the_priority_in_place_and_names_the_rest) {
  World w;
  ASSERT_TRUE(w.create(small("demo")));
  ASSERT_TRUE(w.wait("demo"));
  const auto priority = [&] {
    return w.await(w.clusters.get({"default", "demo"}))->objects.wrapper->spec.priority;
  };
  ClusterConfig higher = small("demo");
  higher.priority = 9;
  EXPECT_EQ(w.await(w.clusters.apply(higher, "default", false)), Applied::changed);
  EXPECT_EQ(priority(), 9);
  EXPECT_EQ(w.await(w.clusters.apply(higher, "default", false)), Applied::unchanged);
  higher.num_workers = 2;
  higher.priority = 4;
  EXPECT_EQ(w.await(w.clusters.apply(higher, "default", false)), Applied::changed);
  EXPECT_EQ(priority(), 4);
  EXPECT_EQ(w.await(w.clusters.get({"default", "demo"}))->state.workers_wanted, 2);
  higher.priority = 5;
  higher.max_seconds = 60;
  const auto rejected = w.await(w.clusters.apply(higher, "default", false));
  ASSERT_FALSE(rejected);
  EXPECT_EQ(rejected.error().message,
            "Ray cluster 'demo' exists and differs in priority, max_time; delete it first, or "
            "apply with force to queue it anew");
  EXPECT_EQ(priority(), 4);  // nothing was changed
}

TEST(Clusters, have_the_priority_of_their_priority_class) {
  World w;
  const model::ResourceType classes{"scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses",
                                    false};
  ASSERT_TRUE(w.await(w.cluster.client.create(
      classes, "",
      R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"high"},)"
      R"("value":1000})")));
  ClusterConfig config = small("demo");
  config.priority_class = "high";
  ASSERT_TRUE(w.create(config));
  const auto priority = [&](const std::string& name) {
    return w.await(w.clusters.get({"default", name}))->objects.wrapper->spec.priority;
  };
  EXPECT_EQ(priority("demo"), 1000);
  EXPECT_EQ(w.await(w.clusters.apply(config, "default", false)), Applied::unchanged);
  config.priority = 0;  // counts, whatever the class says
  EXPECT_EQ(w.await(w.clusters.apply(config, "default", false)), Applied::changed);
  EXPECT_EQ(priority("demo"), 0);
  ClusterConfig unknown = small("other");
  unknown.priority_class = "nobodys";
  EXPECT_EQ(w.create(unknown).error().message,
            "priority_class: PriorityClass 'nobodys' not found; create it, or name another one");
}

TEST(Clusters, definitions_are_applied_as_they_stand) {
  World w;
  ClusterConfig config = small("demo");
  config.queueing = Queueing::appwrapper;
  const auto apply = [&](bool force) {
    return w.await(w.clusters.apply(cluster_manifest(config), "default", force));
  };
  EXPECT_EQ(apply(false), Applied::created);
  EXPECT_EQ(apply(false), Applied::unchanged);
  ASSERT_TRUE(w.wait("demo"));
  config.num_workers = 2;
  EXPECT_EQ(apply(false), Applied::scaled);
  config.head_pod_overrides.text = R"({"hostNetwork":true})";
  const auto rejected = apply(false);
  ASSERT_FALSE(rejected);
  EXPECT_TRUE(rejected.error().message.contains("differs in settings of the head;"))
      << rejected.error().message;
  EXPECT_EQ(apply(true), Applied::recreated);
}

TEST(Clusters, without_an_app_wrapper_there_is_no_priority) {
  World w({.wrappers = false});
  ASSERT_TRUE(w.create(small("demo")));
  const auto change = w.await(w.clusters.prioritize({"default", "demo"}, 1));
  ASSERT_FALSE(change);
  EXPECT_EQ(change.error().message,
            "Ray cluster 'demo' is not in an AppWrapper, so it has no priority in the queue");
  EXPECT_EQ(w.await(w.clusters.apply(small("demo"), "default", false)), Applied::unchanged);
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
