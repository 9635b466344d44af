#include "up/cluster.h"

#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "base/env/sim_env.h"
#include "base/log_capture.h"
#include "controllers/appwrapper/queue_controllers.h"
#include "controllers/appwrapper/queue_lease.h"
#include "kube/client.h"
#include "model/app_wrapper.h"
#include "model/codec/app_wrapper.h"
#include "model/codec/job.h"
#include "model/codec/pod.h"
#include "model/ray_cluster.h"
#include "model/ray_job.h"
#include "model/resources.h"
#include "net/in_process.h"
#include "runtime/manager.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace codeflare::up {
namespace {

using std::chrono::seconds;

// Counts what is done by it.
class CountingBlocking final : public Blocking {
 public:
  explicit CountingBlocking(Blocking& real) : real_(real) {}
  void submit(Work work, Work done) override {
    ++count;
    real_.submit(std::move(work), std::move(done));
  }
  int count = 0;

 private:
  Blocking& real_;
};

// `codeflare up` without its socket, in virtual time.
class UpWorld {
 public:
  explicit UpWorld(std::size_t nodes = 2, UpOptions options = {}) {
    options.server.data_directory = "/data";
    options.server.durability = apiserver::Durability::memory;
    options.server_blocking = &server_blocking;
    options.nodes.count = nodes;
    options.nodes.cpus = model::Quantity(4);
    group_.spawn(go(std::move(options)));
    for (int i = 0; i < 100 && server_ == nullptr && !end_; ++i) {
      settle();
    }
    if (end_ && !*end_) {
      ADD_FAILURE() << end_->error().to_string();
    }
    CHECK(server_ != nullptr);
    service_ = std::make_unique<net::InProcessService>(
        server_->service(),
        net::Peer{.address = "test",
                  .certificate = net::Peer::Certificate{.common_name = "admin",
                                                        .organizations = {"system:masters"}}});
    client = std::make_unique<kube::Client>(env, *service_);
  }
  ~UpWorld() {
    stop_.request_stop();
    CHECK(run(env.loop, group_.join()));
    EXPECT_TRUE(end_ && *end_);
    for (const std::string& line : log.lines()) {
      EXPECT_FALSE(line.starts_with("ERROR") || line.contains("forbidden")) << line;
    }
  }
  UpWorld(const UpWorld&) = delete;
  UpWorld& operator=(const UpWorld&) = delete;

  net::HttpService& service() { return *service_; }
  void settle(Duration time = seconds(1)) { CHECK(run(env.loop, sleep(time))); }
  template <typename T>
  void create(std::string body) {
    auto made = *run(env.loop, client->create(model::resource_type<T>(), "default", body));
    ASSERT_TRUE(made) << made.error().to_string();
  }
  template <typename T>
  kube::ObjectRef get(std::string name) {
    auto found = *run(env.loop, client->get(model::resource_type<T>(), {"default", name}));
    EXPECT_TRUE(found) << found.error().to_string();
    return found ? *found : nullptr;
  }
  // As somebody else than the administrator; the error's text when rejected.
  std::string submit_as(std::string user, std::string body) {
    net::InProcessService service(
        server_->service(),
        net::Peer{.address = "test",
                  .certificate = net::Peer::Certificate{.common_name = std::move(user)}});
    kube::Client theirs(env, service);
    auto made = *run(env.loop, theirs.create(model::resource_type<model::AppWrapper>(), "default",
                                             std::move(body)));
    return made ? "" : made.error().message;
  }
  void create_raw(model::ResourceType type, std::string body) {
    auto made = *run(env.loop, client->create(type, type.namespaced ? "default" : "", body));
    ASSERT_TRUE(made) << made.error().to_string();
  }
  bool has(model::ResourceType type, std::string name) {
    return (*run(env.loop, client->get(type, {"default", name}))).has_value();
  }
  // The newest condition Failed; empty when it did not fail.
  std::string failure(std::string name) {
    const auto object = get<model::AppWrapper>(std::move(name));
    const auto wrapper = object->as<model::AppWrapper>();
    std::string message;
    for (const model::AppWrapperCondition& entry : wrapper->status.conditions) {
      if (entry.type == "Failed") {
        message = entry.message;
      }
    }
    return wrapper->status.state == "Failed" ? message : "";
  }
  std::vector<model::Pod> pods() {
    auto list = *run(env.loop, client->list(model::resource_type<model::Pod>(), {.ns = "default"}));
    std::vector<model::Pod> result;
    for (const kube::ObjectRef& pod : list->items) {
      result.push_back(*pod->as<model::Pod>());
    }
    return result;
  }

  SimEnv sim;
  Env env = sim.env();
  CountingBlocking server_blocking{env.blocking};
  MetricsRegistry metrics;
  LogCapture log;
  std::unique_ptr<kube::Client> client;

 private:
  static Task<void> sleep(Duration time) { static_cast<void>(co_await sleep_for(time)); }
  Task<void> go(UpOptions options) {
    end_ =
        co_await run_up(env, std::move(options), log.logger(env.clock, LogLevel::warn), metrics,
                        stop_.token(), [this](const UpReady& about) { server_ = &about.server; });
  }

  StopSource stop_;
  std::optional<Result<void>> end_;
  apiserver::ApiServer* server_ = nullptr;
  std::unique_ptr<net::InProcessService> service_;
  TaskGroup group_{env.loop};
};

std::string job(std::string name, std::string cpu, int pods, std::string duration) {
  const std::string count = std::to_string(pods);
  return R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":")" + name +
         R"("},"spec":{"parallelism":)" + count + R"(,"completions":)" + count +
         R"(,"template":{"metadata":{"annotations":{"codeflare.dev/duration":")" + duration +
         R"("}},"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"x",)"
         R"("resources":{"requests":{"cpu":")" +
         cpu + R"("}}}]}}}})";
}

std::string wrapped(std::string name, const std::string& item) {
  return R"({"apiVersion":"workload.codeflare.dev/v1beta1","kind":"AppWrapper","metadata":{"name":")" +
         name +
         R"("},"spec":{"resources":{"GenericItems":[{"replicas":1,"completionstatus":)"
         R"("Complete","generictemplate":)" +
         item + R"(}]}}})";
}

TEST(Up, writes_of_the_server_wait_for_nobody_elses_blocking_work) {
  UpWorld w;
  const int before = w.server_blocking.count;
  w.create_raw(model::resource_type<model::ConfigMap>(),
               R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}})");
  EXPECT_GT(w.server_blocking.count, before);
}

TEST(Up, runs_a_job_on_its_nodes) {
  UpWorld w;
  w.create<model::Job>(job("j", "1", 5, "30s"));
  w.settle(seconds(5));
  ASSERT_EQ(w.pods().size(), 5u);
  for (const model::Pod& pod : w.pods()) {
    EXPECT_TRUE(pod.spec.node_name.starts_with("codeflare-fake-"));
    EXPECT_EQ(pod.status.phase, "Running");
  }
  const model::Pod pod = w.pods().front();
  auto logs = *run(w.env.loop, w.client->raw({.target = "/api/v1/namespaces/default/pods/" +
                                                        pod.metadata.name + "/log"}));
  ASSERT_FALSE(logs);
  EXPECT_TRUE(logs.error().message.contains(
      "pod " + pod.metadata.name + " has no log: it is on the fake node " + pod.spec.node_name))
      << logs.error().message;
  w.settle(seconds(40));
  EXPECT_EQ(w.get<model::Job>("j")->as<model::Job>()->status.succeeded, 5);
}

TEST(Up, pods_of_fake_nodes_cannot_be_proxied_to) {
  UpWorld w;
  w.create<model::Pod>(
      R"({"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"x"}]}})");
  w.settle(seconds(5));
  ASSERT_FALSE(w.get<model::Pod>("a")->as<model::Pod>()->spec.node_name.empty());
  const auto answer = *run(
      w.env.loop, w.client->raw({.target = "/api/v1/namespaces/default/pods/a:80/proxy/metrics"}));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::unavailable);
  EXPECT_TRUE(answer.error().message.contains("pod a has no proxy: it is on the fake node"))
      << answer.error().message;
}

TEST(Up, wrapped_work_waits_for_room_without_pods_and_starts_when_there_is) {
  UpWorld w;
  w.create<model::AppWrapper>(wrapped("first", job("a", "4", 2, "60s")));
  w.settle(seconds(5));
  w.create<model::AppWrapper>(wrapped("second", job("b", "3", 2, "60s")));
  w.settle(seconds(5));
  EXPECT_EQ(w.get<model::AppWrapper>("first")->string_at({"status", "state"}), "Running");
  EXPECT_EQ(w.get<model::AppWrapper>("second")->string_at({"status", "state"}), "Pending");
  EXPECT_EQ(w.pods().size(), 2u);
  w.settle(seconds(60));
  EXPECT_EQ(w.get<model::AppWrapper>("first")->string_at({"status", "state"}), "Completed");
  EXPECT_EQ(w.get<model::AppWrapper>("second")->string_at({"status", "state"}), "Running");
  EXPECT_EQ(w.pods().size(), 4u);
  w.settle(seconds(90));
  EXPECT_EQ(w.get<model::AppWrapper>("second")->string_at({"status", "state"}), "Completed");
}

const model::ResourceType kRoles{"rbac.authorization.k8s.io", "v1", "Role", "roles", true};
const model::ResourceType kRoleBindings{"rbac.authorization.k8s.io", "v1", "RoleBinding",
                                        "rolebindings", true};

// ann may submit AppWrappers and do this besides.
void let_ann(UpWorld& w, const std::string& rules) {
  w.create_raw(kRoles, R"({"metadata":{"name":"submitter"},"rules":[{"verbs":["create"],
      "apiGroups":["workload.codeflare.dev"],"resources":["appwrappers"]},)" +
                           rules + "]}");
  w.create_raw(kRoleBindings, R"({"metadata":{"name":"ann"},"roleRef":{"apiGroup":
      "rbac.authorization.k8s.io","kind":"Role","name":"submitter"},"subjects":[{"kind":"User",
      "name":"ann","apiGroup":"rbac.authorization.k8s.io"}]})");
  w.settle();
}

TEST(Up, nobody_gets_rights_by_wrapping_what_grants_them) {
  UpWorld w;
  let_ann(w, R"({"verbs":["create"],"apiGroups":["rbac.authorization.k8s.io"],
                 "resources":["roles","rolebindings"]})");
  const std::string binding =
      R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding",
          "metadata":{"name":"mine"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io",
          "kind":"ClusterRole","name":"cluster-admin"},"subjects":[{"kind":"User","name":"ann",
          "apiGroup":"rbac.authorization.k8s.io"}]})";
  EXPECT_EQ(w.submit_as("ann", wrapped("rise", binding)), "");
  w.settle(seconds(5));
  EXPECT_TRUE(w.failure("rise").contains("ann")) << w.failure("rise");
  EXPECT_TRUE(w.failure("rise").contains("spec.resources.GenericItems[0]")) << w.failure("rise");
  EXPECT_FALSE(w.has(kRoleBindings, "mine"));
}

TEST(Up, rights_that_are_gone_when_it_starts_are_gone) {
  UpWorld w(1);
  let_ann(w, R"({"verbs":["create"],"apiGroups":["batch"],"resources":["jobs"]})");
  w.create<model::AppWrapper>(wrapped("first", job("a", "4", 1, "30s")));
  w.settle(seconds(2));
  EXPECT_EQ(w.submit_as("ann", wrapped("second", job("b", "4", 1, "30s"))), "");
  w.settle(seconds(2));
  ASSERT_TRUE(*run(w.env.loop, w.client->remove(kRoleBindings, {"default", "ann"})));
  w.settle(seconds(60));
  EXPECT_EQ(w.get<model::AppWrapper>("first")->string_at({"status", "state"}), "Completed");
  EXPECT_TRUE(w.failure("second").contains(R"(User "ann" cannot create resource "jobs")"))
      << w.failure("second");
}

// All that is wrong with AppWrappers, at once and ahead of one that is good.
TEST(Up, broken_work_is_refused_or_fails_with_the_reason_and_the_field_and_holds_up_nobody) {
  UpWorld w;
  let_ann(w, R"({"verbs":["create"],"apiGroups":["batch"],"resources":["jobs"]})");
  const auto refusal = [&](const std::string& user, const std::string& item) {
    return w.submit_as(user, wrapped("refused", item));
  };
  const auto refused_for = [](const std::string& said, std::string_view field,
                              std::string_view reason) {
    EXPECT_TRUE(said.contains(field)) << said;
    EXPECT_TRUE(said.contains(reason)) << said;
  };
  const std::string item = "spec.resources.GenericItems[0]";
  std::string negative = job("n", "1", 1, "1s");
  negative.replace(negative.find(R"("parallelism":1)"), 15, R"("parallelism":-1)");
  refused_for(refusal("ann", negative), item + ".generictemplate.spec.parallelism", "-1");
  refused_for(refusal("ann", job("q", "99999999999999999999999", 1, "1s")),
              item + ".generictemplate.spec.template", "cpu");
  refused_for(refusal("ann", job("q", "lots", 1, "1s")),
              item + ".generictemplate.spec.template.spec.containers[0].resources.requests", "cpu");
  std::string undecodable = job("u", "1", 1, "1s");
  undecodable.replace(undecodable.find(R"("containers":[)"), 14, R"("containers":["x",)");
  refused_for(refusal("ann", undecodable), item + ".generictemplate.spec.template.spec.containers",
              "expected");
  refused_for(refusal("ann", job(std::string(300, 'x'), "1", 1, "1s")),
              item + ".generictemplate.metadata.name", "253");
  refused_for(refusal("ann", R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"}})"),
              item, R"(user "ann" cannot create secrets)");
  refused_for(
      refusal("ann", R"({"apiVersion":"example.com/v1","kind":"What","metadata":{"name":"x"}})"),
      item, "does not serve");
  EXPECT_FALSE(w.has(model::resource_type<model::AppWrapper>(), "refused"));

  // The administrator may create everything; the server still rejects what it could not store.
  const auto rejection = [&](std::string object) {
    auto made = *run(w.env.loop, w.client->create(model::resource_type<model::AppWrapper>(),
                                                  "default", wrapped("wrong", object)));
    return made ? std::string() : made.error().message;
  };
  refused_for(rejection(R"({"apiVersion":"example.com/v1","kind":"What","metadata":{"name":"x"}})"),
              item + ".generictemplate.kind", "no kind What in example.com/v1");
  refused_for(
      rejection(
          R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m"},"data":{"bad key!":"x"}})"),
      item + ".generictemplate.data[bad key!]: Invalid value", "a valid config key");
  // Some problems only turn out when an object is created.
  w.create<model::AppWrapper>(wrapped("mine", job("same", "1", 1, "60s")));
  w.settle(seconds(2));
  w.create<model::AppWrapper>(wrapped("theirs", job("same", "1", 1, "60s")));
  EXPECT_EQ(w.submit_as("ann", wrapped("good", job("good", "1", 2, "20s"))), "");
  w.settle(seconds(40));
  EXPECT_TRUE(w.failure("theirs").contains(item)) << w.failure("theirs");
  EXPECT_TRUE(w.failure("theirs").contains("claimed by AppWrapper mine")) << w.failure("theirs");
  EXPECT_EQ(w.get<model::AppWrapper>("mine")->string_at({"status", "state"}), "Running");
  EXPECT_EQ(w.get<model::AppWrapper>("good")->string_at({"status", "state"}), "Completed");
}

const model::ResourceType kLeases{"coordination.k8s.io", "v1", "Lease", "leases", true};
const model::ObjectKey kLease{std::string(queue::kControllerNamespace),
                              std::string(controllers::kQueueLease)};

std::string holder(UpWorld& w) {
  const auto lease = *run(w.env.loop, w.client->get(kLeases, kLease));
  return lease ? std::string((*lease)->string_at({"spec", "holderIdentity"})) : "no Lease";
}

TEST(Up, holds_the_lease_of_the_queue_when_it_is_ready_and_keeps_it_from_others) {
  UpWorld w;
  EXPECT_TRUE(holder(w).starts_with("codeflare-up_")) << holder(w);
  const std::string before = holder(w);
  const auto stolen = *run(w.env.loop, w.client->patch(kLeases, kLease, kube::PatchKind::merge,
                                                       R"({"spec":{"holderIdentity":"thief"}})"));
  ASSERT_FALSE(stolen);
  EXPECT_EQ(stolen.error().code, ErrorCode::conflict);
  EXPECT_TRUE(stolen.error().message.contains("is reserved for this server"))
      << stolen.error().message;
  EXPECT_EQ(holder(w), before);
}

TEST(Up, makes_its_lease_again_when_somebody_deletes_it_or_its_namespace) {
  UpWorld w;
  const std::string before = holder(w);
  ASSERT_TRUE(*run(w.env.loop, w.client->remove(kLeases, kLease)));
  EXPECT_EQ(holder(w), "no Lease");
  w.settle(seconds(6));
  EXPECT_EQ(holder(w), before);
  ASSERT_TRUE(*run(w.env.loop,
                   w.client->remove(model::resource_type<model::Namespace>(), {"", kLease.ns})));
  w.settle(seconds(30));
  EXPECT_EQ(holder(w), before);
}

// The parts of `codeflare controller` against a cluster.
struct OutsideQueue {
  OutsideQueue(UpWorld& w, Logger logger)
      : client(w.env, w.service()),
        manager(w.env, client,
                {.name = "outside",
                 .leader = controllers::queue_candidate(w.env),
                 .logger = std::move(logger)}) {
    controllers::QueueControllersOptions options;
    options.queue.binds = queue::Binds::gangs;
    options.queue.user_check = false;
    options.ns = queue::kControllerNamespace;
    controllers::add_queue_controllers(manager, std::move(options));
  }
  Task<void> run() { end = co_await manager.run(); }

  kube::Client client;
  runtime::Manager manager;
  std::optional<Result<void>> end;
};

TEST(Up, a_second_controller_stands_by_and_no_quota_is_exceeded) {
  UpWorld w(8);
  w.create_raw({"quota.codeflare.dev", "v1alpha1", "QuotaSubtree", "quotasubtrees", true},
               R"({"metadata":{"name":"q","labels":{"tree":"team"}},"spec":{"children":[
                   {"name":"default","quotas":{"requests":{"cpu":16},"hardLimit":true}}]}})");
  w.settle();
  LogCapture log;
  OutsideQueue outside(w, log.logger(w.env.clock, LogLevel::info));
  TaskGroup group(w.env.loop);
  group.spawn(outside.run());
  for (int i = 0; i < 11; ++i) {
    const std::string name = "w" + std::to_string(i);
    w.create<model::AppWrapper>(wrapped(name, job(name, "2", 1, "10h")));
  }
  w.settle(seconds(120));
  std::size_t bound = 0;
  for (const model::Pod& pod : w.pods()) {
    bound += pod.spec.node_name.empty() ? 0 : 1;
  }
  EXPECT_EQ(bound, 8u) << "16 CPUs, 2 each";
  EXPECT_EQ(w.pods().size(), 8u);
  EXPECT_FALSE(outside.manager.leading());
  EXPECT_TRUE(log.has("leader=" + holder(w)));
  EXPECT_TRUE(run(w.env.loop, group.close()));
  EXPECT_TRUE(outside.end && outside.end->has_value());
}

// A head, and workers as wanted.
std::string ray_spec(std::string_view workers) {
  return R"({"headGroupSpec":{"rayStartParams":{},"template":{"spec":{"containers":[{"name":)"
         R"("ray","image":"r","resources":{"requests":{"cpu":"1"}}}]}}},"workerGroupSpecs":[)" +
         std::string(workers) + "]}";
}

const std::string kWorkers =
    R"({"groupName":"g","replicas":3,"minReplicas":1,"maxReplicas":9,"rayStartParams":{},)"
    R"("template":{"spec":{"containers":[{"name":"ray","image":"r","resources":{"requests":)"
    R"({"cpu":"1"}}}]}}})";

std::string ray_cluster() {
  return R"({"apiVersion":"ray.io/v1","kind":"RayCluster","metadata":{"name":"r"},"spec":)" +
         ray_spec(kWorkers) + "}";
}

TEST(Up, brings_a_ray_cluster_up) {
  UpWorld w;
  w.create<model::RayCluster>(ray_cluster());
  w.settle(seconds(10));
  EXPECT_EQ(w.get<model::RayCluster>("r")->string_at({"status", "state"}), "ready");
  EXPECT_EQ(w.pods().size(), 4u);
}

TEST(Up, leaves_ray_clusters_and_ray_jobs_to_others_when_asked_to) {
  UpOptions options;
  options.no_rayclusters = true;
  UpWorld w(2, std::move(options));
  w.create<model::RayCluster>(ray_cluster());
  w.create<model::RayJob>(
      R"({"apiVersion":"ray.io/v1","kind":"RayJob","metadata":{"name":"j"},"spec":{"entrypoint":)"
      R"("run","rayClusterSpec":)" +
      ray_spec("") + "}}");
  w.settle(std::chrono::minutes(2));
  EXPECT_TRUE(w.pods().empty());
  EXPECT_EQ(w.get<model::RayCluster>("r")->string_at({"status", "state"}), "");
  EXPECT_EQ(w.get<model::RayJob>("j")->string_at({"status", "jobDeploymentStatus"}), "");
}

}  // namespace
}  // namespace codeflare::up
