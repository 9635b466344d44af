#include "node/stream/keeper_streams.h"

#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "node/agent/keeper_runtime.h"
#include "node/stream/stream_exec.h"
#include "node/testing/scratch.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::node {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct Outcome {
  std::string output;
  std::string error_output;
  int exit_code = -1;
};

Task<void> read_to_end(net::ByteStream* from, std::string& into) {
  while (from != nullptr) {
    const Result<std::string> bytes = co_await from->read();
    if (!bytes || bytes->empty()) {
      co_return;
    }
    into += *bytes;
  }
}

// Feeds a program, reads all it says and waits for its end.
Task<Result<Outcome>> finish(StreamedProcess& process, std::string input) {
  const TaskContext& context = co_await current_context();
  Outcome outcome;
  TaskGroup reading(*context.loop, context.stop);
  reading.spawn(read_to_end(process.output(), outcome.output));
  reading.spawn(read_to_end(process.error_output(), outcome.error_output));
  if (process.input() != nullptr) {
    static_cast<void>(co_await process.input()->write(std::move(input)));
    static_cast<void>(co_await process.input()->finish());
  }
  Result<int> code = co_await process.wait();
  co_await reading.join();
  CO_TRY_ASSIGN(outcome.exit_code, std::move(code));
  co_return outcome;
}

// Real keepers, real processes. Isolated ones are skipped where the system forbids namespaces.
class Streams : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam()) {
      const auto allowed = *run(env.loop, probe_isolation(env, CODEFLARE_KEEPER, path("")));
      if (!allowed) {
        GTEST_SKIP() << "namespaces are forbidden here: " << allowed.error().message;
      }
    }
    pods = std::make_unique<KeeperRuntime>(
        env,
        KeeperRuntimeOptions{
            .directory = path(""), .program = CODEFLARE_KEEPER, .isolated = GetParam()},
        *volumes,
        [this](const std::string& socket) { return net::connect_local(env.loop, socket); });
    streams = std::make_unique<KeeperStreams>(
        env.loop, [this](const std::string& uid) { return pods->socket_of(uid); });
    const auto made = *run(
        env.loop, pods->make({.spec = {.ns = "default", .name = "p", .uid = "u", .hostname = "h"},
                              .volumes = {{.name = "data"}},
                              .etc = {{"hosts", "127.0.0.1 localhost\n"},
                                      {"passwd", "root:x:0:0::/root:/bin/sh\n"}}}));
    ASSERT_TRUE(made) << made.error().to_string();
  }
  void TearDown() override {
    if (pods != nullptr) {
      EXPECT_TRUE(*run(env.loop, pods->remove("u")));
      ASSERT_TRUE(run(env.loop, pods->stop()));
    }
  }

  // The container's own program; its directory for things of the test is $HERE.
  void start(std::string script, ContainerSpec more = {}) {
    more.name = "c";
    more.command = {"/bin/sh", "-c", kHere + std::move(script)};
    more.environment = {"PATH=/usr/bin:/bin", "COLOUR=blue"};
    more.working_directory = "/usr";
    const auto done = *run(env.loop, pods->start("u", std::move(more)));
    ASSERT_TRUE(done) << done.error().to_string();
    ASSERT_TRUE(wait_until([&] { return pods->find("u")->state.last("c")->running(); }));
  }
  void start_idle() { start("while :; do sleep 0.05; done"); }

  Result<std::unique_ptr<StreamedProcess>> begin(std::string script, bool terminal = false,
                                                 bool input = false) {
    return *run(env.loop, streams->exec("u", {.container = "c",
                                              .command = {"sh", "-c", kHere + std::move(script)},
                                              .input = input,
                                              .terminal = terminal}));
  }
  Outcome exec(std::string script, std::string input = "") {
    const bool has_input = !input.empty();
    auto process = begin(std::move(script), false, has_input);
    EXPECT_TRUE(process) << process.error().to_string();
    return process ? end_of(**process, std::move(input)) : Outcome{};
  }
  Outcome end_of(StreamedProcess& process, std::string input = "") {
    auto outcome =
        *run(env.loop, with_timeout(seconds(60), "the program", finish(process, std::move(input))));
    EXPECT_TRUE(outcome) << outcome.error().to_string();
    return outcome ? *outcome : Outcome{};
  }
  // The content of a file of $HERE, seen from another program of the container.
  std::string file(const std::string& name) { return exec("cat $HERE/" + name).output; }

  template <typename Test>
  bool wait_until(Test test) {
    for (int i = 0; i < 2000; ++i) {
      if (test()) {
        return true;
      }
      EXPECT_TRUE(*run(env.loop, sleep_for(milliseconds(5))));
    }
    return false;
  }
  std::string path(std::string_view name) const { return scratch.path(name); }

  static inline const std::string kHere = "HERE=${CODEFLARE_POD_ROOT:-/tmp}; ";
  testing::Scratch scratch;
  Env env = scratch.env;
  std::unique_ptr<VolumeWriter> volumes = make_volume_writer();
  std::unique_ptr<KeeperRuntime> pods;
  std::unique_ptr<KeeperStreams> streams;
};

INSTANTIATE_TEST_SUITE_P(Pods, Streams, ::testing::Values(true, false),
                         [](const auto& info) { return info.param ? "isolated" : "plain"; });

TEST_P(Streams, run_programs_with_the_containers_environment) {
  start_idle();
  const Outcome outcome = exec("echo $COLOUR; pwd; echo oops >&2; exit 7");
  EXPECT_EQ(outcome.output, "blue\n/usr\n");
  EXPECT_EQ(outcome.error_output, "oops\n");
  EXPECT_EQ(outcome.exit_code, 7);
  EXPECT_EQ(exec("kill -TERM $$").exit_code, 143);
}

TEST_P(Streams, forbid_what_the_container_may_not_do_either) {
  if (!GetParam()) {
    GTEST_SKIP() << "plain processes may do what their user may";
  }
  start_idle();
  EXPECT_EQ(exec("grep Seccomp: /proc/self/status").output, "Seccomp:\t2\n");
  EXPECT_NE(exec("unshare -U true").exit_code, 0);
}

TEST_P(Streams, never_give_our_own_program_away_to_be_changed) {
  if (!GetParam()) {
    GTEST_SKIP() << "plain processes may do what their user may";
  }
  const ContainerSpec data{.mounts = {{.source = "volumes/data", .target = "/data"}}};
  start("mkfifo /data/sandbox.json; while :; do sleep 0.05; done", data);
  ASSERT_EQ(exec("test -p /data/sandbox.json || sleep 1; test -p /data/sandbox.json").exit_code, 0);
  // A container whose program is ours: it waits at the pipe.
  ContainerSpec ours = data;
  ours.name = "ours";
  ours.command = {"/proc/self/exe", "pod-keeper", "/data"};
  ASSERT_TRUE(*run(env.loop, pods->start("u", std::move(ours))));
  ASSERT_TRUE(wait_until([&] { return pods->find("u")->state.last("ours")->running(); }));
  auto process =
      *run(env.loop,
           streams->exec(
               "u", {.container = "ours",
                     .command = {"/bin/sh", "-c",
                                 "for p in /proc/[0-9]*; do case $(cat $p/comm) in codeflare*|exe) "
                                 "chmod u+x $p/exe 2>&1;; esac; done; echo end"}}));
  ASSERT_TRUE(process) << process.error().to_string();
  const Outcome outcome = end_of(**process);
  EXPECT_TRUE(outcome.output.contains("Read-only file system")) << outcome.output;
}

TEST_P(Streams, pass_input_on_until_its_end) {
  start_idle();
  const std::string much(3'000'000, 'x');
  const Outcome outcome = exec("cat; echo done >&2", much);
  EXPECT_EQ(outcome.output.size(), much.size());
  EXPECT_EQ(outcome.error_output, "done\n");
  EXPECT_EQ(outcome.exit_code, 0);
}

TEST_P(Streams, say_why_a_program_cannot_be_started) {
  start_idle();
  const auto missing =
      *run(env.loop, streams->exec("u", {.container = "c", .command = {"no-such-program"}}));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
  EXPECT_EQ(missing.error().message,
            "exec: \"no-such-program\": executable file not found in $PATH");
  const auto nowhere = *run(env.loop, streams->exec("u", {.container = "d", .command = {"ls"}}));
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().code, ErrorCode::unavailable);
  EXPECT_EQ(nowhere.error().message, "container not found (\"d\")");
  EXPECT_FALSE(*run(env.loop, streams->exec("v", {.container = "c", .command = {"ls"}})));
}

TEST_P(Streams, give_a_terminal_of_the_container) {
  start_idle();
  auto process = begin("tty; stty size; read line; stty size; echo $TERM", true);
  ASSERT_TRUE(process) << process.error().to_string();
  ASSERT_TRUE((*process)->resize({.columns = 100, .rows = 30}));
  EXPECT_EQ((*process)->error_output(), nullptr);
  const Outcome outcome = end_of(**process, "go\n");
  EXPECT_TRUE(outcome.output.contains("/dev/pts/")) << outcome.output;
  EXPECT_TRUE(outcome.output.contains("30 100\r\nxterm\r\n")) << outcome.output;
  EXPECT_EQ(outcome.exit_code, 0);
}

TEST_P(Streams, tell_a_program_when_nobody_is_there_any_more) {
  start_idle();
  // A shell that says what became of its sleep, where nobody reads it, would end of that.
  auto process = begin(
      "exec > /dev/null 2>&1; trap 'echo hup > $HERE/hup; exit' HUP; echo > $HERE/ready; "
      "while :; do sleep 0.05; done");
  ASSERT_TRUE(process) << process.error().to_string();
  ASSERT_TRUE(wait_until([&] { return exec("test -e $HERE/ready").exit_code == 0; }));
  process->reset();
  EXPECT_TRUE(wait_until([&] { return file("hup") == "hup\n"; }));
}

TEST_P(Streams, kill_what_is_to_be_killed_when_nobody_is_there_any_more) {
  start_idle();
  auto process = *run(
      env.loop,
      streams->exec("u", {.container = "c",
                          .command = {"sh", "-c",
                                      kHere + "trap '' HUP; while :; do date +%N > $HERE/beat; "
                                              "sleep 0.01; done"},
                          .kill_when_left = true}));
  ASSERT_TRUE(process) << process.error().to_string();
  ASSERT_TRUE(wait_until([&] { return !file("beat").empty(); }));
  process->reset();
  EXPECT_TRUE(wait_until([&] {
    const std::string before = file("beat");
    return exec("sleep 0.1; cat $HERE/beat").output == before;
  }));
}

TEST_P(Streams, run_the_programs_of_probes_and_hooks) {
  start_idle();
  StreamExec programs(*streams);
  const auto ended =
      *run(env.loop,
           programs.run(
               {.uid = "u", .container = "c", .command = {"sh", "-c", "echo $COLOUR; exit 3"}}));
  ASSERT_TRUE(ended) << ended.error().to_string();
  EXPECT_EQ(ended->exit_code, 3);
  EXPECT_EQ(ended->output, "blue\n");
  const auto missing =
      *run(env.loop, programs.run({.uid = "u", .container = "c", .command = {"no-such-program"}}));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
  ASSERT_TRUE(*run(env.loop, pods->kill("u", "c")));
  ASSERT_TRUE(wait_until([&] { return pods->find("u")->state.last("c")->exited(); }));
  const auto late =
      *run(env.loop, programs.run({.uid = "u", .container = "c", .command = {"true"}}));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::unavailable);
}

TEST_P(Streams, leave_a_program_nothing_of_ours) {
  start_idle();
  EXPECT_EQ(exec("ls /proc/self/fd | tr '\\n' ' '").output, "0 1 2 3 ");
  EXPECT_EQ(exec("grep -E 'NoNewPrivs' /proc/self/status | tr -d '[:space:]'").output,
            "NoNewPrivs:1");
}

TEST_P(Streams, put_programs_where_the_containers_own_one_is) {
  start(
      "for n in user mnt pid; do readlink /proc/self/ns/$n; done > $HERE/ns; "
      "id -u > $HERE/id; while :; do sleep 0.05; done");
  ASSERT_TRUE(wait_until([&] { return exec("test -s $HERE/id").exit_code == 0; }));
  EXPECT_EQ(exec("for n in user mnt pid; do readlink /proc/self/ns/$n; done").output, file("ns"));
  EXPECT_EQ(exec("id -u").output, file("id"));
  if (GetParam()) {
    EXPECT_EQ(exec("grep CapEff /proc/self/status").output, "CapEff:\t0000000000000000\n");
    EXPECT_EQ(exec("grep CapPrm /proc/self/status").output, "CapPrm:\t0000000000000000\n");
  }
}

TEST_P(Streams, end_with_the_container) {
  start_idle();
  auto process =
      begin("trap '' TERM HUP; echo here; touch $HERE/ready; while :; do sleep 0.05; done");
  ASSERT_TRUE(process) << process.error().to_string();
  ASSERT_TRUE(wait_until([&] { return exec("test -e $HERE/ready").exit_code == 0; }));
  ASSERT_TRUE(*run(env.loop, pods->kill("u", "c")));
  const Outcome outcome = end_of(**process);
  EXPECT_EQ(outcome.output, "here\n");
  EXPECT_EQ(outcome.exit_code, 137);
  ASSERT_TRUE(wait_until([&] { return pods->find("u")->state.last("c")->exited(); }));
  EXPECT_FALSE(begin("echo too late"));
}

TEST_P(Streams, do_not_disturb_the_keepers_other_news) {
  start_idle();
  auto process = begin("cat", false, true);
  ASSERT_TRUE(process) << process.error().to_string();
  ASSERT_TRUE(*run(env.loop, pods->ask_to_end("u", "c")));
  EXPECT_TRUE(wait_until([&] { return pods->find("u")->state.last("c")->exited(); }));
  EXPECT_EQ(end_of(**process).exit_code, 137);
}

TEST_P(Streams, show_what_a_container_writes) {
  start("while ! test -e $HERE/go; do sleep 0.01; done; echo shown; echo failed >&2; exit 5");
  auto process = *run(env.loop, streams->attach("u", "c"));
  ASSERT_TRUE(process) << process.error().to_string();
  static_cast<void>(exec("touch $HERE/go"));  // may be ended with the container, which is faster
  const Outcome outcome = end_of(**process);
  EXPECT_EQ(outcome.output, "shown\n");
  EXPECT_EQ(outcome.error_output, "failed\n");
  EXPECT_EQ(outcome.exit_code, 5);
}

TEST_P(Streams, feed_a_container_that_wants_input) {
  start("cat; echo end", {.input = true, .input_once = true});
  auto process = *run(env.loop, streams->attach("u", "c"));
  ASSERT_TRUE(process) << process.error().to_string();
  ASSERT_NE((*process)->input(), nullptr);
  const Outcome outcome = end_of(**process, "typed\n");
  EXPECT_EQ(outcome.output, "typed\nend\n");
  EXPECT_EQ(outcome.exit_code, 0);
}

TEST_P(Streams, show_the_terminal_of_a_container_that_has_one) {
  start("tty; read line; echo got $line; stty size; exit 4", {.input = true, .terminal = true});
  auto process = *run(env.loop, streams->attach("u", "c"));
  ASSERT_TRUE(process) << process.error().to_string();
  EXPECT_EQ((*process)->error_output(), nullptr);
  ASSERT_TRUE((*process)->resize({.columns = 77, .rows = 22}));
  const Outcome outcome = end_of(**process, "word\n");
  EXPECT_TRUE(outcome.output.contains("got word\r\n22 77\r\n")) << outcome.output;
  EXPECT_EQ(outcome.exit_code, 4);
}

constexpr const char* kServer =
    "exec python3 -c \"import os, socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); "
    "s.listen(); f = open(os.environ.get('CODEFLARE_POD_ROOT', '/tmp') + '/port', 'w'); "
    "f.write(str(s.getsockname()[1])); f.close()\n"
    "while True:\n c, _ = s.accept(); c.sendall(c.recv(100).upper()); c.close()\"";

Task<Result<std::string>> shout(net::ByteStream& connection) {
  CO_TRY(co_await connection.write("hello"));
  CO_TRY(co_await connection.finish());
  co_return co_await connection.read();
}

TEST_P(Streams, connect_to_ports_of_the_pod) {
  start(kServer);
  ASSERT_TRUE(wait_until([&] { return exec("test -s $HERE/port").exit_code == 0; }));
  const auto port = static_cast<std::uint16_t>(std::stoi(file("port")));
  for (int i = 0; i < 3; ++i) {
    auto connection = *run(env.loop, streams->dial("u", port));
    ASSERT_TRUE(connection) << connection.error().to_string();
    EXPECT_EQ(*run(env.loop, shout(**connection)), "HELLO");
  }
  ASSERT_TRUE(*run(env.loop, pods->kill("u", "c")));
  ASSERT_TRUE(wait_until([&] { return pods->find("u")->state.last("c")->exited(); }));
  const auto refused = *run(env.loop, streams->dial("u", port));
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().message.contains("refused")) << refused.error().message;
}

}  // namespace
}  // namespace codeflare::node
