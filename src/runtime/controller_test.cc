#include "runtime/controller.h"

#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "base/env/sim_env.h"
#include "base/log_capture.h"
#include "kube/testing/scripted_service.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::runtime {
namespace {

using namespace std::chrono_literals;

const ResourceType kPods{"", "v1", "Pod", "pods", true};

std::string pod(const std::string& name, const std::string& of = "") {
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
         R"(","namespace":"default","labels":{"of":")" + of + R"("}}})";
}

// Takes as long as scripted, and remembers how each reconcile went.
struct Worker final : Reconciler {
  Env env;
  Duration takes{0};
  std::vector<Result<Next>> answers;  // the last one repeats
  std::vector<std::string> begun;
  std::vector<Instant> times;
  int at_work = 0;
  int at_work_max = 0;
  int ended = 0;
  int cancelled = 0;

  explicit Worker(Env env_in) : env(env_in) {}

  Task<Result<Next>> reconcile(ObjectKey key) override {
    begun.push_back(key.name);
    times.push_back(env.loop.now());
    at_work_max = std::max(at_work_max, ++at_work);
    Result<void> slept = co_await sleep_for(takes);
    --at_work;
    if (!slept) {
      ++cancelled;
      co_return fail(std::move(slept).error());
    }
    ++ended;
    if (answers.empty()) {
      co_return Next::await_change();
    }
    Result<Next> answer = answers.front();
    if (answers.size() > 1) {
      answers.erase(answers.begin());
    }
    co_return answer;
  }
};

struct World {
  SimEnv sim;
  Env env = sim.env();
  kube::testing::ScriptedService service{env};
  kube::Client client{env, service};
  LogCapture log;
  Informer pods{env, client, kPods};
  Controller controller;
  Worker* worker = nullptr;
  StopSource abort;
  TaskGroup caches{env.loop};
  TaskGroup group{env.loop};

  explicit World(ControllerOptions options = {}, MapFunction map = to_self(),
                 Predicate predicate = {})
      : controller(env, with_logger(std::move(options))) {
    auto made = std::make_unique<Worker>(env);
    worker = made.get();
    controller.set_reconciler(std::move(made));
    controller.watch(pods, std::move(map), std::move(predicate));
    caches.spawn(pods.run());
    group.spawn(controller.run(abort.token()));
    settle(0s);
  }
  ~World() {
    abort.request_stop();
    EXPECT_TRUE(run(env.loop, group.close()));
    EXPECT_TRUE(run(env.loop, caches.close()));
  }
  ControllerOptions with_logger(ControllerOptions options) {
    options.name = "test";
    options.logger = log.logger(env.clock, LogLevel::warn);
    return options;
  }
  void settle(Duration time = 1s) { EXPECT_TRUE(run(env.loop, sleep_for(time))); }
  // How long it takes from a stop to the end.
  Duration time_to_close() {
    const Instant begin = env.loop.now();
    EXPECT_TRUE(run(env.loop, group.close()));
    return env.loop.now() - begin;
  }
};

using Names = std::vector<std::string>;

TEST(Controller, looks_at_what_is_there_and_then_at_every_change) {
  World w;
  w.service.put(kPods, pod("a"));
  w.settle();
  w.service.put(kPods, pod("b"));
  w.settle();
  w.service.erase(kPods, {"default", "a"});
  w.settle();
  EXPECT_EQ(w.worker->begun, (Names{"a", "b", "a"}));
}

TEST(Controller, a_change_of_label_concerns_the_old_one_and_the_new_one) {
  World w({}, to_label("of"));
  w.service.put(kPods, pod("a", "x"));
  w.settle();
  w.service.put(kPods, pod("a", "y"));
  w.settle();
  EXPECT_EQ(w.worker->begun, (Names{"x", "x", "y"}));
}

TEST(Controller, what_the_predicate_leaves_out_wakes_nobody) {
  World w({}, to_self(), labels_changed());
  w.service.put(kPods, pod("a", "x"));
  w.settle();
  w.service.put(kPods, R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a",)"
                       R"("namespace":"default","labels":{"of":"x"}},"spec":{"nodeName":"n"}})");
  w.settle();
  EXPECT_EQ(w.worker->begun, Names{"a"});
  w.service.put(kPods, pod("a", "y"));
  w.settle();
  EXPECT_EQ(w.worker->begun, (Names{"a", "a"}));
}

TEST(Controller, a_key_is_with_one_worker_at_a_time_and_others_go_on_beside_it) {
  World w({.workers = 3});
  w.worker->takes = 10s;
  w.service.put(kPods, pod("a"));
  w.settle();
  for (const char* label : {"x", "y", "z"}) {
    w.service.put(kPods, pod("a", label));
    w.settle();
  }
  EXPECT_EQ(w.worker->begun, Names{"a"});
  w.service.put(kPods, pod("b"));
  w.service.put(kPods, pod("c"));
  w.settle();
  EXPECT_EQ(w.worker->begun, (Names{"a", "b", "c"}));
  EXPECT_EQ(w.worker->at_work_max, 3);
  w.settle(1min);
  EXPECT_EQ(w.worker->begun, (Names{"a", "b", "c", "a"})) << "three changes are one more look";
}

TEST(Controller, a_failed_key_comes_back_after_a_growing_wait_until_it_goes_well) {
  World w;
  const Result<Next> failure = fail(internal_error("no luck"));
  w.worker->answers = {failure, failure, failure, Next::await_change()};
  w.service.put(kPods, pod("a"));
  w.settle(1min);
  ASSERT_EQ(w.worker->times.size(), 4u);
  EXPECT_EQ(w.worker->times[1] - w.worker->times[0], 5ms);
  EXPECT_EQ(w.worker->times[2] - w.worker->times[1], 10ms);
  EXPECT_EQ(w.worker->times[3] - w.worker->times[2], 20ms);
  EXPECT_EQ(w.controller.queue().failures({"default", "a"}), 0);
  EXPECT_TRUE(w.log.has("no luck"));
}

TEST(Controller, a_lost_race_is_tried_again_without_a_word) {
  World w;
  w.worker->answers = {fail(conflict("somebody was faster")), Next::await_change()};
  w.service.put(kPods, pod("a"));
  w.settle();
  EXPECT_EQ(w.worker->begun, (Names{"a", "a"}));
  EXPECT_TRUE(w.log.lines().empty());
}

TEST(Controller, looks_again_when_asked_to) {
  World w;
  w.worker->answers = {Next::after(30s), Next::await_change()};
  w.service.put(kPods, pod("a"));
  w.settle(1h);
  ASSERT_EQ(w.worker->times.size(), 2u);
  EXPECT_EQ(w.worker->times[1] - w.worker->times[0], 30s);
}

TEST(Controller, a_reconcile_that_takes_too_long_is_ended_and_tried_again) {
  World w({.reconcile_timeout = 5s});
  w.worker->takes = 1h;
  w.service.put(kPods, pod("a"));
  w.settle(11s);
  EXPECT_EQ(w.worker->begun.size(), 3u);
  EXPECT_EQ(w.worker->cancelled, 2);
  EXPECT_TRUE(w.log.has("deadline_exceeded"));
}

TEST(Controller, a_stop_lets_what_is_under_way_end_and_begins_nothing_new) {
  World w({.shutdown_grace = 30s});
  w.worker->takes = 10s;
  w.service.put(kPods, pod("a"));
  w.service.put(kPods, pod("b"));
  w.settle(4s);
  ASSERT_EQ(w.worker->begun, Names{"a"});
  EXPECT_EQ(w.time_to_close(), 6s);
  EXPECT_EQ(w.worker->begun, Names{"a"});
  EXPECT_EQ(w.worker->ended, 1);
  EXPECT_EQ(w.worker->cancelled, 0);
}

TEST(Controller, what_takes_longer_than_the_grace_is_cancelled) {
  World w({.shutdown_grace = 30s});
  w.worker->takes = 1h;
  w.service.put(kPods, pod("a"));
  w.settle();
  EXPECT_EQ(w.time_to_close(), 30s);
  EXPECT_EQ(w.worker->cancelled, 1);
}

TEST(Controller, an_abort_cancels_at_once) {
  World w({.shutdown_grace = 30s});
  w.worker->takes = 1h;
  w.service.put(kPods, pod("a"));
  w.settle();
  w.abort.request_stop();
  EXPECT_EQ(w.time_to_close(), 0s);
  EXPECT_EQ(w.worker->cancelled, 1);
}

TEST(Controller, a_stop_before_the_caches_are_there_ends_it) {
  World w;
  Informer never_runs(w.env, w.client, kPods);
  Controller waits(w.env, {.name = "waits"});
  waits.set_reconciler(std::make_unique<Worker>(w.env));
  waits.watch(never_runs, to_self());
  w.group.spawn(waits.run());
  w.settle(1h);
  EXPECT_EQ(w.group.size(), 2u);
  EXPECT_EQ(w.time_to_close(), 0s);
}

}  // namespace
}  // namespace codeflare::runtime
