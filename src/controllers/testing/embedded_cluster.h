#pragma once

#include "apiserver/server/api_server.h"
#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "base/check.h"
#include "base/env/sim_env.h"
#include "base/log_capture.h"
#include "base/metrics.h"
#include "kube/client.h"
#include "model/codec/codec.h"
#include "model/resources.h"
#include "net/in_process.h"
#include "runtime/manager.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::controllers::testing {

// A whole API server in virtual time with a manager beside it, called as an administrator.
//   EmbeddedCluster cluster; add_job_controller(cluster.manager); cluster.start();
//   cluster.create<model::Job>(R"({...})"); cluster.settle();
class EmbeddedCluster {
 public:
  EmbeddedCluster() : server_(start_server()), manager(env, client, {.name = "test"}) { settle(); }
  ~EmbeddedCluster() {
    CHECK(run(env.loop, group_.close()));
    CHECK(run(env.loop, server_->stop({})));
  }
  EmbeddedCluster(const EmbeddedCluster&) = delete;
  EmbeddedCluster& operator=(const EmbeddedCluster&) = delete;

  // Runs the manager; its controllers have been added before.
  void start() {
    group_.spawn(run_manager());
    settle();
  }
  void settle(Duration time = std::chrono::seconds(1)) { CHECK(run(env.loop, wait(time))); }

  template <typename T>
  kube::ObjectRef create(std::string body, std::string ns = "default") {
    const model::ResourceType type = model::resource_type<T>();
    auto made =
        *run(env.loop, client.create(type, type.namespaced ? std::move(ns) : "", std::move(body)));
    EXPECT_TRUE(made) << made.error().to_string();
    return made ? *made : nullptr;
  }
  // Null when there is none.
  template <typename T>
  kube::ObjectRef get(std::string name, std::string ns = "default") {
    auto found = *run(
        env.loop, client.get(model::resource_type<T>(), key_of<T>(std::move(ns), std::move(name))));
    return found ? *found : nullptr;
  }
  template <typename T>
  T read(std::string name, std::string ns = "default") {
    kube::ObjectRef object = get<T>(name, std::move(ns));
    if (object == nullptr) {
      ADD_FAILURE() << name << " is not there";
      return {};
    }
    Result<T> value = object->template as<T>();
    EXPECT_TRUE(value) << value.error().to_string();
    return value ? *std::move(value) : T();
  }
  template <typename T>
  std::vector<T> list(std::string ns = "default", std::string selector = {}) {
    kube::ListOptions options{.ns = model::ResourceTraits<T>::namespaced ? std::move(ns) : "",
                              .label_selector = std::move(selector)};
    auto objects = *run(env.loop, client.list(model::resource_type<T>(), std::move(options)));
    EXPECT_TRUE(objects) << objects.error().to_string();
    std::vector<T> items;
    for (const kube::ObjectRef& object :
         objects ? objects->items : std::vector<kube::ObjectRef>()) {
      items.push_back(*object->template as<T>());
    }
    return items;
  }
  // A merge patch.
  template <typename T>
  void patch(std::string name, std::string body, std::string subresource = {},
             std::string ns = "default") {
    auto done = *run(
        env.loop, client.patch(model::resource_type<T>(), key_of<T>(std::move(ns), std::move(name)),
                               kube::PatchKind::merge, std::move(body),
                               {.subresource = std::move(subresource)}));
    EXPECT_TRUE(done) << done.error().to_string();
  }
  template <typename T>
  void remove(std::string name, kube::DeleteOptions options = {}, std::string ns = "default") {
    auto done = *run(env.loop,
                     client.remove(model::resource_type<T>(),
                                   key_of<T>(std::move(ns), std::move(name)), std::move(options)));
    EXPECT_TRUE(done) << done.error().to_string();
  }

  // The way of an administrator to the server, for clients of one's own.
  net::HttpService& service() { return service_; }

  SimEnv sim;
  Env env = sim.env();
  MetricsRegistry metrics;
  LogCapture log;

 private:
  std::unique_ptr<apiserver::ApiServer> start_server() {
    auto started = *run(
        env.loop, apiserver::ApiServer::start(
                      env, {.data_directory = "/data", .durability = apiserver::Durability::memory},
                      log.logger(env.clock, LogLevel::warn), metrics));
    CHECK(started.has_value());
    return std::move(*started);
  }
  template <typename T>
  static model::ObjectKey key_of(std::string ns, std::string name) {
    return {model::ResourceTraits<T>::namespaced ? std::move(ns) : "", std::move(name)};
  }
  static Task<void> wait(Duration time) { static_cast<void>(co_await sleep_for(time)); }
  Task<void> run_manager() { static_cast<void>(co_await manager.run()); }

  std::unique_ptr<apiserver::ApiServer> server_;
  net::InProcessService service_{
      server_->service(),
      {.address = "test",
       .certificate =
           net::Peer::Certificate{.common_name = "admin", .organizations = {"system:masters"}}}};
  TaskGroup group_{env.loop};

 public:
  kube::Client client{env, service_};
  runtime::Manager manager;
};

}  // namespace codeflare::controllers::testing
