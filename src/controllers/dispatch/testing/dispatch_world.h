#pragma once

#include "apiserver/server/api_server.h"
#include "base/async/task_group.h"
#include "base/env/sim_env.h"
#include "base/log_capture.h"
#include "base/metrics.h"
#include "controllers/appwrapper/queue_controllers.h"
#include "controllers/dispatch/cluster_links.h"
#include "kube/client.h"
#include "model/app_wrapper.h"
#include "model/training_job.h"
#include "net/in_process.h"
#include "net/sim_link.h"
#include "runtime/manager.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace codeflare::controllers::dispatch::testing {

inline const model::ResourceType kAppWrappers{"workload.codeflare.dev", "v1beta1", "AppWrapper",
                                              "appwrappers", true};
inline const model::ResourceType kTrainingJobs{"breezeml.ai", "v1", "TrainingJob", "trainingjobs",
                                               true};
inline const model::ResourceType kPods{"", "v1", "Pod", "pods", true};
inline const model::ResourceType kJobs{"batch", "v1", "Job", "jobs", true};
inline const model::ResourceType kNodes{"", "v1", "Node", "nodes", false};
inline const model::ResourceType kManagedClusters{"dispatch.codeflare.dev", "v1alpha1",
                                                  "ManagedCluster", "managedclusters", false};

// The way to a server that rejects some writes, as a webhook in trouble does.
class Gate final : public net::HttpService {
 public:
  explicit Gate(net::HttpService& target) : target_(target) {}
  Task<Result<net::Response>> send(net::Request request) override;

  std::string closed{};  // the end of the path of patches that fail; empty: none

 private:
  net::HttpService& target_;
};

// A cluster: an API server, and a program with controllers that can die and come back. Its
// kubeconfig is its name.
class Site {
 public:
  using Equip = std::function<void(runtime::Manager&)>;
  Site(Env env, std::string name, LogCapture& log, Equip equip);
  ~Site();
  Site(const Site&) = delete;
  Site& operator=(const Site&) = delete;

  const std::string& name() const { return name_; }
  void start();
  void kill();
  bool alive() const { return process_ != nullptr; }
  apiserver::ApiServer& server() { return *server_; }
  // The way of an administrator.
  net::HttpService& service() { return service_; }

  kube::ObjectRef create(const model::ResourceType& type, std::string body,
                         std::string ns = "default");
  void patch(const model::ResourceType& type, std::string name, std::string body,
             std::string subresource = {});
  void remove(const model::ResourceType& type, std::string name);
  kube::ObjectRef get(const model::ResourceType& type, std::string name);
  std::vector<kube::ObjectRef> list(const model::ResourceType& type);
  void add_nodes(std::size_t count, std::int64_t cpus);
  // One Job of `pods` pods with a CPU each that run for `seconds`.
  void submit(const std::string& name, int pods, int seconds = 5,
              const std::string& annotations = "", const std::string& spec = "");
  // Workers with a CPU each that run for `seconds`; `spec` begins with a bound: "\"minSize\":1,".
  void train(const std::string& name, const std::string& spec, int seconds = 7200,
             const std::string& annotations = "");
  model::TrainingJob training_job(const std::string& name);
  std::optional<model::AppWrapper> wrapper(const std::string& name);
  std::string state(const std::string& name);

 private:
  struct Process;
  Env env_;
  std::string name_;
  LogCapture& log_;
  Equip equip_;
  MetricsRegistry metrics_;
  std::unique_ptr<apiserver::ApiServer> server_;
  net::InProcessService service_;

 public:
  kube::Client admin;
  // Between its program and its server.
  Gate gate;
  net::SimLink link;

 private:
  std::unique_ptr<Process> process_;
};

// More controllers of a hub.
using HubMore = std::function<void(runtime::Manager&, QueueDriver&, ClusterLinks&)>;

// A hub and workers in one simulated world.
class DispatchWorld {
 public:
  struct Options {
    LinkOptions links{};
    Duration patience = std::chrono::seconds(30);
    std::size_t hub_nodes = 1;
    std::int64_t cpus = 4;  // of each node
    std::uint64_t seed = 1;
    bool preemption = false;
    bool training_jobs = false;  // are run, here and on workers
    // More controllers.
    std::function<void(const std::string&, runtime::Manager&, QueueDriver&)> equip_worker{};
    HubMore equip_hub{};
  };
  explicit DispatchWorld(std::vector<std::string> workers);
  DispatchWorld(std::vector<std::string> workers, Options options);
  ~DispatchWorld();

  // A Secret and a ManagedCluster; `spec` is JSON, `labels` too.
  void manage(const std::string& name, const std::string& spec = "{}",
              const std::string& labels = "{}");
  Site& worker(const std::string& name) { return *workers_.at(name); }
  // The hub's link to the worker's server.
  net::SimLink& road(const std::string& name) { return *roads_.at(name); }
  // On this link: rejects patches of the hub.
  Gate& gate(const std::string& name) { return *gates_.at(name); }
  void settle(Duration time = std::chrono::seconds(1));
  // The clusters, `local` too, that have a Job of this name.
  std::string where(const std::string& job);
  // "east 3 west 1": pods of this TrainingJob that have not ended.
  std::string workers_of(const std::string& training_job);

  SimEnv sim;
  Env env;
  LogCapture log;

 private:
  Options options_;

 public:
  std::unique_ptr<Site> hub;

 private:
  std::map<std::string, std::unique_ptr<Site>> workers_;
  std::map<std::string, std::unique_ptr<Gate>> gates_;
  std::map<std::string, std::unique_ptr<net::SimLink>> roads_;
};

// The controllers of a worker, and those of a hub.
std::shared_ptr<QueueDriver> equip_worker(runtime::Manager& manager, const Logger& logger,
                                          bool training_jobs = false);
std::shared_ptr<ClusterLinks> equip_hub(runtime::Manager& manager, LinkOptions links,
                                        QueueControllersOptions queue, const HubMore& more = {});

}  // namespace codeflare::controllers::dispatch::testing
