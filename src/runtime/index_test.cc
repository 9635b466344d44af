#include "runtime/index.h"

#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "base/env/sim_env.h"
#include "kube/testing/scripted_service.h"
#include "model/codec/pod.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace codeflare::runtime {
namespace {

using namespace std::chrono_literals;

const ResourceType kPods{"", "v1", "Pod", "pods", true};
using Phases = Index<std::string, std::string>;
using Lines = std::vector<std::string>;

std::string pod(const std::string& name, const std::string& node, const std::string& phase) {
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
         R"(","namespace":"default"},"spec":{"nodeName":")" + node + R"("},"status":{"phase":")" +
         phase + R"("}})";
}

// Phases of pods by node; pods without a node are left out.
struct World {
  SimEnv sim;
  Env env = sim.env();
  kube::testing::ScriptedService service{env};
  kube::Client client{env, service};
  Informer informer{env, client, kPods};
  Lines told;
  const void* first_read = nullptr;
  bool read_once = true;
  Phases phases{informer,
                [this](const ObjectChange& change, const std::string* before) {
                  const Result<model::Pod>& pod = change.as<model::Pod>();
                  first_read = &pod;
                  std::optional<Phases::Entry> entry;
                  if (!pod->spec.node_name.empty()) {
                    const std::string was = before == nullptr ? "" : " was " + *before;
                    entry = Phases::Entry{pod->spec.node_name, pod->status.phase};
                    told.push_back("read " + pod->metadata.name + was);
                  }
                  return entry;
                },
                [this](const Phases::GroupChange& change) {
                  told.push_back(change.key + ": " + (change.before ? *change.before : "none") +
                                 " to " + (change.now ? *change.now : "none") + " of " +
                                 std::to_string(change.size));
                }};
  TaskGroup group{env.loop};

  World() {
    informer.add_handler([this](const ObjectChange& change) {
      read_once = read_once && (!change.now || &change.as<model::Pod>() == first_read);
    });
  }
  ~World() { EXPECT_TRUE(run(env.loop, group.close())); }

  void start() {
    group.spawn(informer.run());
    ASSERT_TRUE(run(env.loop, informer.wait_synced()));
  }
  Lines next() {
    EXPECT_TRUE(run(env.loop, sleep_for(1s)));
    return std::exchange(told, {});
  }
};

TEST(Index, groups_objects_and_follows_each_change) {
  World world;
  world.service.put(kPods, pod("b", "n1", "Running"));
  world.service.put(kPods, pod("a", "n1", "Pending"));
  world.service.put(kPods, pod("c", "", "Pending"));
  world.start();
  EXPECT_EQ(world.phases.of("n1"), (Lines{"Pending", "Running"}));
  EXPECT_EQ(world.phases.of("n2"), Lines{});
  EXPECT_EQ(world.next(),
            (Lines{"read a", "n1: none to Pending of 1", "read b", "n1: none to Running of 2"}));
  world.service.put(kPods, pod("a", "n1", "Running"));
  EXPECT_EQ(world.next(), (Lines{"read a was Pending", "n1: Pending to Running of 2"}));
  EXPECT_TRUE(world.read_once);
}

TEST(Index, an_object_that_changes_its_group_leaves_the_old_one_first) {
  World world;
  world.service.put(kPods, pod("a", "n1", "Running"));
  world.start();
  world.next();
  world.service.put(kPods, pod("a", "n2", "Running"));
  EXPECT_EQ(world.next(),
            (Lines{"read a was Running", "n1: Running to none of 0", "n2: none to Running of 1"}));
  EXPECT_EQ(world.phases.groups().size(), 1u);
  world.service.put(kPods, pod("a", "", "Running"));
  EXPECT_EQ(world.next(), (Lines{"n2: Running to none of 0"}));
  world.service.put(kPods, pod("a", "n2", "Failed"));
  world.next();
  world.service.erase(kPods, {"default", "a"});
  EXPECT_EQ(world.next(), (Lines{"n2: Failed to none of 0"}));
  EXPECT_TRUE(world.phases.groups().empty());
}

}  // namespace
}  // namespace codeflare::runtime
