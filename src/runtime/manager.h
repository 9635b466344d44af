#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "kube/client.h"
#include "runtime/cache.h"
#include "runtime/client_actor.h"
#include "runtime/controller.h"
#include "runtime/event_recorder.h"
#include "runtime/leader_elector.h"
#include "runtime/work_queue.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::runtime {

struct ManagerOptions {
  std::string name;  // component name in events, logs and the default Lease
  // Without it every replica works. Its logger is the one below.
  std::optional<LeaderOptions> leader{};
  // Serves /healthz, /readyz and /metrics; empty: not at all. "127.0.0.1:0" picks a port.
  std::string health_address{};
  // One line that /readyz adds to its answer while it is ready; may be empty.
  std::function<std::string()> ready_note{};
  Logger logger{};
  MetricsRegistry* metrics = nullptr;
};

// Wakes keys of a controller for reasons that no watch of it knows. Copies are cheap; it does
// nothing before the controller is wired and must not outlive the manager.
class Waker {
 public:
  void wake(const ObjectKey& key) const {
    if (*queue_ != nullptr) {
      (*queue_)->add(key);
    }
  }
  // Keys that wait for a worker or are with one.
  std::size_t unfinished() const {
    return *queue_ == nullptr ? 0 : (*queue_)->depth() + (*queue_)->in_work();
  }
  // For the builder.
  void attach(WorkQueue& queue) { *queue_ = &queue; }

 private:
  std::shared_ptr<WorkQueue*> queue_ = std::make_shared<WorkQueue*>(nullptr);
};

// The parts of a reconciler.
struct ControllerContext {
  Env env;
  kube::Client& client;
  Cache& cache;
  Actor& actor;
  Informer& subject;  // the informer of the reconciled kind
  Waker waker{};
};

// A process full of controllers: shared caches, events, leadership, health and metrics, and an
// orderly end: controllers first, then the Lease, then everything else.
//   Manager manager(env, client, {.name = "hello"});
//   manager.controller("greetings").reconciles(kGreetings).owns(kConfigMaps).with<Hello>();
//   Result<void> end = co_await manager.run();
class Manager {
 public:
  Manager(Env env, kube::Client& client, ManagerOptions options);
  ~Manager();
  Manager(const Manager&) = delete;
  Manager& operator=(const Manager&) = delete;

  Cache& cache() { return cache_; }
  EventRecorder& events() { return events_; }
  Env env() const { return env_; }
  kube::Client& client() { return client_; }

  class Builder;
  Builder controller(std::string name);
  // Work beside the controllers: begins when we lead, is stopped with them. Owns what it captures
  // for as long as the manager lives. It waits for the caches it needs itself.
  void add_work(std::function<Task<void>()> work);
  // Whether controllers and work that are added from here on wait for leadership (at first they
  // do) or run whoever leads.
  void only_while_leading(bool led) { led_ = led; }

  // Until stopped (ok) or until leadership is lost (an error; the process should end then).
  Task<Result<void>> run();

  // Whether our controllers may be at work: always without leader election.
  bool leading() const { return leading_; }
  // For health checks: ready when the caches are and nothing keeps us from ever leading.
  std::string why_not_ready() const;
  // The port behind health_address, once run() has begun.
  std::optional<int> health_port() const { return health_port_; }

 private:
  struct Entry {
    std::unique_ptr<ClientActor> actor;
    std::unique_ptr<Controller> controller;
    bool led = true;  // runs only while we lead
  };
  struct Work {
    std::function<Task<void>()> run;
    bool led = true;
  };
  Task<void> run_controllers(bool led, StopToken abort);
  bool has_unled() const;
  void set_leading(bool leading);
  void show_leading(bool leading);

  Env env_;
  kube::Client& client_;
  ManagerOptions options_;
  Cache cache_;
  EventRecorder events_;
  std::vector<Work> work_;
  std::vector<Entry> controllers_;
  std::optional<int> health_port_;
  const LeaderElector* elector_ = nullptr;  // while run() has one
  bool leading_ = false;
  bool led_ = true;  // of what is added next
};

// Collects what a controller watches; with<R>() makes it.
class Manager::Builder {
 public:
  Builder(Manager& manager, std::string name);

  // The kind whose keys are reconciled; comes first.
  Builder& reconciles(const ResourceType& type, Predicate predicate = {},
                      InformerOptions options = {});
  // Objects that the reconciled kind controls: a change wakes their owner.
  Builder& owns(const ResourceType& type, Predicate predicate = {}, InformerOptions options = {});
  // Other objects: map_function.h has the usual ways to their keys, predicate.h to leave out what
  // does not concern them; both are plain functions.
  Builder& watches(const ResourceType& type, MapFunction map, Predicate predicate = {},
                   InformerOptions options = {});
  // Objects that the reconciler follows by itself, such as by an Index: no change wakes anybody.
  Builder& follows(const ResourceType& type, InformerOptions options = {});
  Builder& workers(int count);
  // How soon failed keys are tried again.
  Builder& retries(WorkQueueOptions options);

  // R(ControllerContext, arguments...). The reference lives as long as the manager.
  template <typename R, typename... Arguments>
  R& with(Arguments&&... arguments) {
    auto reconciler = std::make_unique<R>(context(), std::forward<Arguments>(arguments)...);
    R& reference = *reconciler;
    finish(std::move(reconciler));
    return reference;
  }

 private:
  struct Watch {
    Informer* informer;
    MapFunction map;
    Predicate predicate;
  };
  ControllerContext context();
  void finish(std::unique_ptr<Reconciler> reconciler);

  Manager& manager_;
  ControllerOptions options_;
  std::optional<ResourceType> subject_;
  std::vector<Watch> watches_;
  std::unique_ptr<ClientActor> actor_;
  Waker waker_;
};

inline Manager::Builder Manager::controller(std::string name) {
  return Builder(*this, std::move(name));
}

}  // namespace codeflare::runtime
