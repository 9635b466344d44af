#include "base/async/sleep.h"
#include "node/agent/keeper_runtime.h"
#include "node/agent/limit_groups.h"
#include "node/stream/keeper_streams.h"
#include "node/stream/stream_exec.h"
#include "node/testing/scratch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

namespace codeflare::node {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Real processes under limits: of the kernel where it lets us, else of their keeper.
class Limited : public ::testing::Test {
 protected:
  enum class Kept : std::uint8_t { by_the_kernel, by_the_keeper };

  // False when the system does not allow it; says why.
  bool begin(Kept kept, ResourceBounds pod_bounds = {}) {
    if (kept == Kept::by_the_kernel) {
      auto made = LimitGroups::find("codeflare-test-" + env.random.uuid());
      if (!made) {
        why_not_ = "control groups are not to be had here: " + made.error().message;
        return false;
      }
      groups_ = *std::move(made);
    }
    isolated_ = (*run(env.loop, probe_isolation(env, CODEFLARE_KEEPER, path("")))).has_value();
    pods_ = std::make_unique<KeeperRuntime>(env,
                                            KeeperRuntimeOptions{.directory = path(""),
                                                                 .program = CODEFLARE_KEEPER,
                                                                 .isolated = isolated_,
                                                                 .groups = groups_.get()},
                                            *volumes_, [this](const std::string& socket) {
                                              return net::connect_local(env.loop, socket);
                                            });
    sandbox_.spec = {.ns = "default", .name = "p", .uid = uid_};
    sandbox_.spec.hidden = hidden_;
    sandbox_.bounds = pod_bounds;
    sandbox_.volumes.push_back({.name = "data"});
    const auto sandbox = *run(env.loop, pods_->make(sandbox_));
    EXPECT_TRUE(sandbox) << sandbox.error().to_string();
    return true;
  }
  void TearDown() override {
    if (pods_ == nullptr) {
      return;
    }
    EXPECT_TRUE(*run(env.loop, pods_->remove(uid_)));
    ASSERT_TRUE(run(env.loop, pods_->stop()));
    pods_.reset();
    groups_.reset();
    EXPECT_EQ(groups_left(), 0);
  }

  void start(const std::string& name, std::string script, ContainerSpec more = {}) {
    more.name = name;
    more.command = {"/bin/sh", "-c", std::move(script)};
    more.environment.push_back("PATH=/usr/bin:/bin");
    const auto done = *run(env.loop, pods_->start(uid_, std::move(more)));
    ASSERT_TRUE(done) << done.error().to_string();
  }
  RunRecord end_of(const std::string& name) {
    const RunRecord* last = nullptr;
    EXPECT_TRUE(*run(env.loop, wait_for_end(name)));
    last = pods_->find(uid_)->state.last(name);
    return last == nullptr ? RunRecord() : *last;
  }
  Task<bool> wait_for_end(std::string name) {
    const Instant until = after(env.clock.now(), seconds(60));
    while (env.clock.now() < until) {
      const RunRecord* last = pods_->find(uid_)->state.last(name);
      if (last != nullptr && last->exited()) {
        co_return true;
      }
      static_cast<void>(co_await sleep_for(milliseconds(5)));
    }
    co_return false;
  }
  Task<bool> wait_for_start(std::string name) {
    const Instant until = after(env.clock.now(), seconds(60));
    while (env.clock.now() < until) {
      const RunRecord* last = pods_->find(uid_)->state.last(name);
      if (last != nullptr && last->running()) {
        co_return true;
      }
      static_cast<void>(co_await sleep_for(milliseconds(5)));
    }
    co_return false;
  }
  // Of this pod, in any hierarchy; groups of others come and go, and end a walk through them.
  int groups_left() const {
    namespace fs = std::filesystem;
    for (;;) {
      int count = 0;
      std::error_code error;
      fs::recursive_directory_iterator entry("/sys/fs/cgroup",
                                             fs::directory_options::skip_permission_denied, error);
      for (; !error && entry != fs::end(entry); entry.increment(error)) {
        count += entry->path().filename() == uid_ ? 1 : 0;
      }
      if (!error || !fs::exists("/sys/fs/cgroup")) {
        return count;
      }
    }
  }
  std::string path(std::string_view name) const { return scratch.path(name); }

  testing::Scratch scratch;
  Env env = scratch.env;
  std::string uid_ = "u-" + env.random.uuid();
  std::unique_ptr<VolumeWriter> volumes_ = make_volume_writer();
  std::unique_ptr<LimitGroups> groups_;
  std::unique_ptr<KeeperRuntime> pods_;
  NewSandbox sandbox_;
  std::vector<std::string> hidden_;
  bool isolated_ = false;
  std::string why_not_;
};

// Takes 200 MiB and keeps them; shells hold what they read in memory.
constexpr const char* kGreedy = "x=$(head -c 200000000 /dev/zero | tr '\\0' x); sleep 60";

TEST_F(Limited, groups_that_belong_to_nobody_are_swept_away) {
  if (!begin(Kept::by_the_kernel)) {
    GTEST_SKIP() << why_not_;
  }
  const auto left = groups_->make_pod("left-" + uid_, {});
  ASSERT_TRUE(left) << left.error().to_string();
  KeeperRuntime next(
      env, {.directory = path(""), .program = CODEFLARE_KEEPER, .groups = groups_.get()}, *volumes_,
      [this](const std::string& socket) { return net::connect_local(env.loop, socket); });
  const auto found = *run(env.loop, next.adopt());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->size(), 1u);
  for (const std::string& directory : *left) {
    EXPECT_FALSE(env.files.exists(directory)) << directory;
  }
  for (const std::string& directory : groups_->directories_of(uid_)) {
    EXPECT_TRUE(env.files.exists(directory)) << directory;
  }
  ASSERT_TRUE(run(env.loop, next.stop()));
}

TEST_F(Limited, the_kernel_ends_a_container_that_eats_its_memory_and_no_other) {
  if (!begin(Kept::by_the_kernel)) {
    GTEST_SKIP() << why_not_;
  }
  start("modest", "while :; do sleep 0.1; done", {.memory_limit = 64 << 20});
  start("greedy", kGreedy, {.memory_limit = 64 << 20});
  const RunRecord run = end_of("greedy");
  EXPECT_EQ(run.reason, "OOMKilled");
  EXPECT_EQ(run.exit_code, 137);
  EXPECT_FALSE(pods_->find(uid_)->state.last("modest")->exited());
}

TEST_F(Limited, the_keeper_ends_a_container_that_eats_its_memory_where_the_kernel_does_not) {
  ASSERT_TRUE(begin(Kept::by_the_keeper));
  start("modest", "while :; do sleep 0.1; done", {.memory_limit = 64 << 20});
  start("greedy", kGreedy, {.memory_limit = 64 << 20});
  const RunRecord run = end_of("greedy");
  EXPECT_EQ(run.reason, "OOMKilled");
  EXPECT_EQ(run.exit_code, 137);
  EXPECT_EQ(run.signal, SIGKILL);
  EXPECT_FALSE(pods_->find(uid_)->state.last("modest")->exited());
}

TEST_F(Limited, what_a_container_writes_in_memory_has_one_bound) {
  ASSERT_TRUE(begin(Kept::by_the_keeper));
  if (!isolated_) {
    GTEST_SKIP() << "plain processes write where their user does";
  }
  start("c",
        "[ $(stat -c %d / /tmp /run /root /dev/shm | sort -u | wc -l) = 1 ] || exit 3; "
        "[ $(($(stat -f -c '%b * %S' /tmp))) -le 67108864 ] || exit 4; "
        "[ $(stat -c %a /tmp) = 1777 ] && [ $(stat -c %a /dev/shm) = 1777 ] || exit 5; "
        "[ -z \"$(ls -A /dev/shm)\" ] || exit 6",
        {.memory_limit = 64 << 20});
  EXPECT_EQ(end_of("c").exit_code, 0);
}

TEST_F(Limited, the_keeper_counts_files_in_memory) {
  ASSERT_TRUE(begin(Kept::by_the_keeper));
  if (!isolated_) {
    GTEST_SKIP() << "plain processes write where their user does";
  }
  start("c",
        "head -c 100000000 /dev/zero > /dev/shm/f; x=$(head -c 40000000 /dev/zero | tr '\\0' x); "
        "sleep 20",
        {.memory_limit = 128 << 20});
  EXPECT_EQ(end_of("c").reason, "OOMKilled");
}

TEST_F(Limited, the_keeper_counts_mapped_files_once) {
  ASSERT_TRUE(begin(Kept::by_the_keeper));
  if (!isolated_) {
    GTEST_SKIP() << "plain processes write where their user does";
  }
  start("c",
        "command -v python3 > /dev/null || exit 0; python3 -c '"
        "import mmap, time\n"
        "file = open(\"/dev/shm/x\", \"wb+\"); file.truncate(80 << 20)\n"
        "block = mmap.mmap(file.fileno(), 80 << 20)\n"
        "for at in range(0, 80 << 20, 1 << 20): block[at:at + (1 << 20)] = b\"x\" * (1 << 20)\n"
        "time.sleep(1.5)'",
        {.memory_limit = 128 << 20});
  const RunRecord run = end_of("c");
  EXPECT_EQ(run.exit_code, 0) << run.reason;
}

TEST_F(Limited, a_container_may_not_fork_for_ever_without_groups_either) {
  ASSERT_TRUE(begin(Kept::by_the_keeper));
  if (!isolated_) {
    GTEST_SKIP() << "plain processes are bounded as their user is";
  }
  const std::int64_t most = soft_processes_max(::sysconf(_SC_NPROCESSORS_ONLN));
  start("c", "set -- $(grep 'Max processes' /proc/self/limits); [ $3 -le " + std::to_string(most) +
                 " ]");
  EXPECT_EQ(end_of("c").exit_code, 0);
}

TEST_F(Limited, containers_are_in_their_own_groups_which_go_with_the_pod) {
  if (!begin(Kept::by_the_kernel)) {
    GTEST_SKIP() << why_not_;
  }
  start("c", "grep -c '/" + uid_ + "/c$' /proc/self/cgroup > /dev/null",
        {.memory_limit = 256 << 20, .cpu_limit_milli = 500, .cpu_request_milli = 250});
  EXPECT_EQ(end_of("c").exit_code, 0);
  EXPECT_GT(groups_left(), 0);
  ASSERT_TRUE(*run(env.loop, pods_->close(uid_)));
  EXPECT_EQ(groups_left(), 0);
}

TEST_F(Limited, programs_beside_the_containers_own_are_in_its_groups) {
  if (!begin(Kept::by_the_kernel)) {
    GTEST_SKIP() << why_not_;
  }
  start("c", "while :; do sleep 0.1; done", {.memory_limit = 256 << 20});
  ASSERT_TRUE(*run(env.loop, wait_for_start("c")));
  KeeperStreams streams(env.loop, [this](const std::string& uid) { return pods_->socket_of(uid); });
  StreamExec programs(streams);
  const auto ended = *run(
      env.loop, programs.run({.uid = uid_,
                              .container = "c",
                              .command = {"grep", "-c", "/" + uid_ + "/c$", "/proc/self/cgroup"}}));
  ASSERT_TRUE(ended) << ended.error().to_string();
  EXPECT_EQ(ended->exit_code, 0) << ended->output;
}

TEST_F(Limited, a_pod_that_forks_for_ever_is_stopped_by_its_bound) {
  if (!begin(Kept::by_the_kernel, {.pids_limit = 32})) {
    GTEST_SKIP() << why_not_;
  }
  start("c", "i=0; while [ $i -lt 100 ]; do sleep 30 & i=$((i+1)); done; echo all");
  EXPECT_NE(end_of("c").exit_code, 0);
}

TEST_F(Limited, all_pods_together_leave_the_machine_process_ids) {
  if (!begin(Kept::by_the_kernel, {.pids_limit = 32})) {
    GTEST_SKIP() << why_not_;
  }
  std::int64_t all = 0;
  std::ifstream("/proc/sys/kernel/pid_max") >> all;
  std::int64_t ours = 0;
  for (const std::string& pod : groups_->directories_of(uid_)) {
    std::ifstream file(pod.substr(0, pod.rfind('/')) + "/pids.max");
    file >> ours;
  }
  EXPECT_GT(ours, 0);
  EXPECT_LE(ours, all - all / 4);
}

TEST_F(Limited, who_asks_for_little_is_nice_to_others) {
  ASSERT_TRUE(begin(Kept::by_the_keeper));
  const int ours = ::getpriority(PRIO_PROCESS, 0);  // tests may be nice themselves
  start("c", "exit $(nice)", {.cpu_request_milli = 500});
  EXPECT_EQ(end_of("c").exit_code, std::min(ours + 8, 19));
  start("d", "exit $(nice)", {.cpu_request_milli = 2000});
  EXPECT_EQ(end_of("d").exit_code, std::min(ours + 5, 19));
}

TEST_F(Limited, what_a_pod_has_on_disk_is_counted) {
  ASSERT_TRUE(begin(Kept::by_the_keeper));
  ASSERT_TRUE(
      env.files.write(path("pods/" + uid_ + "/volumes/data/file"), std::string(1 << 20, 'x')));
  start("c", "head -c 300000 /dev/zero | tr '\\0' x; echo");
  end_of("c");
  const auto usage = *run(env.loop, pods_->usage(uid_));
  ASSERT_TRUE(usage) << usage.error().to_string();
  EXPECT_GE(usage->volumes.at("data"), 1 << 20);
  EXPECT_GE(usage->logs.at("c"), 300000);
  EXPECT_GE(usage->total(), (1 << 20) + 300000);
}

TEST_F(Limited, places_of_the_machine_are_volumes_and_stay_when_the_pod_goes) {
  ASSERT_TRUE(env.files.make_directories(path("shared")));
  sandbox_.volumes.push_back({.name = "shared",
                              .kind = VolumePlan::Kind::machine,
                              .source = path("shared"),
                              .type = "Directory"});
  ASSERT_TRUE(begin(Kept::by_the_keeper));
  const std::string at = isolated_ ? "/mnt/shared" : "$CODEFLARE_POD_ROOT/volumes/shared";
  start("c", "echo hello > " + at + "/file",
        {.mounts = {{.source = "volumes/shared", .target = "/mnt/shared"},
                    {.source = "volumes/shared/sub", .target = "/mnt/sub"}}});
  EXPECT_EQ(end_of("c").exit_code, 0);
  ASSERT_TRUE(*run(env.loop, pods_->remove(uid_)));
  EXPECT_EQ(env.files.read(path("shared/file")).value_or(""), "hello\n");
}

TEST_F(Limited, what_is_hidden_is_empty_in_a_place_that_holds_it) {
  ASSERT_TRUE(env.files.make_directories(path("home/state/up")));
  ASSERT_TRUE(env.files.write(path("home/state/up/key"), "hush"));
  ASSERT_TRUE(env.files.write(path("home/open"), "seen"));
  ASSERT_TRUE(env.files.write(path("home/config"), "hush"));
  sandbox_.volumes.push_back({.name = "home",
                              .kind = VolumePlan::Kind::machine,
                              .source = std::filesystem::canonical(path("home")).string(),
                              .type = "Directory"});
  const std::string home = std::filesystem::canonical(path("home")).string();
  hidden_ = {home + "/state/up", home + "/config", home + "/nowhere"};
  ASSERT_TRUE(begin(Kept::by_the_keeper));
  if (!isolated_) {
    GTEST_SKIP() << "plain processes see what their user sees";
  }
  start(
      "c",
      "[ $(cat /mnt/all/open) = seen ] || exit 3; [ $(ls -A /mnt/all/state/up /part | grep -c key) "
      "= 0 "
      "] || exit 4; "
      "cat /mnt/all/state/up/key /part/key 2> /dev/null && exit 5; "
      "touch /mnt/all/state/up/x /part/x 2> /dev/null && exit 6; touch /mnt/all/state/x || exit 7; "
      "[ -z \"$(cat /mnt/all/config)\" ] || exit 8",
      {.mounts = {{.source = "volumes/home", .target = "/mnt/all"},
                  {.source = "volumes/home/state/up", .target = "/part"}}});
  EXPECT_EQ(end_of("c").exit_code, 0);
  EXPECT_EQ(env.files.read(path("home/state/up/key")).value_or(""), "hush");
}

TEST_F(Limited, what_is_hidden_among_the_programs_of_the_machine_is_empty) {
  const std::string file = std::filesystem::canonical("/bin/cat").string();
  hidden_ = {file, "/usr/share"};
  ASSERT_TRUE(begin(Kept::by_the_keeper));
  if (!isolated_) {
    GTEST_SKIP() << "plain processes see what their user sees";
  }
  start("c",
        "[ ! -s " + file +
            " ] || exit 3; [ -d /usr/share ] || exit 4; [ -z \"$(ls -A /usr/share)\" ] || exit 5");
  EXPECT_EQ(end_of("c").exit_code, 0);
  EXPECT_GT(std::filesystem::file_size(file), 0u);
}

TEST_F(Limited, a_place_behind_a_link_is_refused) {
  ASSERT_TRUE(env.files.make_directories(path("real/inner")));
  std::filesystem::create_directory_symlink(path("real"), path("link"));
  ASSERT_TRUE(begin(Kept::by_the_keeper));
  NewSandbox other{.spec = {.ns = "default", .name = "q", .uid = "other"}};
  other.volumes.push_back({.name = "v",
                           .kind = VolumePlan::Kind::machine,
                           .source = path("link/inner"),
                           .type = "Directory"});
  const auto made = *run(env.loop, pods_->make(other));
  ASSERT_FALSE(made);
  EXPECT_TRUE(made.error().message.contains("is a link")) << made.error().message;
  EXPECT_TRUE(*run(env.loop, pods_->remove("other")));
}

}  // namespace
}  // namespace codeflare::node
