#pragma once

#include "apiserver/server/api_server.h"
#include "base/async/sleep.h"
#include "base/check.h"
#include "base/env/sim_env.h"
#include "base/log_capture.h"
#include "base/metrics.h"
#include "kube/client.h"
#include "net/in_process.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::controllers {

// An API server in virtual time and its administrator.
class ServerWorld {
 public:
  explicit ServerWorld(apiserver::ApiServer::Options::AdmissionFactory more_admission = {}) {
    Result<std::unique_ptr<apiserver::ApiServer>> started = *run(
        sim.env().loop, apiserver::ApiServer::start(sim.env(),
                                                    {.data_directory = "/data",
                                                     .durability = apiserver::Durability::memory,
                                                     .more_admission = std::move(more_admission)},
                                                    log.logger(sim.env().clock), metrics));
    CHECK(started.has_value());
    server = std::move(*started);
    service = std::make_unique<net::InProcessService>(server->service(), identity("admin"));
    client = std::make_unique<kube::Client>(sim.env(), *service);
    settle();
  }
  ~ServerWorld() { CHECK(run(sim.env().loop, server->stop({}))); }
  ServerWorld(const ServerWorld&) = delete;
  ServerWorld& operator=(const ServerWorld&) = delete;

  static net::Peer identity(std::string user) {
    std::vector<std::string> groups;
    if (user == "admin") {
      groups.emplace_back("system:masters");
    }
    return {.address = "test",
            .certificate =
                net::Peer::Certificate{.common_name = std::move(user), .organizations = groups}};
  }
  template <typename T>
  T wait(Task<T> task) {
    return *run(sim.env().loop, std::move(task));
  }
  // Lets the server do what it does by itself.
  void settle() { CHECK(run(sim.env().loop, sleep_for(std::chrono::seconds(1)))); }

  SimEnv sim;
  MetricsRegistry metrics;
  LogCapture log;
  std::unique_ptr<apiserver::ApiServer> server;
  std::unique_ptr<net::InProcessService> service;
  std::unique_ptr<kube::Client> client;
};

}  // namespace codeflare::controllers
