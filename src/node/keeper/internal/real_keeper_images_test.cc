#include "base/async/sleep.h"
#include "node/agent/keeper_runtime.h"
#include "node/agent/log_reader.h"
#include "node/system/forbidden.h"
#include "node/system/mounts.h"
#include "node/system/namespaces.h"
#include "node/testing/scratch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>

namespace codeflare::node {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::string_view kGpu = "nvidia.com/gpu";

std::string contents(const fs::path& path) {
  std::ifstream file(path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// At the same path below `root`, whatever links led to it.
void copy_into(const fs::path& root, const fs::path& path) {
  const fs::path to = root / path.relative_path();
  fs::create_directories(to.parent_path());
  fs::copy_file(path, to, fs::copy_options::skip_existing);
}

// A small root file system from this machine's own files: a shell, a few programs and what these
// need, which is little more than what this program has mapped.
void make_image(const fs::path& root) {
  for (const fs::path top : {"/bin", "/lib", "/lib64"}) {
    if (fs::is_symlink(top)) {
      fs::create_directories(root / fs::read_symlink(top).relative_path());
      fs::copy_symlink(top, root / top.relative_path());
    }
  }
  for (const char* name : {"sh", "cat", "ls", "mkdir", "rm", "stat"}) {
    copy_into(root, fs::path("/bin") / name);
  }
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const fs::path library = line.substr(std::min(line.find('/'), line.size()));
    if (library.filename().string().starts_with("libc.so")) {
      copy_into(root, library);
      for (const char* other : {"libselinux.so.1", "libpcre2-8.so.0"}) {
        if (fs::exists(library.parent_path() / other)) {
          copy_into(root, library.parent_path() / other);
        }
      }
    }
  }
  for (const fs::path directory : {"/lib", "/lib64"}) {
    for (const auto& entry : fs::directory_iterator(directory)) {
      if (entry.path().filename().string().starts_with("ld-linux") && fs::exists(entry.path())) {
        copy_into(root, entry.path());
      }
    }
  }
  fs::create_directories(root / "var/lib");
  fs::create_directories(root / "opt/tool");
  fs::create_directories(root / "root");
  fs::permissions(root / "root", fs::perms::owner_all);
  fs::create_directories(root / "etc");
  std::ofstream(root / "etc/motd") << "welcome\n";
  std::ofstream(root / "opt/tool/old") << "old\n";
  // An image may have been made so as to lead whoever builds on it elsewhere.
  fs::create_symlink("/pod/volumes/data", root / "tmp");
  fs::create_symlink("/pod/sandbox.json", root / "etc/hosts");
}

// Everything in it, and when it was last changed.
std::map<std::string, std::string> tree(const fs::path& root) {
  std::map<std::string, std::string> all;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    all[entry.path().string()] =
        entry.is_symlink() ? "link to " + fs::read_symlink(entry.path()).string()
                           : std::to_string(entry.last_write_time().time_since_epoch().count());
  }
  return all;
}

void give_away(const fs::path& root) {
  constexpr uid_t kSomebody = 12345;
  ASSERT_EQ(::lchown(root.c_str(), kSomebody, kSomebody), 0);
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    ASSERT_EQ(::lchown(entry.path().c_str(), kSomebody, kSomebody), 0) << entry.path();
  }
}

// In a child, as a container does: whether it fails.
bool overlays_are_forbidden(const std::string& directory) {
  const pid_t child = ::fork();
  if (child == 0) {
    const auto tried = [&]() -> Result<void> {
      TRY(enter_namespaces());
      TRY(make_mounts_private());
      TRY(mount_tmpfs(directory, "mode=755"));
      for (const char* name : {"/upper", "/work", "/root"}) {
        TRY(make_directory(directory + name));
      }
      return mount_overlay(
          directory + "/root",
          {.lower = "/usr", .upper = directory + "/upper", .work = directory + "/work"});
    }();
    ::_exit(!tried && is_forbidden(tried.error()) ? kForbiddenExit : 0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == kForbiddenExit;
}

// Real containers of images of this machine.
class Images : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto allowed = *run(env.loop, probe_isolation(env, CODEFLARE_KEEPER, path("")));
    if (!allowed) {
      GTEST_SKIP() << "namespaces are forbidden here: " << allowed.error().message;
    }
    pods_ = std::make_unique<KeeperRuntime>(
        env,
        KeeperRuntimeOptions{.directory = path(""), .program = CODEFLARE_KEEPER, .isolated = true},
        *volumes_,
        [this](const std::string& socket) { return net::connect_local(env.loop, socket); });
    sandbox_.spec = {.ns = "default", .name = "p", .uid = "u"};
    sandbox_.volumes = {{.name = "data"}};
    sandbox_.etc = {{"hosts", "127.0.0.1 localhost\n"}};
  }
  void TearDown() override {
    if (pods_ != nullptr) {
      EXPECT_TRUE(*run(env.loop, pods_->remove("u")));
      ASSERT_TRUE(run(env.loop, pods_->stop()));
    }
  }

  void use_image() {
    make_image(path("image"));
    image_ = fs::canonical(path("image")).string();
    sandbox_.spec.roots = {image_};
  }

  // Nothing when the script ends with 0; else what it said, or why it did not begin.
  std::string complaint_of(std::string script, ContainerSpec spec = {}) {
    const auto made = *run(env.loop, pods_->make(sandbox_));
    EXPECT_TRUE(made) << made.error().to_string();
    spec.name = "c";
    spec.root = image_;
    spec.command = {"/bin/sh", "-c", std::move(script)};
    spec.environment.emplace_back("PATH=/usr/bin:/bin");
    spec.environment.emplace_back("HOME=/root");
    const auto started = *run(env.loop, pods_->start("u", std::move(spec)));
    EXPECT_TRUE(started) << started.error().to_string();
    EXPECT_TRUE(*run(env.loop, wait_for_end()));
    const RunRecord* last = pods_->find("u")->state.last("c");
    if (last == nullptr) {
      return "it did not begin";
    }
    return last->exit_code == 0 ? ""
                                : std::to_string(last->exit_code) + " " + last->error + " " + log();
  }
  Task<bool> wait_for_end() {
    const Instant until = after(env.clock.now(), seconds(60));
    while (env.clock.now() < until) {
      const RunRecord* last = pods_->find("u")->state.last("c");
      if (last != nullptr && last->exited()) {
        co_return true;
      }
      static_cast<void>(co_await sleep_for(milliseconds(5)));
    }
    co_return false;
  }
  std::string log() {
    LogQuery query{.directory = pods_->log_directory("u", "c"), .attempt = 0};
    return **run(env.loop, net::read_all(read_log(env, *files_, std::move(query)), 1u << 20));
  }
  std::string path(std::string_view name) const { return scratch.path(name); }

  testing::Scratch scratch;
  Env env = scratch.env;
  std::unique_ptr<VolumeWriter> volumes_ = make_volume_writer();
  std::unique_ptr<LogFiles> files_ = make_log_files();
  std::unique_ptr<KeeperRuntime> pods_;
  NewSandbox sandbox_;
  std::string image_;  // empty: the machine's programs
};

// A place in the image that pods do not see is mounted over, so the image cannot be overlaid.
enum class Made : std::uint8_t { as_overlay, entry_by_entry };

class ImageRoots : public Images, public ::testing::WithParamInterface<Made> {
 protected:
  void SetUp() override {
    Images::SetUp();
    if (IsSkipped()) {
      return;
    }
    fs::create_directories(path("overlay"));
    if (GetParam() == Made::as_overlay && overlays_are_forbidden(path("overlay"))) {
      GTEST_SKIP() << "the kernel refuses overlays here";
    }
    use_image();
    if (GetParam() == Made::entry_by_entry) {
      fs::create_directories(image_ + "/srv/keys");
      std::ofstream(image_ + "/srv/keys/key") << "hush\n";
      sandbox_.spec.hidden = {image_ + "/srv/keys"};
    }
  }

  // The writable places that every image gives its containers.
  static constexpr const char* kScript =
      "set -ex; echo 1 > /top; echo 2 > /var/tmp/f; echo 3 > $HOME/f; echo 4 > /var/f; "
      "echo 5 > /home/me; echo 6 > /run/f; echo 7 > /tmp/f; mkdir /etc/made; "
      "[ \"$(cat /etc/hosts)\" = '127.0.0.1 localhost' ]; [ \"$(cat /etc/motd)\" = welcome ]; "
      "[ $(stat -c %a /tmp) = 1777 ]; [ $(stat -c %a /var/tmp) = 1777 ]; "
      "echo 8 > /opt/tool/deep/data/f; [ -d /opt/work ]; "
      "[ $(($(stat -f -c '%b * %S' /))) -le 67108864 ]";
  static ContainerSpec spec() {
    return {.working_directory = "/opt/work",
            .memory_limit = 64 << 20,
            .mounts = {{.source = "volumes/data", .target = "/opt/tool/deep/data"}}};
  }
};

INSTANTIATE_TEST_SUITE_P(Images, ImageRoots,
                         ::testing::Values(Made::as_overlay, Made::entry_by_entry),
                         [](const auto& info) {
                           return info.param == Made::as_overlay ? "as_overlay" : "entry_by_entry";
                         });

TEST_P(ImageRoots, can_be_written_to_and_stay_as_they_are) {
  const auto before = tree(image_);
  EXPECT_EQ(complaint_of(kScript, spec()), "");
  EXPECT_EQ(tree(image_), before);
  // The volume has what was written to it, and the image's link has led nothing there.
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(path("pods/u/volumes/data"))) {
    names.push_back(entry.path().filename().string());
  }
  EXPECT_EQ(names, std::vector<std::string>{"f"});
  EXPECT_EQ(contents(path("pods/u/volumes/data/f")), "8\n");
}

TEST_P(ImageRoots, can_be_written_to_whoever_owns_the_image) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root can give files away";
  }
  give_away(image_);
  const auto before = tree(image_);
  EXPECT_EQ(complaint_of(kScript, spec()), "");
  EXPECT_EQ(tree(image_), before);
}

TEST_P(ImageRoots, can_be_changed_throughout_when_they_are_overlays) {
  const std::string rest =
      "rm /opt/tool/old && [ ! -e /opt/tool/old ] && echo more >> /etc/motd "
      "&& mkdir /usr/made && echo x > /usr/made/x";
  const auto before = tree(image_);
  const std::string said = complaint_of(rest);
  if (GetParam() == Made::as_overlay) {
    EXPECT_EQ(said, "");
  } else {
    EXPECT_TRUE(said.contains("Read-only file system")) << said;
  }
  EXPECT_EQ(tree(image_), before);
}

TEST_P(ImageRoots, are_read_only_on_request_but_for_what_is_mounted_there) {
  ContainerSpec read_only = spec();
  read_only.read_only_root = true;
  EXPECT_EQ(complaint_of("for place in '' /tmp /run /var /var/tmp $HOME /home /etc /opt/tool; do "
                         "(echo x > $place/new) 2> /dev/null && echo $place && exit 1; done; "
                         "echo 1 > /opt/tool/deep/data/f && echo 2 > /dev/shm/f && ls /proc/self",
                         std::move(read_only)),
            "");
  EXPECT_EQ(contents(path("pods/u/volumes/data/f")), "1\n");
}

TEST_F(Images, hide_what_is_hidden_in_a_root_file_system) {
  use_image();
  fs::create_directories(image_ + "/opt/state");
  std::ofstream(image_ + "/opt/state/key") << "hush\n";
  sandbox_.spec.hidden = {image_ + "/opt/state"};
  EXPECT_EQ(complaint_of("[ -d /opt/state ] && [ -z \"$(ls -A /opt/state)\" ] && [ ! -e "
                         "/opt/state/key ] && [ \"$(cat /opt/tool/old)\" = old ]"),
            "");
}

TEST_F(Images, directories_leave_those_around_them_to_the_container) {
  if (!fs::is_directory("/var/lib") || !fs::is_directory("/home")) {
    GTEST_SKIP() << "this machine has no /var/lib or no /home";
  }
  sandbox_.spec.directories = {"/var/lib", "/home"};
  const std::string some = fs::directory_iterator("/var/lib")->path().string();
  EXPECT_EQ(complaint_of("set -ex; ls -d " + some +
                         "; echo 1 > /var/f; echo 2 > /var/tmp/f; echo 3 > /home/me; echo 4 > "
                         "$HOME/f; ! touch /var/lib/f 2> /dev/null"),
            "");
}

TEST_F(Images, directories_of_a_home_leave_it_to_the_container) {
  if (::geteuid() != 0 || !fs::is_directory("/root")) {
    GTEST_SKIP() << "the home of containers is root's";
  }
  // Nothing is written to the machine's directory, whatever lies there.
  const std::string name = "codeflare-test-" + env.random.uuid();
  sandbox_.spec.directories = {"/root"};
  EXPECT_EQ(complaint_of("echo 1 > $HOME/" + name + " && cat $HOME/" + name), "");
  EXPECT_FALSE(fs::exists(fs::path("/root") / name));
}

TEST_F(Images, have_the_files_of_their_gpus_when_the_machine_has_them) {
  sandbox_.spec.devices = {{.container = "c", .resource = std::string(kGpu), .ids = {1}},
                           {.container = "d", .resource = std::string(kGpu), .ids = {0}}};
  const bool real = fs::exists("/dev/nvidia1");
  const std::string seen = real ? "[ -c /dev/nvidia1 ] && [ $CUDA_VISIBLE_DEVICES = 0 ]"
                                : "[ ! -e /dev/nvidia1 ] && [ $CUDA_VISIBLE_DEVICES = 1 ]";
  EXPECT_EQ(
      complaint_of(seen + " && [ ! -e /dev/nvidia0 ]", {.environment = {"CUDA_VISIBLE_DEVICES=1"}}),
      "");
}

}  // namespace
}  // namespace codeflare::node
