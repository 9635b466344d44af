#include "runtime/informer.h"

#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "base/env/sim_env.h"
#include "kube/testing/scripted_service.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace codeflare::runtime {
namespace {

using namespace std::chrono_literals;

const ResourceType kPods{"", "v1", "Pod", "pods", true};

std::string pod(const std::string& name, const std::string& phase = "Pending") {
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
         R"(","namespace":"default"},"status":{"phase":")" + phase + R"("}})";
}

// A server, a client and one informer of pods in one simulated world.
struct World {
  SimEnv sim;
  Env env = sim.env();
  kube::testing::ScriptedService service{env};
  kube::Client client{env, service};
  Informer informer;
  TaskGroup group{env.loop};
  std::vector<std::string> seen;

  explicit World(InformerOptions options = {}) : informer(env, client, kPods, std::move(options)) {
    informer.add_handler([this](const ObjectChange& change) {
      const char* what = change.old == nullptr ? "+" : change.now == nullptr ? "-" : "~";
      seen.push_back(what + std::string((change.now ? change.now : change.old)->name()) +
                     (change.initial ? "*" : ""));
    });
  }
  ~World() { EXPECT_TRUE(run(env.loop, group.close())); }

  void start() {
    group.spawn(informer.run());
    ASSERT_TRUE(run(env.loop, informer.wait_synced()));
  }
  void settle(Duration time = 1s) { ASSERT_TRUE(run(env.loop, sleep_for(time))); }
};

using Seen = std::vector<std::string>;

TEST(Informer, tells_what_is_there_and_then_every_change) {
  World world;
  world.service.put(kPods, pod("a"));
  world.service.put(kPods, pod("b"));
  world.start();
  EXPECT_EQ(world.seen, (Seen{"+a*", "+b*"}));
  EXPECT_EQ(world.informer.store().size(), 2u);
  world.service.put(kPods, pod("a", "Running"));
  world.service.put(kPods, pod("c"));
  world.service.erase(kPods, {"default", "b"});
  world.settle();
  EXPECT_EQ(world.seen, (Seen{"+a*", "+b*", "~a", "+c", "-b"}));
}

TEST(Informer, after_a_compacted_history_tells_the_difference_only) {
  World world;
  for (const char* name : {"a", "b", "c"}) {
    world.service.put(kPods, pod(name));
  }
  world.start();
  world.seen.clear();
  world.service.break_watches();
  world.service.put(kPods, pod("a", "Running"));
  world.service.erase(kPods, {"default", "b"});
  world.service.put(kPods, pod("d"));
  world.service.compact();
  world.settle(5min);
  std::ranges::sort(world.seen);
  EXPECT_EQ(world.seen, (Seen{"+d", "-b", "~a"}));
}

TEST(Informer, an_end_that_an_object_has_outlived_is_no_end) {
  World world;
  const auto event = [](const std::string& type, const std::string& version) {
    return R"({"type":")" + type + R"(","object":{"metadata":{"name":"a","namespace":"default",)" +
           R"("uid":"u","resourceVersion":")" + version + R"("}}})" + "\n";
  };
  const std::string mark =
      R"({"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":)"
      R"({"resourceVersion":"111","annotations":{"k8s.io/initial-events-end":"true"}}}})"
      "\n";
  // The first breaks off before its mark; a server that is behind answers the second.
  std::vector<std::string> streams = {
      event("ADDED", "102") + mark + event("DELETED", "112") + event("ADDED", "115"),
      event("ADDED", "115")};
  world.service.set_intercept([&streams](const net::Request&) {
    if (streams.empty()) {
      return std::optional(kube::testing::status_answer(503, "ServiceUnavailable", "enough"));
    }
    const std::string text = streams.back();
    streams.pop_back();
    return std::optional(net::make_response(200, "application/json", Bytes::from(text)));
  });
  world.start();
  world.settle();
  EXPECT_TRUE(streams.empty());
  EXPECT_EQ(world.seen, Seen{"+a*"});
  ASSERT_NE(world.informer.store().get("default", "a"), nullptr);
  EXPECT_EQ(world.informer.store().get("default", "a")->resource_version(), "115");
  world.service.set_intercept({});
}

TEST(Informer, transforms_objects_before_they_are_kept) {
  InformerOptions options;
  options.transform = [](ObjectRef object) {
    auto document = object->parse();
    document->root.erase("status");
    return *kube::Object::from_value(document->root);
  };
  World world(std::move(options));
  world.service.put(kPods, pod("a"));
  world.start();
  EXPECT_EQ(world.informer.store().get("default", "a")->text().find("phase"),
            std::string_view::npos);
}

TEST(Informer, keeps_a_fraction_of_objects_that_resemble_each_other) {
  World world;
  const std::string long_phase = "Pending because " + std::string(4'000, '.');
  for (int i = 0; i < 20; ++i) {
    world.service.put(kPods, pod("pod-" + std::to_string(i), long_phase));
  }
  world.start();
  std::size_t bytes = 0;
  for (const ObjectRef& object : world.informer.store().list()) {
    bytes += object->memory_bytes();
    EXPECT_EQ(object->string_at({"status", "phase"}), long_phase);
  }
  EXPECT_LT(bytes, 20 * 4'000u / 8);
}

TEST(Informer, a_reader_waits_for_its_own_write_and_no_longer_than_allowed) {
  World world;
  world.service.put(kPods, pod("a"));
  world.start();
  auto written =
      run(world.env.loop, world.client.patch(kPods, {"default", "a"}, kube::PatchKind::merge,
                                             R"({"metadata":{"labels":{"x":"y"}}})"));
  ASSERT_TRUE(written && *written);
  world.informer.note_written(***written);
  auto fresh = run(world.env.loop, world.informer.fresh({"default", "a"}));
  ASSERT_TRUE(fresh && *fresh);
  EXPECT_EQ(world.informer.store().get("default", "a")->resource_version(),
            (**written)->resource_version());
}

TEST(Informer, says_so_when_the_cache_does_not_catch_up_in_time) {
  World world;
  world.service.put(kPods, pod("a"));
  world.start();
  world.service.set_intercept([](const net::Request&) {
    return std::optional(kube::testing::status_answer(503, "ServiceUnavailable", "closed today"));
  });
  world.service.break_watches();
  ObjectRef newer = world.service.put(kPods, pod("a", "Running"));
  world.informer.note_written(*newer);
  const Instant begin = world.env.loop.now();
  auto late = run(world.env.loop, world.informer.fresh({"default", "a"}, 2s));
  ASSERT_TRUE(late);
  ASSERT_FALSE(*late);
  EXPECT_EQ(late->error().code, ErrorCode::unavailable);
  EXPECT_EQ(world.env.loop.now() - begin, 2s);
  world.service.set_intercept({});
}

TEST(Informer, a_deletion_of_our_own_is_seen_when_that_object_is_gone) {
  World world;
  ObjectRef old = world.service.put(kPods, pod("a"));
  world.start();
  world.informer.note_deleted({"default", "a"}, std::string(old->uid()));
  EXPECT_FALSE(world.informer.is_fresh({"default", "a"}));
  world.service.erase(kPods, {"default", "a"});
  auto fresh = run(world.env.loop, world.informer.fresh({"default", "a"}));
  ASSERT_TRUE(fresh && *fresh);
  EXPECT_EQ(world.informer.store().get("default", "a"), nullptr);
}

}  // namespace
}  // namespace codeflare::runtime
