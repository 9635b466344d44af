#include "examples/hello_controller/hello.h"

#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "base/env/sim_env.h"
#include "kube/testing/scripted_service.h"
#include "runtime/testing/idempotence.h"

#include <gtest/gtest.h>

namespace hello {
namespace {

using namespace std::chrono_literals;

const ObjectKey kAda{"default", "ada"};

std::string greeting(const std::string& name) {
  return R"({"apiVersion":"examples.codeflare.dev/v1","kind":"Greeting",
      "metadata":{"name":"ada","namespace":"default"},"spec":{"name":")" +
         name + R"("}})";
}

struct World {
  SimEnv sim;
  Env env = sim.env();
  kube::testing::ScriptedService service{env};
  kube::Client client{env, service};
  Manager manager{env, client, {.name = "hello"}};
  Hello& reconciler =
      manager.controller("greetings").reconciles(kGreetings).owns(kConfigMaps).with<Hello>();
  TaskGroup group{env.loop};

  ~World() { EXPECT_TRUE(run(env.loop, group.close())); }
  Task<void> run_manager() { EXPECT_TRUE(co_await manager.run()); }
  void start() { group.spawn(run_manager()); }
  void settle(Duration time = 2s) { ASSERT_TRUE(run(env.loop, sleep_for(time))); }
  std::string text() {
    ObjectRef map = service.find(kConfigMaps, kAda);
    return map == nullptr ? "" : map->string_at({"data", "text"});
  }
};

TEST(Hello, makes_the_greeting_and_says_so_in_the_status) {
  World world;
  world.start();
  world.service.put(kGreetings, greeting("Ada"));
  world.settle();
  EXPECT_EQ(world.text(), "Hello, Ada!");
  EXPECT_EQ(world.service.find(kGreetings, kAda)->string_at({"status", "message"}), "Hello, Ada!");
}

TEST(Hello, follows_changes_and_restores_what_others_take_away) {
  World world;
  world.start();
  world.service.put(kGreetings, greeting("Ada"));
  world.settle();
  world.service.put(kGreetings, greeting("Grace"));
  world.settle();
  EXPECT_EQ(world.text(), "Hello, Grace!");
  world.service.erase(kConfigMaps, kAda);
  world.settle();
  EXPECT_EQ(world.text(), "Hello, Grace!");
}

TEST(Hello, writes_nothing_when_nothing_is_to_be_done) {
  World world;
  world.start();
  world.service.put(kGreetings, greeting("Ada"));
  world.settle(1min);
  const std::uint64_t revision = world.service.revision();
  world.settle(1h);
  EXPECT_EQ(world.service.revision(), revision);
}

TEST(Hello, a_second_look_finds_nothing_to_write) {
  World world;
  world.start();
  world.settle();
  world.service.put(kGreetings, greeting("Ada"));
  world.settle(0s);
  EXPECT_TRUE(runtime::testing::is_idempotent(world.env, world.reconciler, kAda));
}

}  // namespace
}  // namespace hello
