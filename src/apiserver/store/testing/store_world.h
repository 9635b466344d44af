#pragma once

#include "apiserver/store/memory_log.h"
#include "apiserver/store/store.h"
#include "apiserver/store/testing/held_blocking.h"
#include "base/async/task_group.h"
#include "base/env/sim_env.h"
#include "base/log_capture.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace codeflare::apiserver {

// A store on a disk in memory in a simulated world, with the commits under the test's control.
//   StoreWorld world; world.create("pods", "a"); world.blocking.hold(); ...
class StoreWorld {
 public:
  using LogFactory = std::function<std::unique_ptr<Log>()>;

  explicit StoreWorld(Store::Options options = {}, SimEnv::Options sim_options = {});
  // On another log than the disk in memory, which is opened now and at each reopening.
  StoreWorld(LogFactory open_log, Store::Options options, SimEnv::Options sim_options = {});
  ~StoreWorld();

  Env env();
  Store& store() { return *store_; }
  // As after a crash: the old store's log fails from now on, a new store opens on what was written.
  void crash_and_reopen();
  void close();
  void reopen();
  // Lets everything that can run do so, without letting much time pass.
  void settle_loop();

  template <typename T>
  T wait(Task<T> task) {
    std::optional<T> value = run(sim.env().loop, std::move(task));
    CHECK(value.has_value(), "the task waits for something that never happens");
    return *std::move(value);
  }
  void wait(Task<void> task) { CHECK(run(sim.env().loop, std::move(task))); }

  // Runs the task aside; the value is there when it has ended.
  template <typename T>
  std::shared_ptr<std::optional<T>> begin(Task<T> task) {
    auto value = std::make_shared<std::optional<T>>();
    tasks.spawn(keep(std::move(task), value));
    settle_loop();
    return value;
  }

  CollectionId id(std::string_view resource) { return store_->collection(resource); }
  Write creation(std::string_view resource, std::string name, std::string data = "1");
  Write update(const ObjectPtr& read, std::string data);
  Write removal(const ObjectPtr& read);
  Result<ObjectPtr> commit(Write write) { return wait(store_->commit(std::move(write))); }
  ObjectPtr create(std::string_view resource, std::string name, std::string data = "1");
  // "a@5 b@7": what a list shows, names with revisions.
  std::string list(std::string_view resource, Store::Range range = {});

  SimEnv sim;
  HeldBlocking blocking;
  std::shared_ptr<MemoryDisk> disk = std::make_shared<MemoryDisk>();
  MetricsRegistry metrics;
  LogCapture log;
  TaskGroup tasks;

 private:
  template <typename T>
  static Task<void> keep(Task<T> task, std::shared_ptr<std::optional<T>> value) {
    value->emplace(co_await std::move(task));
  }
  void open();

  LogFactory open_log_;
  Store::Options options_;
  std::unique_ptr<Store> store_;
};

// {"metadata":{"name":...,"namespace":...,"uid":...},"data":...}; "ns/name" gives both.
std::string object_text(std::string_view name, std::string_view data = "1");

}  // namespace codeflare::apiserver
