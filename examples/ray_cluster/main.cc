// A Ray cluster and a job from C++: queue the cluster, wait until it is ready, run a command on it,
// print its log, delete the cluster.
//   ray_cluster NAME COMMAND
#include "base/env/real_env.h"
#include "kube/client.h"
#include "kube/config.h"
#include "kube/connect.h"
#include "kube/discovery.h"
#include "sdk/clusters.h"
#include "sdk/jobs.h"

#include <iostream>
#include <string>
#include <utility>

namespace {

using namespace codeflare;

Task<Result<void>> print(std::string text) {
  std::cout << text << std::flush;
  co_return Result<void>();
}

Task<Result<bool>> run_job(sdk::Jobs& jobs, model::ObjectKey cluster, std::string command) {
  const sdk::JobTarget target{.cluster = std::move(cluster)};
  sdk::JobSpec spec{.name = "example", .command = std::move(command)};
  CO_TRY(co_await jobs.submit(target, std::move(spec)));
  CO_TRY_ASSIGN(const sdk::JobEnd end, co_await jobs.follow(target, "example", print));
  std::cout << "job " << progress_line(end.job) << "\n";
  co_return end.job.phase == sdk::JobPhase::succeeded;
}

Task<Result<bool>> run_example(Env env, kube::Connection& server, std::string name,
                               std::string command) {
  kube::Client client(env, server.service());
  kube::Discovery discovery(client);
  sdk::Clusters clusters(client, discovery);
  sdk::Jobs jobs(env, server.service(), client, discovery, {});
  const model::ObjectKey key{server.config().ns, std::move(name)};

  sdk::ClusterConfig config{.name = key.name, .num_workers = 1};
  config.head_memory_requests = config.head_memory_limits = "3G";
  config.worker_memory_requests = config.worker_memory_limits = "2G";
  CO_TRY_ASSIGN(json::Document manifest, co_await clusters.manifest_for(std::move(config)));
  CO_TRY(co_await clusters.create(std::move(manifest), key.ns));
  sdk::ClusterWait wait{.timeout = std::chrono::minutes(5),
                        .observer = [](const sdk::ClusterState& state) {
                          std::cout << progress_line(state) << "\n";
                        }};
  Result<bool> succeeded = false;
  const Result<sdk::ClusterInfo> ready = co_await clusters.wait(key, std::move(wait));
  if (ready) {
    succeeded = co_await run_job(jobs, key, std::move(command));
  }
  CO_TRY(co_await clusters.remove(key));
  CO_TRY(co_await clusters.wait(key, {.goal = sdk::ClusterGoal::deleted}));
  std::cout << "deleted\n";
  co_return ready ? std::move(succeeded) : Result<bool>(fail(ready.error()));
}

int report(const Error& error) {
  std::cerr << "error: " << error.to_string() << "\n";
  return 1;
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) {
    std::cerr << "usage: ray_cluster NAME COMMAND\n";
    return 2;
  }
  RealEnv world;
  Result<kube::Config> config = kube::load_config(world.env());
  if (!config) {
    return report(config.error());
  }
  const Result<std::unique_ptr<kube::Connection>> server =
      kube::connect(world.env(), *std::move(config));
  if (!server) {
    return report(server.error());
  }
  const std::optional<Result<bool>> done =
      run(world.env().loop, run_example(world.env(), **server, words[1], words[2]));
  if (!done || !*done) {
    return report(done ? done->error() : internal_error("nothing is left to wait for"));
  }
  return **done ? 0 : 1;
}
