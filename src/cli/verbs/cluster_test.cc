#include "cli/verbs/cluster.h"

#include "base/base64.h"
#include "cli/testing/verb_world.h"
#include "cli/verbs/create.h"
#include "cli/verbs/internal/hub_account.h"
#include "cli/verbs/list.h"
#include "cli/verbs/top.h"
#include "cli/views/kinds.h"
#include "controllers/crds/ensure_crds.h"
#include "json/write.h"
#include "kube/kubeconfig.h"
#include "model/codec/managed_cluster.h"
#include "model/codec/training_job.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace codeflare::cli {
namespace {

using testing::VerbWorld;

std::string wrapper_on(const std::string& name, const std::string& node) {
  return "---\n"
         "apiVersion: workload.codeflare.dev/v1beta1\n"
         "kind: AppWrapper\n"
         "metadata: {name: " +
         name +
         "}\n"
         "spec: {resources: {GenericItems: [{generictemplate: {apiVersion: v1, kind: ConfigMap, "
         "metadata: {name: c}}}]}}\n"
         "status: {state: Running, canrun: true, plan: {places: [{podSet: 0, node: " +
         node + ", count: 1}]}}\n";
}

// A hub, and a worker beside it in the same virtual time.
class World : public VerbWorld {
 public:
  explicit World(bool worker_has_wrappers = true) {
    write("hub.yaml", testing::app_wrapper_crd() + "---\n" +
                          testing::app_wrapper_crd("managedclusters.dispatch.codeflare.dev"));
    EXPECT_EQ(verb([](Session& s) { return run_create(s, {.files = {"hub.yaml"}}); }), kDone)
        << console.err_text;
    auto started = run(
        sim.env().loop,
        apiserver::ApiServer::start(
            sim.env(), {.data_directory = "/worker", .durability = apiserver::Durability::memory},
            log_.logger(sim.env().clock), metrics_));
    CHECK(started.has_value() && started->has_value(), "a server");
    worker_ = *std::move(*started);
    service_ = as({"system:masters"}, "admin");
    client = std::make_unique<kube::Client>(sim.env(), *service_);
    config.server = "https://10.0.0.7:6443";
    config.tls.ca_pem = "authority";
    if (worker_has_wrappers) {
      const auto made = *run(sim.env().loop, controllers::ensure_crds(*client, {}));
      EXPECT_TRUE(made) << made.error().to_string();
    }
  }
  ~World() { CHECK(run(sim.env().loop, worker_->stop({})), "it stops"); }

  std::unique_ptr<net::InProcessService> as(std::vector<std::string> groups, std::string name) {
    return std::make_unique<net::InProcessService>(
        worker_->service(),
        net::Peer{.address = "test",
                  .certificate = net::Peer::Certificate{.common_name = std::move(name),
                                                        .organizations = std::move(groups)}});
  }
  int add(ClusterFlags flags) {
    return verb(
        [&](Session& s) { return add_cluster(s, {.client = *client, .config = config}, flags); });
  }
  std::string kubeconfig(const std::string& name) {
    std::string found;
    verb([&](Session& s) -> Task<int> {
      const model::ResourceType secrets{"", "v1", "Secret", "secrets", true};
      const auto secret = co_await s.client().get(secrets, {"codeflare-system", "cluster-" + name});
      found = secret ? from_base64((*secret)->string_at({"data", "kubeconfig"})).value_or("") : "";
      co_return 0;
    });
    return found;
  }

  // Of a ManagedCluster, as JSON or text.
  std::string field(const std::string& name, std::initializer_list<std::string_view> path) {
    std::string found;
    verb([&](Session& s) -> Task<int> {
      const auto cluster =
          co_await s.client().get(model::resource_type<model::ManagedCluster>(), {"", name});
      const auto document =
          cluster ? (*cluster)->parse() : Result<json::Document>(json::Document());
      const json::Value* value = document ? document->root.get(path) : nullptr;
      found = value == nullptr     ? ""
              : value->is_string() ? std::string(value->as_string())
                                   : json::to_text(*value);
      co_return 0;
    });
    return found;
  }

  std::unique_ptr<kube::Client> client;
  kube::Config config;

 private:
  MetricsRegistry metrics_;
  LogCapture log_;
  std::unique_ptr<apiserver::ApiServer> worker_;
  std::unique_ptr<net::InProcessService> service_;
};

TEST(ClusterVerb, add_makes_an_account_on_the_worker_and_a_cluster_on_the_hub) {
  World world;
  ASSERT_EQ(world.add({.name = "east", .labels = {"region=east"}, .cost = 2}), kDone)
      << world.console.err_text;
  const std::string& out = world.console.out_text;
  for (const char* line : {"worker: clusterrole codeflare-hub-east created\n",
                           "worker: clusterrolebinding codeflare-hub-east created\n",
                           "worker: serviceaccount codeflare-system/codeflare-hub-east created\n",
                           "worker: secret codeflare-system/codeflare-hub-east created\n",
                           "hub: secret codeflare-system/cluster-east created\n",
                           "hub: managedcluster east created\n", "cluster east added"}) {
    EXPECT_TRUE(out.contains(line)) << line << "\n" << out;
  }
  const std::string text = world.kubeconfig("east");
  const Result<kube::Kubeconfig> config = kube::parse_kubeconfig(text, "secret");
  ASSERT_TRUE(config) << text;
  EXPECT_EQ(config->clusters.front().server, "https://10.0.0.7:6443");
  ASSERT_FALSE(config->users.front().token.empty());
  EXPECT_FALSE(out.contains(config->users.front().token.reveal())) << "a secret is shown";
  // Again: nothing is made twice.
  ASSERT_EQ(world.add({.name = "east", .labels = {"region=east"}, .cost = 2}), kDone)
      << world.console.err_text;
  EXPECT_TRUE(world.console.out_text.contains("worker: clusterrole codeflare-hub-east unchanged"))
      << world.console.out_text;
  EXPECT_TRUE(world.console.out_text.contains("hub: managedcluster east unchanged"))
      << world.console.out_text;
}

TEST(ClusterVerb, add_rejects_wrong_names_labels_and_clusters) {
  World world(false);
  EXPECT_EQ(world.add({.name = "local"}), kUsage);
  EXPECT_TRUE(world.console.err_text.contains("means the hub's own cluster"))
      << world.console.err_text;
  EXPECT_EQ(world.add({.name = "East"}), kUsage);
  EXPECT_EQ(world.add({.name = "east", .labels = {"region"}}), kUsage);
  EXPECT_TRUE(world.console.err_text.contains("expected KEY=VALUE")) << world.console.err_text;
  EXPECT_NE(world.add({.name = "east"}), kDone);
  EXPECT_TRUE(world.console.err_text.contains("the worker does not serve AppWrappers"))
      << world.console.err_text;
  EXPECT_EQ(world.console.out_text, "") << "nothing is made";
  VerbWorld bare;
  EXPECT_NE(bare.verb([&](Session& s) {
    return add_cluster(s, {.client = s.client(), .config = world.config}, {.name = "east"});
  }),
            kDone);
  EXPECT_TRUE(bare.console.err_text.contains("does not serve ManagedClusters"))
      << bare.console.err_text;
  EXPECT_NE(world.verb([&](Session& s) {
    return add_cluster(s, {.client = s.client(), .config = world.config}, {.name = "east"});
  }),
            kDone);
  EXPECT_TRUE(world.console.err_text.contains("leads to the hub itself")) << world.console.err_text;
}

TEST(ClusterVerb, the_account_can_do_its_work_remove_itself_and_nothing_else) {
  World world;
  ASSERT_EQ(world.add({.name = "east"}), kDone) << world.console.err_text;
  const auto account = world.as({"system:serviceaccounts"},
                                "system:serviceaccount:codeflare-system:codeflare-hub-east");
  kube::Client hub(world.sim.env(), *account);
  const auto may = [&](const model::ResourceType& type, const std::string& ns) {
    return run(world.sim.env().loop, hub.list(type, {.ns = ns}))->has_value();
  };
  EXPECT_TRUE(may({"", "v1", "Node", "nodes", false}, ""));
  EXPECT_TRUE(may({"", "v1", "Pod", "pods", true}, ""));
  EXPECT_TRUE(may(app_wrapper_kind().type, ""));
  EXPECT_FALSE(may({"", "v1", "Secret", "secrets", true}, ""));
  EXPECT_FALSE(may({"", "v1", "ConfigMap", "configmaps", true}, "default"));
  const model::ResourceType leases{"coordination.k8s.io", "v1", "Lease", "leases", true};
  const model::ObjectKey lease{"codeflare-system", "codeflare-hub-east"};
  std::string sign = R"({"metadata":{"name":"codeflare-hub-east"}})";
  ASSERT_TRUE(*run(world.sim.env().loop, hub.create(leases, lease.ns, std::move(sign))));
  const Result<bool> gone = *run(world.sim.env().loop, internal::remove_hub_account(hub, "east"));
  ASSERT_TRUE(gone) << gone.error().to_string();
  EXPECT_TRUE(*gone);
  EXPECT_FALSE(*run(world.sim.env().loop, world.client->get(leases, lease)));
  static_cast<void>(run(world.sim.env().loop, sleep_for(std::chrono::seconds(5))));
  const model::ResourceType accounts{"", "v1", "ServiceAccount", "serviceaccounts", true};
  const auto left = *run(world.sim.env().loop,
                         world.client->get(accounts, {"codeflare-system", "codeflare-hub-east"}));
  EXPECT_FALSE(left) << "the account belongs to the role";
}

TEST(ClusterVerb, drain_and_remove_name_the_work_that_is_there) {
  World world;
  ASSERT_EQ(world.add({.name = "east"}), kDone) << world.console.err_text;
  world.write("work.yaml", wrapper_on("there", "east/n1") + wrapper_on("here", "n1"));
  ASSERT_EQ(world.verb([](Session& s) { return run_create(s, {.files = {"work.yaml"}}); }), kDone)
      << world.console.err_text;
  const auto with_status = [&](const std::string& name, const std::string& node) {
    return world.verb([&](Session& s) -> Task<int> {
      const auto done = co_await s.client().patch(
          app_wrapper_kind().type, {"default", name}, kube::PatchKind::merge,
          R"({"status":{"state":"Running","canrun":true,"plan":{"places":[{"podSet":0,"node":")" +
              node + R"(","count":1}]}}})",
          {.subresource = "status"});
      EXPECT_TRUE(done) << done.error().to_string();
      co_return kDone;
    });
  };
  with_status("there", "east/n1");
  with_status("here", "n1");
  world.write("train.yaml", testing::app_wrapper_crd("trainingjobs.breezeml.ai"));
  ASSERT_EQ(world.verb([](Session& s) { return run_create(s, {.files = {"train.yaml"}}); }), kDone);
  world.verb([](Session& s) -> Task<int> {
    const model::ResourceType type = model::resource_type<model::TrainingJob>();
    const auto made = co_await s.client().create(
        type, "default",
        R"({"metadata":{"name":"bert"},"spec":{"replicaSpecs":{"template":{"spec":{"containers":)"
        R"([{"name":"trainingjob","image":"i","resources":{"requests":{"cpu":"1"}}}]}}}}})");
    EXPECT_TRUE(made) << made.error().to_string();
    const auto done = co_await s.client().patch(
        type, {"default", "bert"}, kube::PatchKind::merge,
        R"({"status":{"stage":"Running","plan":{"places":[{"index":0,"node":"east/n1"}]}}})",
        {.subresource = "status"});
    EXPECT_TRUE(done) << done.error().to_string();
    co_return kDone;
  });
  EXPECT_EQ(world.verb([](Session& s) { return run_cluster_drain(s, {.name = "east"}); }), kDone);
  EXPECT_EQ(world.console.out_text,
            "cluster east gets no new work\n"
            "still there, until they end: default/there (Running), TrainingJob default/bert "
            "(Running)\n")
      << world.console.err_text;
  EXPECT_EQ(world.verb([](Session& s) { return run_list(s, {}); }), kDone);
  EXPECT_TRUE(world.console.out_text.contains("CLUSTER")) << world.console.out_text;
  EXPECT_TRUE(world.console.out_text.contains("east")) << world.console.out_text;
  EXPECT_TRUE(world.console.out_text.contains("local")) << world.console.out_text;
  EXPECT_NE(world.verb([](Session& s) { return run_cluster_remove(s, {.name = "east"}); }), kDone);
  EXPECT_TRUE(world.console.err_text.contains(
      "cluster east holds 1 AppWrapper and 1 TrainingJob: default/there (Running), TrainingJob "
      "default/bert (Running); run 'codeflare cluster drain"))
      << world.console.err_text;
  EXPECT_NE(world.verb([](Session& s) { return run_cluster_remove(s, {.name = "west"}); }), kDone);
  EXPECT_TRUE(world.console.err_text.contains("cluster \"west\" not found"))
      << world.console.err_text;
  EXPECT_EQ(world.verb([](Session& s) { return run_cluster_list(s, {}); }), kDone);
  EXPECT_TRUE(
      world.console.out_text.contains("\neast   unknown     0       0            0         "
                                      "yes "))
      << world.console.out_text;
  EXPECT_EQ(world.verb([](Session& s) { return run_top(s, {.what = "clusters"}); }), kDone)
      << world.console.err_text;
  EXPECT_TRUE(world.console.out_text.contains("\neast ")) << world.console.out_text;
  EXPECT_EQ(
      world.verb([](Session& s) { return run_cluster_drain(s, {.name = "east", .undo = true}); }),
      kDone);
  EXPECT_EQ(world.console.out_text, "cluster east gets new work again\n");
  EXPECT_EQ(
      world.verb([](Session& s) { return run_cluster_drain(s, {.name = "east", .evict = true}); }),
      kDone);
  EXPECT_TRUE(world.console.out_text.contains("queued again: default/there (Running), TrainingJob"))
      << world.console.out_text;
  EXPECT_EQ(world.field("east", {"spec", "evict"}), "true");
  // Nobody takes the finalizer away here: the warning comes before the wait.
  world.verb([](Session& s) { return run_cluster_remove(s, {.name = "east", .lost = true}); });
  EXPECT_TRUE(world.console.err_text.contains(
      "1 AppWrapper and 1 TrainingJob of the cluster will be queued again"))
      << world.console.err_text;
  EXPECT_TRUE(world.console.err_text.contains("default/there (Running)")) << world.console.err_text;
  EXPECT_TRUE(world.console.err_text.contains("run twice")) << world.console.err_text;
}

TEST(ClusterVerb, drain_waits_until_the_work_is_gone) {
  World world;
  ASSERT_EQ(world.add({.name = "east", .lost_after = "20m"}), kDone) << world.console.err_text;
  EXPECT_EQ(world.field("east", {"spec", "onLost"}), "Redispatch");
  EXPECT_EQ(world.field("east", {"spec", "lostAfter"}), "20m");
  EXPECT_EQ(world.add({.name = "east", .lost_after = "5s"}), kUsage);
  EXPECT_EQ(
      world.verb([](Session& s) { return run_cluster_drain(s, {.name = "east", .wait = true}); }),
      kDone);
  EXPECT_EQ(world.console.out_text,
            "cluster east gets no new work\nthe cluster has no AppWrappers\n");
}

}  // namespace
}  // namespace codeflare::cli
