#include "controllers/dispatch/testing/dispatch_world.h"

#include "base/async/sleep.h"
#include "base/check.h"
#include "controllers/appwrapper/app_wrapper_object.h"
#include "controllers/appwrapper/queue_driver.h"
#include "controllers/crds/ensure_crds.h"
#include "controllers/dispatch/fence_guard.h"
#include "controllers/fakenode/fake_nodes.h"
#include "controllers/job/job_controller.h"
#include "controllers/trainingjob/training_controller.h"
#include "model/codec/training_job.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace codeflare::controllers::dispatch::testing {

using kube::ObjectRef;
using model::ResourceType;

namespace {

Task<void> wait(Duration time) {
  static_cast<void>(co_await sleep_for(time));
}

Task<void> run_manager(runtime::Manager& manager) {
  static_cast<void>(co_await manager.run());
}

net::Peer administrator() {
  return {.address = "test",
          .certificate =
              net::Peer::Certificate{.common_name = "admin", .organizations = {"system:masters"}}};
}

std::unique_ptr<apiserver::ApiServer> start_server(Env env, const std::string& name,
                                                   LogCapture& log, MetricsRegistry& metrics) {
  auto started = *run(
      env.loop,
      apiserver::ApiServer::start(
          env, {.data_directory = "/data-" + name, .durability = apiserver::Durability::memory},
          log.logger(env.clock, LogLevel::warn), metrics));
  CHECK(started.has_value());
  return std::move(*started);
}

model::ObjectKey key_of(const ResourceType& type, std::string name) {
  return {type.namespaced ? "default" : "", std::move(name)};
}

// The way to a server in this world.
class Road final : public kube::Connection {
 public:
  Road(net::HttpService& service, const std::string& name) : service_(service), host_(name) {
    config_.server = "https://" + name;
  }
  net::HttpService& service() override { return service_; }
  const kube::Config& config() const override { return config_; }
  const std::string& host() const override { return host_; }

 private:
  net::HttpService& service_;
  kube::Config config_;
  std::string host_;
};

}  // namespace

Task<Result<net::Response>> Gate::send(net::Request request) {
  const std::string_view path =
      std::string_view(request.target).substr(0, request.target.find('?'));
  if (request.method == "PATCH" && !closed.empty() && path.ends_with(closed)) {
    co_return net::make_response(500, "text/plain", Bytes::from("the gate is closed\n"));
  }
  co_return co_await target_.send(std::move(request));
}

struct Site::Process {
  Process(Env env, net::HttpService& service, const Logger& logger)
      : client(env, service),
        manager(env, client, {.name = "codeflare", .logger = logger}),
        group(env.loop) {}
  kube::Client client;
  runtime::Manager manager;
  TaskGroup group;
};

Site::Site(Env env, std::string name, LogCapture& log, Equip equip)
    : env_(env),
      name_(std::move(name)),
      log_(log),
      equip_(std::move(equip)),
      server_(start_server(env, name_, log, metrics_)),
      service_(server_->service(), administrator()),
      admin(env, service_),
      gate(service_),
      link(gate, env.random) {
  CHECK(run(env.loop, wait(std::chrono::seconds(1))));
  auto installed = *run(env.loop, ensure_crds(admin, {}));
  CHECK(installed.has_value(), "the CRDs cannot be installed");
}

Site::~Site() {
  if (process_) {
    kill();
  }
  CHECK(run(env_.loop, server_->stop({})));
}

void Site::start() {
  process_ = std::make_unique<Process>(env_, link, log_.logger(env_.clock));
  equip_(process_->manager);
  process_->group.spawn(run_manager(process_->manager));
}

void Site::kill() {
  CHECK(run(env_.loop, process_->group.close()));
  process_.reset();
}

ObjectRef Site::create(const ResourceType& type, std::string body, std::string ns) {
  auto made =
      *run(env_.loop, admin.create(type, type.namespaced ? std::move(ns) : "", std::move(body)));
  EXPECT_TRUE(made) << name_ << ": " << made.error().to_string();
  return made ? *made : nullptr;
}

void Site::patch(const ResourceType& type, std::string name, std::string body,
                 std::string subresource) {
  auto done =
      *run(env_.loop, admin.patch(type, key_of(type, std::move(name)), kube::PatchKind::merge,
                                  std::move(body), {.subresource = std::move(subresource)}));
  EXPECT_TRUE(done) << name_ << ": " << done.error().to_string();
}

void Site::remove(const ResourceType& type, std::string name) {
  auto done = *run(env_.loop, admin.remove(type, key_of(type, std::move(name))));
  EXPECT_TRUE(done) << name_ << ": " << done.error().to_string();
}

ObjectRef Site::get(const ResourceType& type, std::string name) {
  auto found = *run(env_.loop, admin.get(type, key_of(type, std::move(name))));
  return found ? *found : nullptr;
}

std::vector<ObjectRef> Site::list(const ResourceType& type) {
  auto found = *run(env_.loop, admin.list(type, {}));
  return found ? found->items : std::vector<ObjectRef>();
}

void Site::add_nodes(std::size_t count, std::int64_t cpus) {
  auto made = *run(env_.loop, fakenode::register_fake_nodes(
                                  admin, {.count = count, .cpus = model::Quantity(cpus)}));
  CHECK(made.has_value());
}

void Site::submit(const std::string& name, int pods, int seconds, const std::string& annotations,
                  const std::string& spec) {
  const std::string count = std::to_string(pods);
  create(kAppWrappers,
         R"({"apiVersion":"workload.codeflare.dev/v1beta1","kind":"AppWrapper","metadata":)"
         R"({"name":")" +
             name + R"(","annotations":{)" + annotations + R"(}},"spec":{)" + spec +
             R"("resources":{"GenericItems":[{"completionstatus":"Complete","generictemplate":)"
             R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":")" +
             name + R"("},"spec":{"parallelism":)" + count + R"(,"completions":)" + count +
             R"(,"template":{"metadata":{"annotations":{"codeflare.dev/duration":")" +
             std::to_string(seconds) +
             R"(s"}},"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i",)"
             R"("resources":{"requests":{"cpu":"1"}}}]}}}}}]}}})");
}

void Site::train(const std::string& name, const std::string& spec, int seconds,
                 const std::string& annotations) {
  create(
      kTrainingJobs,
      R"({"apiVersion":"breezeml.ai/v1","kind":"TrainingJob","metadata":{"name":")" + name +
          R"(","annotations":{)" + annotations + R"(}},"spec":{)" + spec +
          R"("replicaSpecs":{"template":{"metadata":{"annotations":{"codeflare.dev/duration":")" +
          std::to_string(seconds) +
          R"(s"}},"spec":{"containers":[{"name":"trainingjob","image":"i",)"
          R"("resources":{"requests":{"cpu":"1"},"limits":{"cpu":"1"}}}]}}}}})");
}

model::TrainingJob Site::training_job(const std::string& name) {
  const ObjectRef object = get(kTrainingJobs, name);
  return object == nullptr ? model::TrainingJob() : *object->as<model::TrainingJob>();
}

std::optional<model::AppWrapper> Site::wrapper(const std::string& name) {
  const ObjectRef object = get(kAppWrappers, name);
  if (object == nullptr) {
    return std::nullopt;
  }
  return *to_app_wrapper(*object);
}

std::string Site::state(const std::string& name) {
  const std::optional<model::AppWrapper> found = wrapper(name);
  return found ? found->status.state : "none";
}

namespace {

void add_training(runtime::Manager& manager, QueueDriver& driver,
                  trainingjob::RemoteOptions remote) {
  trainingjob::add_training_controller(manager, driver, {.scheduler_name = "codeflare"},
                                       std::move(remote));
}

}  // namespace

std::shared_ptr<QueueDriver> equip_worker(runtime::Manager& manager, const Logger& logger,
                                          bool training_jobs) {
  QueueControllersOptions options;
  options.queue.binds = queue::Binds::all;
  options.queue.user_check = false;
  options.training_jobs = training_jobs;
  options.trim_caches = false;
  options.logger = logger;
  std::shared_ptr<QueueDriver> driver = add_queue_controllers(manager, std::move(options));
  add_fence_guard(manager, {.training_jobs = training_jobs, .logger = logger});
  if (training_jobs) {
    add_training(manager, *driver, {});
  }
  job::add_job_controller(manager);
  fakenode::add_fake_node_controllers(manager);
  return driver;
}

std::shared_ptr<ClusterLinks> equip_hub(runtime::Manager& manager, LinkOptions links,
                                        QueueControllersOptions queue, const HubMore& more) {
  links.training_jobs = queue.training_jobs;
  auto made = add_links(manager, std::move(links));
  queue.queue.binds = queue::Binds::all;
  queue.queue.user_check = false;
  queue.trim_caches = false;
  queue.copies = made;
  const bool training_jobs = queue.training_jobs;
  const Duration patience = queue.machine.dispatch_patience;
  const std::shared_ptr<QueueDriver> driver = add_queue_controllers(manager, std::move(queue));
  start_links(manager, made, driver);
  if (more) {
    more(manager, *driver, *made);
  }
  add_fence_guard(manager, {.training_jobs = training_jobs});
  if (training_jobs) {
    add_training(manager, *driver, {.copies = made, .patience = patience});
  }
  job::add_job_controller(manager);
  fakenode::add_fake_node_controllers(manager);
  return made;
}

DispatchWorld::DispatchWorld(std::vector<std::string> workers)
    : DispatchWorld(std::move(workers), Options{}) {}

DispatchWorld::DispatchWorld(std::vector<std::string> workers, Options options)
    : sim({.seed = options.seed}), env(sim.env()), options_(std::move(options)) {
  const Connector connect =
      [this](Env, const std::string& kubeconfig,
             const std::string& origin) -> Result<std::unique_ptr<kube::Connection>> {
    const auto road = roads_.find(kubeconfig);
    if (road == roads_.end()) {
      return fail(invalid_argument(origin + ": no server"));
    }
    return std::make_unique<Road>(*road->second, kubeconfig);
  };
  hub = std::make_unique<Site>(env, "hub", log, [this, connect](runtime::Manager& manager) {
    LinkOptions links = options_.links;
    links.connect = connect;
    links.logger = log.logger(env.clock);
    QueueControllersOptions queue;
    queue.machine.dispatch_patience = options_.patience;
    queue.queue.core.preemption = options_.preemption;
    queue.training_jobs = options_.training_jobs;
    queue.logger = log.logger(env.clock);
    equip_hub(manager, std::move(links), std::move(queue), options_.equip_hub);
  });
  hub->add_nodes(options_.hub_nodes, options_.cpus);
  hub->create({"", "v1", "Namespace", "namespaces", false},
              R"({"metadata":{"name":"codeflare-system"}})");
  for (const std::string& name : workers) {
    auto site = std::make_unique<Site>(env, name, log, [this, name](runtime::Manager& manager) {
      const std::shared_ptr<QueueDriver> driver =
          equip_worker(manager, log.logger(env.clock), options_.training_jobs);
      if (options_.equip_worker) {
        options_.equip_worker(name, manager, *driver);
      }
    });
    site->add_nodes(1, options_.cpus);
    site->start();
    Gate& gate = *gates_.emplace(name, std::make_unique<Gate>(site->service())).first->second;
    roads_.emplace(name, std::make_unique<net::SimLink>(gate, env.random));
    workers_.emplace(name, std::move(site));
  }
  hub->start();
  settle();
}

DispatchWorld::~DispatchWorld() {
  if (::testing::Test::HasFailure()) {
    const std::vector<std::string>& lines = log.lines();
    for (std::size_t i = lines.size() - std::min<std::size_t>(lines.size(), 200); i < lines.size();
         ++i) {
      std::printf("%s\n", lines[i].c_str());
    }
  }
  if (hub->alive()) {
    hub->kill();
  }
  for (auto& [name, site] : workers_) {
    if (site->alive()) {
      site->kill();
    }
  }
}

void DispatchWorld::manage(const std::string& name, const std::string& spec,
                           const std::string& labels) {
  hub->create({"", "v1", "Secret", "secrets", true},
              R"({"metadata":{"name":"cluster-)" + name + R"("},"stringData":{"kubeconfig":")" +
                  name + R"("}})",
              "codeflare-system");
  hub->create(kManagedClusters, R"({"metadata":{"name":")" + name + R"(","labels":)" + labels +
                                    R"(},"spec":)" + spec + "}");
}

void DispatchWorld::settle(Duration time) {
  CHECK(run(env.loop, wait(time)));
}

std::string DispatchWorld::where(const std::string& job) {
  std::string text = hub->get(kJobs, job) == nullptr ? "" : "local";
  for (auto& [name, site] : workers_) {
    if (site->get(kJobs, job) != nullptr) {
      text += (text.empty() ? "" : " ") + name;
    }
  }
  return text;
}

std::string DispatchWorld::workers_of(const std::string& training_job) {
  std::map<std::string, Site*> sites{{"local", hub.get()}};
  for (auto& [name, site] : workers_) {
    sites.emplace(name, site.get());
  }
  std::string text;
  for (auto& [name, site] : sites) {
    const auto count = std::ranges::count_if(site->list(kPods), [&](const ObjectRef& pod) {
      const std::string phase = pod->string_at({"status", "phase"});
      return pod->string_at({"metadata", "labels", "breezeml.ai/job"}) == training_job &&
             phase != "Succeeded" && phase != "Failed";
    });
    if (count > 0) {
      text += (text.empty() ? "" : " ") + name + " " + std::to_string(count);
    }
  }
  return text;
}

}  // namespace codeflare::controllers::dispatch::testing
