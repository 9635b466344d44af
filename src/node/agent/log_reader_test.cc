#include "node/agent/log_reader.h"

#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "base/env/sim_env.h"
#include "node/agent/log_service.h"
#include "node/testing/sim_pod_runtime.h"

#include <gtest/gtest.h>

namespace codeflare::node {
namespace {

using std::chrono::milliseconds;

std::string line(int second, std::string_view text, char tag = 'F') {
  return to_rfc3339(WallTime(std::chrono::seconds(1'700'000'000 + second)), 9) + " stdout " + tag +
         " " + std::string(text) + "\n";
}

struct World {
  SimEnv sim;
  Env env = sim.env();
  testing::SimLogFiles files{env.files};

  World() { EXPECT_TRUE(env.files.make_directories("/log")); }
  void add(const std::string& name, const std::string& text) {
    EXPECT_TRUE(env.files.append("/log/" + name, text));
  }
  std::string read(LogQuery query) {
    query.directory = "/log";
    auto text = *run(env.loop, net::read_all(read_log(env, files, std::move(query)), 1u << 20));
    EXPECT_TRUE(text) << text.error().to_string();
    return text ? *text : "";
  }
};

TEST(LogReader, reads_the_files_of_one_run_in_order) {
  World w;
  w.add("0.9.log", line(1, "nine"));
  w.add("0.10.log", line(2, "ten"));
  w.add("1.0.log", line(3, "another run"));
  EXPECT_EQ(w.read({}), "nine\nten\n");
  EXPECT_EQ(w.read({.attempt = 1}), "another run\n");
  EXPECT_EQ(w.read({.attempt = 2}), "");
}

TEST(LogReader, joins_the_parts_of_a_line) {
  World w;
  w.add("0.0.log", line(1, "a", 'P') + line(1, "b") + line(2, "end", 'P'));
  EXPECT_EQ(w.read({}), "ab\nend");
  EXPECT_EQ(w.read({.timestamps = true}),
            "2023-11-14T22:13:21.000000000Z ab\n2023-11-14T22:13:22.000000000Z end");
}

TEST(LogReader, tail_counts_whole_lines_over_files) {
  World w;
  w.add("0.0.log", line(1, "one") + line(2, "two"));
  w.add("0.1.log", line(3, "three", 'P') + line(3, "3") + line(4, "four"));
  EXPECT_EQ(w.read({.tail_lines = 0}), "");
  EXPECT_EQ(w.read({.tail_lines = 1}), "four\n");
  EXPECT_EQ(w.read({.tail_lines = 2}), "three3\nfour\n");
  EXPECT_EQ(w.read({.tail_lines = 3}), "two\nthree3\nfour\n");
  EXPECT_EQ(w.read({.tail_lines = 9}), "one\ntwo\nthree3\nfour\n");
}

TEST(LogReader, since_and_limit_cut_at_either_end) {
  World w;
  w.add("0.0.log", line(1, "one") + line(2, "two") + line(3, "three"));
  EXPECT_EQ(w.read({.since = WallTime(std::chrono::seconds(1'700'000'002))}), "two\nthree\n");
  EXPECT_EQ(w.read({.limit_bytes = 6}), "one\ntw");
  EXPECT_EQ(w.read({.limit_bytes = 0}), "");
}

Task<void> write_slowly(World& w, bool& running) {
  static_cast<void>(co_await sleep_for(milliseconds(250)));
  w.add("0.0.log", line(2, "two"));
  static_cast<void>(co_await sleep_for(milliseconds(250)));
  w.add("0.0.log", line(3, "three"));
  w.add("0.1.log", line(4, "four"));
  running = false;
}

TEST(LogReader, follows_until_the_run_is_over_and_misses_nothing) {
  World w;
  w.add("0.0.log", line(1, "one"));
  bool running = true;
  TaskGroup group(w.env.loop);
  group.spawn(write_slowly(w, running));
  EXPECT_EQ(w.read({.follow = [&] { return running; }}), "one\ntwo\nthree\nfour\n");
  ASSERT_TRUE(run(w.env.loop, group.join()));
}

struct PodWorld : World {
  testing::SimPodRuntime pods{env};
  LogService service{env, pods, files};
  model::Pod pod;

  PodWorld() {
    pod.metadata.name = "p";
    pod.metadata.uid = "u";
    pod.spec.containers.resize(1);
    pod.spec.containers[0].name = "c";
  }
  std::string error(const LogRequest& request = {}) {
    auto body = service.open(pod, request);
    return body ? "" : body.error().message;
  }
};

TEST(LogService, says_why_there_is_no_log) {
  PodWorld w;
  EXPECT_EQ(w.error(), "container \"c\" in pod \"p\" is waiting to start: ContainerCreating");
  EXPECT_EQ(w.error({.container = "x"}), "container x is not valid for pod p");
  w.pod.spec.containers.push_back(w.pod.spec.containers[0]);
  w.pod.spec.containers[1].name = "d";
  EXPECT_EQ(w.error(), "a container name must be specified for pod p, choose one of: [c d]");
  w.pod.metadata.annotations["kubectl.kubernetes.io/default-container"] = "d";
  EXPECT_EQ(w.error(), "container \"d\" in pod \"p\" is waiting to start: ContainerCreating");
}

TEST(LogService, finds_the_run_and_the_one_before) {
  PodWorld w;
  ASSERT_TRUE(*run(w.env.loop, w.pods.make({.spec = {.name = "p", .uid = "u"}})));
  ASSERT_TRUE(*run(w.env.loop, w.pods.start("u", {.name = "c", .command = {"sleep", "1"}})));
  EXPECT_EQ(w.error(), "");
  EXPECT_EQ(w.error({.previous = true}),
            "previous terminated container \"c\" in pod \"p\" not found");
  ASSERT_TRUE(*run(w.env.loop, sleep_for(std::chrono::seconds(2))));
  ASSERT_TRUE(*run(w.env.loop, w.pods.start("u", {.name = "c", .attempt = 1, .command = {"run"}})));
  EXPECT_EQ(w.error({.previous = true}), "");
}

}  // namespace
}  // namespace codeflare::node
