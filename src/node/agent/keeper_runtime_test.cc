#include "node/agent/keeper_runtime.h"

#include "base/async/sleep.h"
#include "node/agent/internal/real_test_processes.h"
#include "node/agent/keeper_processes.h"
#include "node/agent/left_behind.h"
#include "node/agent/log_reader.h"
#include "node/testing/scratch.h"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <unistd.h>

namespace codeflare::node {
namespace {

using internal::is_locked;
using internal::is_there;
using internal::parent_of;
using internal::process_with;
using internal::read_proc;
using internal::send_signal;
using std::chrono::milliseconds;
using std::chrono::seconds;

// Real keepers and real processes. Isolated ones are skipped where the system forbids namespaces.
class Keepers : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam()) {
      const auto allowed = *run(env.loop, probe_isolation(env, CODEFLARE_KEEPER, path("")));
      if (!allowed) {
        GTEST_SKIP() << "namespaces are forbidden here: " << allowed.error().message;
      }
    }
    agent_starts();
    ASSERT_TRUE(make());
  }
  void TearDown() override {
    if (pods == nullptr) {
      return;
    }
    EXPECT_TRUE(*run(env.loop, pods->remove("u")));
    EXPECT_FALSE(env.files.exists(path("pods/u")));
    agent_ends();
  }

  void agent_starts() {
    pods = std::make_unique<KeeperRuntime>(
        env,
        KeeperRuntimeOptions{
            .directory = path(""), .program = CODEFLARE_KEEPER, .isolated = GetParam()},
        *volumes, [this](const std::string& socket) -> Result<std::unique_ptr<net::LocalStream>> {
          if (deaf > 0) {
            --deaf;
            return fail(unavailable("it does not listen"));
          }
          return net::connect_local(env.loop, socket);
        });
  }
  // As kill -9: nobody says goodbye to the keepers.
  void agent_ends() {
    ASSERT_TRUE(run(env.loop, pods->stop()));
    pods.reset();
  }
  Result<void> make() {
    return *run(env.loop,
                pods->make({.spec = {.ns = "default",
                                     .name = "p",
                                     .uid = "u",
                                     .hostname = "pod-p",
                                     .grace_seconds = grace_seconds},
                            .volumes = {{.name = "data"},
                                        {.name = "conf",
                                         .kind = VolumePlan::Kind::files,
                                         .files = {{.path = "k", .content = "configured"}}}},
                            .etc = {{"hosts", "127.0.0.1 localhost\n"},
                                    {"passwd", "root:x:0:0::/root:/bin/sh\n"}}}));
  }

  void start(std::string name, std::string script, std::int32_t attempt = 0,
             ContainerSpec more = {}) {
    more.name = std::move(name);
    more.attempt = attempt;
    more.command = {"/bin/sh", "-c", std::move(script)};
    more.environment.push_back("PATH=/usr/bin:/bin");
    const auto done = *run(env.loop, pods->start("u", std::move(more)));
    ASSERT_TRUE(done) << done.error().to_string();
  }
  const RunRecord* last(std::string_view name) { return pods->find("u")->state.last(name); }

  template <typename Test>
  bool wait_until(Test test) {
    return *run(env.loop, poll(test));
  }
  template <typename Test>
  Task<bool> poll(Test test) {
    const Instant until = after(env.clock.now(), seconds(60));
    while (!test() && env.clock.now() < until) {
      static_cast<void>(co_await sleep_for(milliseconds(5)));
    }
    co_return test();
  }
  Task<bool> ask_until_heard(std::string name) {
    const Instant until = after(env.clock.now(), seconds(60));
    while (!co_await pods->ask_to_end("u", name)) {
      if (env.clock.now() > until) {
        co_return false;
      }
      static_cast<void>(co_await sleep_for(milliseconds(5)));
    }
    co_return true;
  }
  RunRecord end_of(std::string_view name) {
    EXPECT_TRUE(wait_until([&] { return last(name) != nullptr && last(name)->exited(); }));
    return *last(name);
  }
  std::string log_of(const std::string& name, std::int32_t attempt = 0) {
    LogQuery query{.directory = pods->log_directory("u", name), .attempt = attempt};
    return **run(env.loop, net::read_all(read_log(env, *files, std::move(query)), 64u << 20));
  }
  // Without the loop, for wait_until().
  bool has_logged(const std::string& name, std::string_view text) {
    const auto log = env.files.read(pods->log_directory("u", name) + "/0.0.log");
    return log && log->contains(text);
  }
  std::string path(std::string_view name) const { return scratch.path(name); }

  testing::Scratch scratch;
  Env env = scratch.env;
  std::unique_ptr<VolumeWriter> volumes = make_volume_writer();
  std::unique_ptr<LogFiles> files = make_log_files();
  std::unique_ptr<KeeperRuntime> pods;
  int deaf = 0;  // so many tries to reach a keeper fail
  std::optional<std::int64_t> grace_seconds{};
};

INSTANTIATE_TEST_SUITE_P(Pods, Keepers, ::testing::Values(true, false),
                         [](const auto& info) { return info.param ? "isolated" : "plain"; });

TEST_P(Keepers, keep_exit_codes_and_logs) {
  start("c", "echo out; echo err >&2; printf rest; exit 3");
  const RunRecord run = end_of("c");
  EXPECT_EQ(run.exit_code, 3) << run.error;
  EXPECT_EQ(run.signal, 0);
  EXPECT_GT(run.started, 0);
  EXPECT_GE(run.finished, run.started);
  const std::string log = log_of("c");
  EXPECT_TRUE(log.contains("out\n") && log.contains("err\n") && log.contains("rest")) << log;
}

TEST_P(Keepers, tell_the_signal_that_ended_a_program) {
  start("c", "kill -SEGV $$");
  EXPECT_EQ(end_of("c").exit_code, 128 + SIGSEGV);
  EXPECT_EQ(last("c")->signal, SIGSEGV);
}

TEST_P(Keepers, say_why_a_program_cannot_be_started) {
  ASSERT_TRUE(*run(env.loop, pods->start("u", {.name = "c", .command = {"no-such-program"}})));
  const RunRecord run = end_of("c");
  EXPECT_EQ(run.exit_code, 128);
  EXPECT_EQ(run.error, "exec: \"no-such-program\": executable file not found in $PATH");
}

TEST_P(Keepers, pass_signals_on_and_note_when) {
  start("c", "trap 'echo bye; exit 7' TERM; echo ready; while :; do sleep 0.05; done");
  ASSERT_TRUE(wait_until([&] { return has_logged("c", "ready"); }));
  ASSERT_TRUE(*run(env.loop, pods->ask_to_end("u", "c")));
  EXPECT_EQ(end_of("c").exit_code, 7);
  EXPECT_GT(last("c")->asked_to_end, 0);
  EXPECT_TRUE(log_of("c").contains("bye"));
}

TEST_P(Keepers, kill_programs_that_will_not_end_with_all_their_children) {
  start("c",
        "trap '' TERM; (setsid sh -c 'trap \"\" TERM; while :; do sleep 1; done' &) ; echo ready; "
        "while :; do sleep 0.1; done");
  ASSERT_TRUE(wait_until([&] { return has_logged("c", "ready"); }));
  ASSERT_TRUE(*run(env.loop, pods->ask_to_end("u", "c")));
  ASSERT_TRUE(*run(env.loop, pods->kill("u", "c")));
  EXPECT_EQ(end_of("c").exit_code, 137);
}

TEST_P(Keepers, kill_an_init_that_does_not_answer_with_all_that_it_has) {
  const std::string mark = env.random.uuid();
  start("c", "echo ready; while :; do sleep 0.1; done # " + mark);
  ASSERT_TRUE(wait_until([&] { return has_logged("c", "ready"); }));
  const pid_t program = process_with(mark);
  ASSERT_GT(program, 0);
  ASSERT_TRUE(send_signal(parent_of(program), SIGSTOP));
  ASSERT_TRUE(*run(env.loop, pods->kill("u", "c")));
  EXPECT_EQ(end_of("c").exit_code, 137);
  EXPECT_TRUE(wait_until([&] { return !is_there(program); }));
}

// Sixty-four processes that start others as fast as they can.
std::string that_only_forks(const std::string& mark) {
  return "f() { if [ $1 = 0 ]; then while :; do (:); done; fi; f $(($1 - 1)) & f $(($1 - 1)); }; "
         "echo ready; f 6 # " +
         mark;
}

TEST_P(Keepers, end_a_container_that_only_forks) {
  const std::string mark = env.random.uuid();
  start("c", that_only_forks(mark));
  ASSERT_TRUE(wait_until([&] { return has_logged("c", "ready"); }));
  ASSERT_TRUE(*run(env.loop, pods->kill("u", "c")));
  EXPECT_EQ(end_of("c").exit_code, 137);
  EXPECT_TRUE(wait_until([&] { return process_with(mark) == 0; }));
}

TEST_P(Keepers, that_do_not_answer_are_killed_with_what_only_forks) {
  const std::string mark = env.random.uuid();
  start("c", that_only_forks(mark));
  ASSERT_TRUE(wait_until([&] { return has_logged("c", "ready"); }));
  pid_t init = 0;
  // One that has just ended has no parent any more.
  ASSERT_TRUE(wait_until([&] {
    for (init = process_with(mark); init > 0; init = parent_of(init)) {
      if (read_proc(init, "cmdline").contains("pod-keeper")) {
        return true;
      }
    }
    return false;
  }));
  ASSERT_TRUE(send_signal(parent_of(init), SIGSTOP));
  kill_keeper(path("pods/u"));
  EXPECT_TRUE(wait_until([&] { return !is_locked(path("pods/u/keeper.lock")); }));
  EXPECT_TRUE(wait_until([&] { return process_with(mark) == 0; }));
  EXPECT_TRUE(wait_until([&] { return !pods->find("u")->alive; }));
}

TEST_P(Keepers, leave_no_place_for_another_while_an_init_of_theirs_lives) {
  if (GetParam()) {
    GTEST_SKIP() << "inits end with the namespace of their keeper";
  }
  const std::string mark = env.random.uuid();
  start("c", "echo ready; while :; do sleep 0.1; done # " + mark);
  ASSERT_TRUE(wait_until([&] { return has_logged("c", "ready"); }));
  const pid_t program = process_with(mark);
  ASSERT_GT(program, 0);
  const pid_t init = parent_of(program);
  const pid_t keeper = parent_of(init);
  ASSERT_TRUE(send_signal(init, SIGSTOP));
  ASSERT_TRUE(send_signal(keeper, SIGKILL));
  ASSERT_TRUE(wait_until([&] { return !is_there(keeper); }));
  EXPECT_TRUE(is_locked(path("pods/u/keeper.lock")));
  EXPECT_TRUE(pods->find("u")->alive);      // something of it is
  ASSERT_TRUE(send_signal(init, SIGCONT));  // and it obeys the order from its keeper's death
  EXPECT_TRUE(wait_until([&] { return !is_locked(path("pods/u/keeper.lock")); }));
  EXPECT_TRUE(wait_until([&] { return !is_there(program); }));
  EXPECT_TRUE(wait_until([&] { return !pods->find("u")->alive; }));
}

TEST_P(Keepers, daemons_end_with_their_container) {
  start("c", "(setsid sh -c 'while :; do echo beat; sleep 0.05; done' &); sleep 0.3; exit 0");
  EXPECT_EQ(end_of("c").exit_code, 0);
  const std::size_t size = log_of("c").size();
  EXPECT_GT(size, 0u);
  start("other", "sleep 0.3");
  end_of("other");
  EXPECT_EQ(log_of("c").size(), size);
}

TEST_P(Keepers, refuse_a_run_that_they_have_seen) {
  start("c", "exit 0");
  end_of("c");
  const auto again = *run(env.loop, pods->start("u", {.name = "c", .command = {"true"}}));
  EXPECT_EQ(again.error().code, ErrorCode::failed_precondition);
  start("c", "exit 5", 1);
  EXPECT_EQ(end_of("c").exit_code, 5);
  EXPECT_EQ(pods->find("u")->state.previous("c")->exit_code, 0);
}

TEST_P(Keepers, outlive_the_agent_and_are_adopted_with_what_happened_meanwhile) {
  start("runs", "echo hello; while :; do sleep 0.1; done");
  start("ends", "sleep 0.2; echo done; exit 4");
  agent_ends();
  agent_starts();
  const auto found = *run(env.loop, pods->adopt());
  ASSERT_TRUE(found) << found.error().to_string();
  ASSERT_EQ(found->size(), 1u);
  EXPECT_TRUE((*found)[0].alive);
  EXPECT_EQ((*found)[0].spec.name, "p");
  EXPECT_EQ(end_of("ends").exit_code, 4);
  EXPECT_EQ(log_of("ends"), "done\n");
  EXPECT_FALSE(last("runs")->exited());
}

TEST_P(Keepers, note_what_the_end_of_the_node_has_cut_off_and_what_had_ended_before) {
  start("before", "exit 0");
  end_of("before");
  start("c", "trap 'exit 0' TERM; echo ready; while :; do sleep 0.05; done");
  start("hooked", "echo ready; while :; do sleep 0.05; done");
  ASSERT_TRUE(
      wait_until([&] { return has_logged("c", "ready") && has_logged("hooked", "ready"); }));
  using Ask = PodRuntime::Ask;
  ASSERT_TRUE(*run(env.loop, pods->cut_off("u", "before", Ask::now)));
  ASSERT_TRUE(*run(env.loop, pods->cut_off("u", "hooked", Ask::later)));
  ASSERT_TRUE(*run(env.loop, pods->cut_off("u", "c", Ask::now)));
  EXPECT_EQ(end_of("c").exit_code, 0);
  EXPECT_TRUE(last("c")->cut_off);
  EXPECT_FALSE(last("before")->cut_off);
  EXPECT_TRUE(last("hooked")->cut_off);
  EXPECT_EQ(last("hooked")->asked_to_end, 0);
  EXPECT_TRUE(last("hooked")->running());
  // The next agent knows it too.
  ASSERT_TRUE(*run(env.loop, pods->close("u")));
  agent_ends();
  agent_starts();
  ASSERT_TRUE(*run(env.loop, pods->adopt()));
  EXPECT_TRUE(last("c")->cut_off);
  EXPECT_FALSE(last("before")->cut_off);
}

TEST_P(Keepers, say_which_of_them_has_seen_a_run) {
  start("c", "exit 0");
  EXPECT_EQ(end_of("c").sandbox, pods->find("u")->state.sandbox);
  ASSERT_TRUE(*run(env.loop, pods->close("u")));
  ASSERT_TRUE(make());
  EXPECT_LT(last("c")->sandbox, pods->find("u")->state.sandbox);
  start("c", "exit 0", 1);
  EXPECT_EQ(end_of("c").sandbox, pods->find("u")->state.sandbox);
}

TEST_P(Keepers, that_were_left_behind_end_with_the_grace_of_their_pod) {
  grace_seconds = 1;
  ASSERT_TRUE(*run(env.loop, pods->remove("u")));
  ASSERT_TRUE(make());
  const std::string mark = env.random.uuid();
  start("polite", "trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.05; done");
  start("stubborn", "trap '' TERM; echo ready; while :; do sleep 0.05; done # " + mark);
  ASSERT_TRUE(
      wait_until([&] { return has_logged("polite", "ready") && has_logged("stubborn", "ready"); }));
  agent_ends();
  const auto ended = *run(env.loop, end_left_behind(env, path(""), {}));
  ASSERT_TRUE(ended) << ended.error().to_string();
  EXPECT_EQ(*ended, 1u);
  EXPECT_FALSE(is_locked(path("pods/u/keeper.lock")));
  EXPECT_EQ(process_with(mark), 0);
  EXPECT_EQ(run(env.loop, end_left_behind(env, path(""), {}))->value_or(9), 0u);
  // The next agent finds their outcome.
  agent_starts();
  ASSERT_TRUE(*run(env.loop, pods->adopt()));
  EXPECT_EQ(last("polite")->exit_code, 0);
  EXPECT_EQ(last("stubborn")->exit_code, 137);
  EXPECT_TRUE(last("polite")->cut_off && last("stubborn")->cut_off);
  EXPECT_TRUE(has_logged("polite", "bye"));
}

TEST_P(Keepers, are_not_given_up_when_they_cannot_be_reached_for_a_while) {
  start("c", "trap 'exit 7' TERM; echo ready; while :; do sleep 0.1; done");
  EXPECT_TRUE(wait_until([&] { return has_logged("c", "ready"); }));
  agent_ends();
  agent_starts();
  deaf = 3;
  const auto found = *run(env.loop, pods->adopt());
  ASSERT_TRUE(found) << found.error().to_string();
  EXPECT_TRUE(found->at(0).alive);
  EXPECT_FALSE(last("c")->exited());
  // As soon as it can be reached again.
  EXPECT_TRUE(wait_until([&] { return deaf == 0; }));
  EXPECT_TRUE(wait_until([&] { return last("c")->running(); }));
  EXPECT_TRUE(*run(env.loop, ask_until_heard("c")));
  EXPECT_EQ(end_of("c").exit_code, 7);
}

TEST_P(Keepers, are_found_by_those_who_want_to_make_one) {
  start("c", "while :; do sleep 0.1; done");
  agent_ends();
  agent_starts();  // and does not know of it
  ASSERT_TRUE(make());
  EXPECT_TRUE(wait_until([&] { return last("c") != nullptr && last("c")->running(); }));
}

TEST_P(Keepers, are_killed_when_they_do_not_end_as_they_are_told) {
  start("c", "while :; do sleep 0.1; done");
  agent_ends();
  agent_starts();
  deaf = 1'000'000;
  ASSERT_TRUE(*run(env.loop, pods->adopt()));
  EXPECT_TRUE(pods->find("u")->alive);
  const auto closed = *run(env.loop, pods->close("u"));
  EXPECT_TRUE(closed) << closed.error().to_string();
  EXPECT_FALSE(pods->find("u")->alive);
  EXPECT_EQ(last("c")->exit_code, 137);
  // The kernel may still be ending the init, which holds the lock too.
  EXPECT_TRUE(wait_until([&] { return env.files.lock(path("pods/u/keeper.lock")).has_value(); }));
}

// Tools that look for them, tests among them, go by the words of their start.
TEST_P(Keepers, have_their_directory_behind_the_word_pod_keeper) {
  const std::string mark = env.random.uuid();
  start("c", "echo ready; while :; do sleep 0.1; done # " + mark);
  ASSERT_TRUE(wait_until([&] { return has_logged("c", "ready"); }));
  const std::string words = read_proc(parent_of(parent_of(process_with(mark))), "cmdline");
  const std::size_t at = words.find("pod-keeper");
  ASSERT_NE(at, std::string::npos) << words;
  const std::string next = words.c_str() + at + sizeof "pod-keeper";
  EXPECT_EQ(std::filesystem::weakly_canonical(next).string(),
            std::filesystem::canonical(path("pods/u")).string());
}

TEST_P(Keepers, are_one_per_pod) {
  start("c", "while :; do sleep 0.1; done");
  const auto second = make();
  ASSERT_FALSE(second);
  EXPECT_TRUE(second.error().message.contains("has a keeper already")) << second.error().message;
  EXPECT_TRUE(wait_until([&] { return last("c")->running(); }));
}

TEST_P(Keepers, leave_their_runs_to_the_next) {
  start("c", "exit 9");
  end_of("c");
  ASSERT_TRUE(*run(env.loop, pods->close("u")));
  EXPECT_FALSE(pods->find("u")->alive);
  EXPECT_EQ(last("c")->exit_code, 9);
  ASSERT_TRUE(make());
  EXPECT_TRUE(pods->find("u")->alive);
  EXPECT_EQ(last("c")->exit_code, 9);
  start("c", "exit 0", 1);
  EXPECT_EQ(end_of("c").attempt, 1);
}

TEST_P(Keepers, end_everything_when_they_are_closed) {
  start("c", "trap '' TERM; while :; do sleep 0.1; done");
  ASSERT_TRUE(*run(env.loop, pods->close("u")));
  EXPECT_EQ(last("c")->exit_code, 137);
  agent_ends();
  agent_starts();
  const auto found = *run(env.loop, pods->adopt());
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->at(0).alive);
  EXPECT_EQ(last("c")->exit_code, 137);
}

TEST_P(Keepers, read_last_words) {
  if (!GetParam()) {
    GTEST_SKIP() << "plain processes have no file at terminationMessagePath";
  }
  start("c", "echo goodbye > /dev/termination-log; exit 1", 0,
        {.message_path = "/dev/termination-log"});
  EXPECT_EQ(end_of("c").message, "goodbye\n");
  start("d", "echo one; echo two; exit 1", 0,
        {.message_path = "/dev/termination-log", .message_from_log = true});
  EXPECT_EQ(end_of("d").message, "one\ntwo\n");
  // The end of what is too long, and of logs a few lines at most.
  start("e",
        "head -c 5000 /dev/zero | tr '\\0' x > /dev/termination-log; echo end >> "
        "/dev/termination-log",
        0, {.message_path = "/dev/termination-log"});
  EXPECT_EQ(end_of("e").message, std::string(4092, 'x') + "end\n");
  start("f", "i=0; while [ $i -lt 100 ]; do echo $i; i=$((i+1)); done; exit 1", 0,
        {.message_path = "/dev/termination-log", .message_from_log = true});
  EXPECT_TRUE(end_of("f").message.starts_with("20\n21\n")) << last("f")->message;
  EXPECT_TRUE(last("f")->message.ends_with("\n99\n")) << last("f")->message;
  EXPECT_TRUE(env.files.list(path("pods/u/messages"))->empty());
}

TEST_P(Keepers, show_volumes_at_their_paths) {
  if (!GetParam()) {
    GTEST_SKIP() << "plain processes see no mounts";
  }
  const std::vector<MountSpec> mounts = {
      {.source = "volumes/data", .target = "/data"},
      {.source = "volumes/data/sub", .target = "/var/run/sub"},
      {.source = "volumes/conf", .target = "/etc/conf", .read_only = true}};
  start("w",
        "cat /etc/conf/k; echo x > /data/f; echo y > /var/run/sub/g; "
        "echo no > /etc/conf/k || echo refused",
        0, {.mounts = mounts});
  EXPECT_EQ(end_of("w").exit_code, 0) << last("w")->error;
  EXPECT_TRUE(log_of("w").contains("configured")) << log_of("w");
  EXPECT_TRUE(log_of("w").contains("refused")) << log_of("w");
  start("r", "cat /data/f /data/sub/g; hostname; cat /etc/hosts", 0, {.mounts = mounts});
  EXPECT_EQ(end_of("r").exit_code, 0) << last("r")->error;
  EXPECT_EQ(log_of("r"), "x\ny\npod-p\n127.0.0.1 localhost\n");
}

TEST_P(Keepers, leave_nothing_behind_whatever_modes_their_containers_used) {
  const std::string at = GetParam() ? "/data" : path("pods/u/volumes/data");
  start("c",
        "cd " + at + " && mkdir -p a/b && touch a/b/f && chmod 0 a/b a && mkdir c && chmod 555 c",
        0, {.mounts = {{.source = "volumes/data", .target = "/data"}}});
  EXPECT_EQ(end_of("c").exit_code, 0) << last("c")->error;
  const auto removed = *run(env.loop, pods->remove("u"));
  EXPECT_TRUE(removed) << removed.error().to_string();
  EXPECT_FALSE(env.files.exists(path("pods/u")));
  EXPECT_TRUE(wait_until([&] { return env.files.list(path("trash"))->empty(); }));
}

TEST_P(Keepers, mount_nothing_where_links_in_a_volume_lead_out) {
  if (!GetParam()) {
    GTEST_SKIP() << "plain processes see no mounts";
  }
  const MountSpec data{.source = "volumes/data", .target = "/data"};
  start("links",
        "ln -s /pod /data/out; ln -s l2 /data/sub; ln -s /pod /data/l2; mkfifo /data/pipe; "
        "mkdir /data/d; ln -s d /data/inside",
        0, {.mounts = {data}});
  EXPECT_EQ(end_of("links").exit_code, 0) << last("links")->error;

  start("source", "true", 0, {.mounts = {{.source = "volumes/data/out/x", .target = "/x"}}});
  EXPECT_TRUE(end_of("source").error.contains("leads out of its volume")) << last("source")->error;
  // Led to a place of the container's own file system, as the same links lead its programs.
  start("target", "cat /pod/x/k", 0,
        {.mounts = {data, {.source = "volumes/conf", .target = "/data/sub/x"}}});
  EXPECT_EQ(end_of("target").exit_code, 0) << last("target")->error;
  EXPECT_TRUE(log_of("target").contains("configured")) << log_of("target");
  start("inside", "touch /x/made", 0,
        {.mounts = {{.source = "volumes/data/inside", .target = "/x"}}});
  EXPECT_EQ(end_of("inside").exit_code, 0) << last("inside")->error;
  EXPECT_TRUE(env.files.exists(path("pods/u/volumes/data/d/made")));
  EXPECT_FALSE(env.files.exists(path("pods/u/x")));
}

TEST_P(Keepers, do_not_wait_at_a_pipe_that_lies_where_something_is_mounted) {
  if (!GetParam()) {
    GTEST_SKIP() << "plain processes see no mounts";
  }
  const MountSpec data{.source = "volumes/data", .target = "/data"};
  start("first", "mkfifo /data/pipe", 0, {.mounts = {data}});
  EXPECT_EQ(end_of("first").exit_code, 0) << last("first")->error;
  start("c", "echo goodbye > /data/pipe; exit 1", 0,
        {.mounts = {data}, .message_path = "/data/pipe"});
  EXPECT_EQ(end_of("c").message, "goodbye\n") << last("c")->error;
}

TEST_P(Keepers, hide_the_machine_from_their_containers) {
  if (!GetParam()) {
    GTEST_SKIP() << "plain processes see what their user sees";
  }
  ASSERT_TRUE(env.files.write(path("secret"), "hush"));
  start("c", "cat " + path("secret") +
                 " 2>/dev/null && echo LEAK file; "
                 "ls " +
                 path("pods") +
                 " 2>/dev/null && echo LEAK pods; "
                 "cat /proc/1/root/pod/sandbox.json 2>/dev/null && echo LEAK keeper; "
                 "ls /proc/1/root/ >/dev/null 2>&1 && echo LEAK init; "
                 "touch /usr/x 2>/dev/null && echo LEAK usr; "
                 "[ -w /proc/sys/kernel/core_pattern ] && echo LEAK sysctl; "
                 "[ -w /proc/sysrq-trigger ] && echo LEAK sysrq; "
                 "for file in acpi config.gz interrupts kcore keys pagetypeinfo slabinfo "
                 "timer_list vmallocinfo; do "
                 "[ $(cat /proc/$file 2>/dev/null | wc -c) = 0 ] || echo LEAK $file; "
                 "chmod $(stat -c %a /proc/$file 2>/dev/null) /proc/$file 2>/dev/null && "
                 "echo LEAK mode of $file; done; "
                 "ls -A /proc/acpi 2>/dev/null | grep . && echo LEAK acpi; "
                 "unshare -U true 2>/dev/null && echo LEAK namespaces; "
                 "unshare -Urpf --mount-proc true 2>/dev/null && echo LEAK proc; "
                 "umount /proc 2>/dev/null && echo LEAK umount; "
                 "mount -t tmpfs x /tmp 2>/dev/null && echo LEAK mount; "
                 "kill -0 1 2>/dev/null && kill -9 1; "
                 "ls /proc | grep -c '^[0-9]'; id -u; echo end");
  EXPECT_EQ(end_of("c").exit_code, 0) << last("c")->error;
  const std::string log = log_of("c");
  EXPECT_FALSE(log.contains("LEAK")) << log;
  EXPECT_TRUE(log.ends_with("0\nend\n")) << log;
}

TEST_P(Keepers, let_programs_have_threads_processes_and_shared_memory) {
  start("c",
        "command -v python3 > /dev/null || exit 0; python3 -c '"
        "import subprocess, threading, multiprocessing.shared_memory as shared\n"
        "thread = threading.Thread(target=print, args=(1,)); thread.start(); thread.join()\n"
        "subprocess.run([\"true\"], check=True, start_new_session=True)\n"
        "block = shared.SharedMemory(create=True, size=1 << 20)\n"
        "block.buf[0] = 1; block.close(); block.unlink()'");
  EXPECT_EQ(end_of("c").exit_code, 0) << last("c")->error << log_of("c");
}

TEST_P(Keepers, give_containers_the_id_they_ask_for) {
  if (!GetParam()) {
    GTEST_SKIP() << "plain processes run as their user";
  }
  start("c",
        "id -u; id -g; grep CapEff /proc/self/status; grep NoNewPrivs /proc/self/status; "
        "grep Seccomp: /proc/self/status",
        0, {.run_as_user = 1234});
  EXPECT_EQ(end_of("c").exit_code, 0) << last("c")->error;
  EXPECT_EQ(log_of("c"), "1234\n1234\nCapEff:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\n");
}

TEST_P(Keepers, make_the_root_of_a_container_read_only_on_request_and_nothing_else) {
  if (!GetParam()) {
    GTEST_SKIP() << "plain processes have the machine's root";
  }
  start("c",
        "for place in / /tmp /run /etc /root /var/tmp /usr; do "
        "touch $place/file 2>/dev/null && echo LEAK $place; done; "
        "for place in /data /dev/shm; do echo x > $place/file || echo REFUSED $place; done; "
        "echo x > /dev/null || echo REFUSED null; echo last > /dev/termination-log; "
        "ls /proc/self > /dev/null || echo REFUSED proc; echo end",
        0,
        {.mounts = {{.source = "volumes/data", .target = "/data"}},
         .read_only_root = true,
         .message_path = "/dev/termination-log"});
  EXPECT_EQ(end_of("c").exit_code, 0) << last("c")->error;
  EXPECT_EQ(log_of("c"), "end\n");
  EXPECT_EQ(last("c")->message, "last\n");
  EXPECT_TRUE(env.files.exists(path("pods/u/volumes/data/file")));
}

TEST_P(Keepers, offer_containers_to_the_kernel_before_themselves) {
  const std::string mark = env.random.uuid();
  start("c", "cat /proc/self/oom_score_adj; while :; do sleep 0.1; done # " + mark, 0,
        {.oom_score = 1000});
  EXPECT_TRUE(wait_until([&] { return has_logged("c", "F 1000\n"); }));
  const pid_t keeper = parent_of(parent_of(process_with(mark)));
  EXPECT_EQ(read_proc(keeper, "oom_score_adj"), read_proc(::getpid(), "oom_score_adj"));
}

// The kernel lets every user lower the score of their own processes again.
TEST_P(Keepers, keep_the_score_that_a_container_was_given) {
  if (!GetParam()) {
    GTEST_SKIP() << "plain processes write what their user writes";
  }
  start("c",
        "for file in /proc/self/oom_score_adj /proc/thread-self/oom_score_adj "
        "/proc/$$/oom_score_adj /proc/1/oom_score_adj /proc/self/oom_adj; do "
        "(echo 0 > $file) 2>/dev/null && echo LEAK $file; done; cat /proc/self/oom_score_adj",
        0, {.oom_score = 700});
  EXPECT_EQ(end_of("c").exit_code, 0) << last("c")->error;
  EXPECT_EQ(log_of("c"), "700\n");
}

// Tries the modes that the files have anyway: they are the machine's.
TEST_P(Keepers, let_containers_use_device_files_and_change_none) {
  if (!GetParam()) {
    GTEST_SKIP() << "plain processes have the machine's devices";
  }
  start("c",
        "cd /dev; for file in null zero full random urandom tty; do "
        "chmod 666 $file 2>/dev/null && echo LEAK mode $file; "
        "touch $file 2>/dev/null && echo LEAK time $file; "
        "done; "
        "echo x > null || echo REFUSED null; head -c 1 zero > null || echo REFUSED zero; "
        "echo x > urandom || echo REFUSED urandom; "
        "echo out > /dev/stdout; : > /dev/stderr || echo REFUSED stderr; echo end");
  EXPECT_EQ(end_of("c").exit_code, 0) << last("c")->error;
  EXPECT_EQ(log_of("c"), "out\nend\n");
}

TEST_P(Keepers, have_no_devices_and_no_rights_of_owners_in_volumes) {
  if (!GetParam()) {
    GTEST_SKIP() << "plain processes see no mounts";
  }
  start("c", "grep -E ' /(data|conf) ' /proc/self/mountinfo | cut -d' ' -f5,6", 0,
        {.mounts = {{.source = "volumes/data", .target = "/data"},
                    {.source = "volumes/conf", .target = "/conf", .read_only = true}}});
  EXPECT_EQ(end_of("c").exit_code, 0) << last("c")->error;
  EXPECT_TRUE(log_of("c").contains("/data rw,nosuid,nodev")) << log_of("c");
  EXPECT_TRUE(log_of("c").contains("/conf ro,nosuid,nodev")) << log_of("c");
}

TEST_P(Keepers, take_logs_as_fast_as_they_come) {
  start("c",
        "i=0; while [ $i -lt 2000 ]; do echo line $i; i=$((i+1)); done; "
        "head -c 300000 /dev/zero | tr '\\0' x; echo");
  EXPECT_EQ(end_of("c").exit_code, 0);
  const std::string log = log_of("c");
  EXPECT_TRUE(log.contains("line 1999\n"));
  EXPECT_TRUE(log.ends_with(std::string(1000, 'x') + "\n"));
}

TEST(KeepersOfNobody, directories_without_a_sandbox_are_removed) {
  testing::Scratch scratch;
  Env env = scratch.env;
  ASSERT_TRUE(env.files.make_directories(scratch.path("pods/half"), 0700));
  const auto volumes = make_volume_writer();
  KeeperRuntime pods(
      env, {.directory = scratch.path(""), .program = CODEFLARE_KEEPER}, *volumes,
      [&](const std::string& socket) { return net::connect_local(env.loop, socket); });
  const auto found = *run(env.loop, pods.adopt());
  ASSERT_TRUE(found) << found.error().to_string();
  EXPECT_TRUE(found->empty());
  EXPECT_FALSE(env.files.exists(scratch.path("pods/half")));
  ASSERT_TRUE(run(env.loop, pods.stop()));
}

}  // namespace
}  // namespace codeflare::node
