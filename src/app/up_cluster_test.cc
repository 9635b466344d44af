#include "app/up_cluster.h"

#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "base/env/sim_env.h"
#include "base/log_capture.h"
#include "kube/client.h"
#include "model/app_wrapper.h"
#include "model/codec/job.h"
#include "model/codec/pod.h"
#include "model/ray_cluster.h"
#include "model/resources.h"
#include "net/in_process.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace codeflare {
namespace {

using std::chrono::seconds;

// `codeflare up` without its socket, in virtual time.
class UpWorld {
 public:
  explicit UpWorld(std::size_t nodes = 2) {
    UpOptions options;
    options.server.data_directory = "/data";
    options.server.durability = apiserver::Durability::memory;
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

TEST(Up, runs_a_job_on_its_nodes) {
  UpWorld w;
  w.create<model::Job>(job("j", "1", 5, "30s"));
  w.settle(seconds(5));
  ASSERT_EQ(w.pods().size(), 5u);
  for (const model::Pod& pod : w.pods()) {
    EXPECT_TRUE(pod.spec.node_name.starts_with("codeflare-fake-"));
    EXPECT_EQ(pod.status.phase, "Running");
  }
  w.settle(seconds(40));
  EXPECT_EQ(w.get<model::Job>("j")->as<model::Job>()->status.succeeded, 5);
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

TEST(Up, brings_a_ray_cluster_up) {
  UpWorld w;
  const std::string container =
      R"("spec":{"containers":[{"name":"ray","image":"r","resources":{"requests":{"cpu":"1"}}}]})";
  w.create<model::RayCluster>(
      R"({"apiVersion":"ray.io/v1","kind":"RayCluster","metadata":{"name":"r"},"spec":{)"
      R"("headGroupSpec":{"rayStartParams":{},"template":{)" +
      container +
      R"(}},)"
      R"("workerGroupSpecs":[{"groupName":"g","replicas":3,"minReplicas":1,"maxReplicas":9,)"
      R"("rayStartParams":{},"template":{)" +
      container + "}}]}}");
  w.settle(seconds(10));
  EXPECT_EQ(w.get<model::RayCluster>("r")->string_at({"status", "state"}), "ready");
  EXPECT_EQ(w.pods().size(), 4u);
}

}  // namespace
}  // namespace codeflare
