#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "base/env/sim_env.h"
#include "base/log_capture.h"
#include "node/agent/keeper_runtime.h"
#include "node/testing/faulty_files.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace codeflare::node {
namespace {

using std::chrono::seconds;

// The world of an agent that starts where another one was. Nobody answers; who has a lock is there.
struct World {
  SimEnv sim{SimEnv::Options{.blocking_delay_max = Duration::zero()}};
  Env world = sim.env();
  testing::FaultyFiles files{world.files};
  Env env{world.loop,     world.clock,     world.random,  files,
          world.launcher, world.variables, world.blocking};
  LogCapture log;
  std::unique_ptr<VolumeWriter> volumes = make_volume_writer();
  KeeperRuntime pods{env,
                     {.directory = "/node", .program = "keeper", .logger = log.logger(env.clock)},
                     *volumes,
                     [](const std::string&) -> Result<std::unique_ptr<net::LocalStream>> {
                       return fail(unavailable("nobody listens"));
                     }};

  World() = default;
  ~World() { EXPECT_TRUE(run(env.loop, pods.stop())); }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  static std::string path(const std::string& uid, const std::string& name) {
    return "/node/pods/" + uid + "/" + name;
  }
  // A pod with a container that ran, and the lock of its keeper.
  std::unique_ptr<FileLock> leave(const std::string& uid) {
    EXPECT_TRUE(files.make_directories("/node/pods/" + uid, 0700));
    SandboxSpec spec;
    spec.ns = "default";
    spec.name = uid;
    spec.uid = uid;
    KeeperState state;
    state.runs.push_back({.name = "c", .state = "running", .started = 1});
    EXPECT_TRUE(files.write(path(uid, "sandbox.json"), model::to_json_text(spec)));
    EXPECT_TRUE(files.write(path(uid, "state.json"), model::to_json_text(state)));
    auto lock = files.lock(path(uid, "keeper.lock"));
    EXPECT_TRUE(lock);
    return lock ? *std::move(lock) : nullptr;
  }
  void break_file(const std::string& at) {
    files.faults.emplace(at, resource_exhausted("open " + at + ": too many open files"));
  }
  std::vector<PodRuntime::Found> adopt() {
    Result<std::vector<PodRuntime::Found>> found = *run(env.loop, pods.adopt());
    EXPECT_TRUE(found) << found.error().to_string();
    return found ? *std::move(found) : std::vector<PodRuntime::Found>();
  }
  void settle(Duration time = seconds(20)) { EXPECT_TRUE(*run(env.loop, sleep_for(time))); }
  Task<void> remove(std::string uid) { EXPECT_TRUE(co_await pods.remove(std::move(uid))); }
};

TEST(KeeperAdoption, a_pod_lives_as_long_as_its_lock_is_held) {
  World w;
  auto keeper = w.leave("u");
  EXPECT_TRUE(w.adopt().at(0).alive);
  w.settle();
  EXPECT_TRUE(w.pods.find("u")->alive);
  EXPECT_TRUE(w.pods.find("u")->state.last("c")->running());
  keeper.reset();
  w.settle();
  EXPECT_FALSE(w.pods.find("u")->alive);
  EXPECT_EQ(w.pods.find("u")->state.last("c")->error, kKeeperLost);
}

TEST(KeeperAdoption, a_lock_that_cannot_be_opened_is_not_taken_for_free) {
  World w;
  auto keeper = w.leave("u");
  w.break_file(w.path("u", "keeper.lock"));
  EXPECT_TRUE(w.adopt().at(0).alive);
  w.settle();
  EXPECT_TRUE(w.pods.find("u")->alive);
  EXPECT_TRUE(w.pods.find("u")->state.last("c")->running());
  EXPECT_FALSE(*run(w.env.loop, w.pods.close("u")));
  EXPECT_FALSE(*run(w.env.loop, w.pods.remove("u")));
  EXPECT_TRUE(w.files.exists(w.path("u", "sandbox.json")));
  // As soon as it can be looked at.
  keeper.reset();
  w.files.faults.clear();
  w.settle();
  EXPECT_FALSE(w.pods.find("u")->alive);
  EXPECT_TRUE(*run(w.env.loop, w.pods.remove("u")));
}

TEST(KeeperAdoption, fails_when_pods_cannot_be_listed) {
  World w;
  const auto keeper = w.leave("u");
  w.break_file("/node/pods");
  EXPECT_FALSE(*run(w.env.loop, w.pods.adopt()));
  w.files.faults.clear();
  EXPECT_EQ(w.adopt().size(), 1u);
}

TEST(KeeperAdoption, a_pod_that_cannot_be_read_is_left_alone) {
  for (const char* name : {"sandbox.json", "state.json"}) {
    World w;
    w.leave("u");  // nobody keeps it
    const auto keeper = w.leave("other");
    w.break_file(w.path("u", name));
    EXPECT_EQ(w.adopt().size(), 1u) << name;
    EXPECT_EQ(w.pods.left_alone(), std::vector<std::string>{"u"}) << name;
    EXPECT_TRUE(w.log.has("left alone")) << name;
    EXPECT_TRUE(w.files.exists(w.path("u", "sandbox.json"))) << name;
  }
}

TEST(KeeperAdoption, a_damaged_pod_goes_unless_somebody_keeps_it) {
  World w;
  const auto keeper = w.leave("kept");
  w.leave("dead");
  ASSERT_TRUE(w.files.write(w.path("kept", "sandbox.json"), "{"));
  ASSERT_TRUE(w.files.write(w.path("dead", "sandbox.json"), "{"));
  ASSERT_TRUE(w.files.make_directories("/node/pods/half", 0700));
  EXPECT_TRUE(w.adopt().empty());
  w.settle();
  EXPECT_EQ(w.pods.left_alone(), std::vector<std::string>{"kept"});
  EXPECT_EQ(*w.files.list("/node/pods"), std::vector<std::string>{"kept"});
  EXPECT_TRUE(w.files.list("/node/trash")->empty());
}

TEST(KeeperAdoption, what_pods_leave_is_removed_once) {
  World w;
  for (const char* uid : {"a", "b", "c"}) {
    w.leave(uid);
  }
  EXPECT_EQ(w.adopt().size(), 3u);
  TaskGroup group(w.env.loop);
  for (const char* uid : {"a", "b", "c"}) {
    group.spawn(w.remove(uid));
  }
  EXPECT_TRUE(run(w.env.loop, group.join()));
  w.settle();
  EXPECT_TRUE(w.files.list("/node/trash")->empty());
  std::ranges::sort(w.files.removed);
  EXPECT_EQ(w.files.removed.size(), 3u);
  EXPECT_EQ(std::ranges::adjacent_find(w.files.removed), w.files.removed.end());
}

}  // namespace
}  // namespace codeflare::node
