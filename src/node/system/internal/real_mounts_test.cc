#include "node/keeper/gpu_devices.h"
#include "node/system/forbidden.h"
#include "node/system/mounts.h"
#include "node/system/namespaces.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace codeflare::node {
namespace {

namespace fs = std::filesystem;

class Mounts : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "codeflare-mounts-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  void TearDown() override { fs::remove_all(directory_); }

  std::string directory_;
};

// In a child: 0 when all is as it should be, else which step was wrong; 100: namespaces are
// forbidden.
int make_devices_of(const std::string& machine, const std::string& at) {
  const Result<void> entered = enter_namespaces();
  if (!entered) {
    return is_forbidden(entered.error()) ? 100 : 1;
  }
  if (!make_mounts_private() || !make_devices(machine, at, gpu_files({0, 1}))) {
    return 2;
  }
  if (!fs::exists(at + "/null") || !fs::exists(at + "/nvidiactl") ||
      fs::file_size(at + "/nvidia0") != 4) {
    return 3;
  }
  return fs::exists(at + "/nvidia1") || fs::exists(at + "/nvidia-uvm") ||
                 fs::exists(at + "/nvidia2")
             ? 4
             : 0;
}

// In a child, likewise.
int use_devices(const std::string& at) {
  const Result<void> entered = enter_namespaces();
  if (!entered) {
    return is_forbidden(entered.error()) ? 100 : 1;
  }
  if (!make_mounts_private() || !make_devices("/dev", at)) {
    return 2;
  }
  // As a shell opens it for "> /dev/null".
  const std::string null = at + "/null";
  FileDescriptor sink(::open(null.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!sink || ::write(sink.get(), "x", 1) != 1) {
    return 3;
  }
  char byte = 'x';
  FileDescriptor zero(::open((at + "/zero").c_str(), O_RDWR | O_CLOEXEC));
  if (!zero || ::read(zero.get(), &byte, 1) != 1 || byte != 0) {
    return 4;
  }
  // To the mode that it has anyway: it is the machine's.
  if (::chmod(null.c_str(), 0666) == 0 || errno != EROFS) {
    return 5;
  }
  if (::utimensat(AT_FDCWD, null.c_str(), nullptr, 0) == 0 || errno != EROFS) {
    return 6;
  }
  return ::fchmod(sink.get(), 0666) == 0 || errno != EROFS ? 7 : 0;
}

// In a child, likewise: a proc of our own.
int use_proc(const std::string& at) {
  const Result<void> entered = enter_namespaces();
  if (!entered) {
    return is_forbidden(entered.error()) ? 100 : 1;
  }
  const pid_t child = ::fork();  // a proc shows a PID namespace that somebody is in
  if (child != 0) {
    int status = 0;
    return ::waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 2;
  }
  const Result<void> mounted = make_mounts_private() ? mount_proc(at) : fail(unavailable(""));
  const Result<FileDescriptor> writable =
      mounted ? protect_proc(at) : Result<FileDescriptor>(fail(mounted.error()));
  if (!writable) {
    ::_exit(3);
  }
  for (const char* name : {"config.gz", "kcore", "pagetypeinfo", "slabinfo", "vmallocinfo"}) {
    char byte = 0;
    FileDescriptor file(::open((at + "/" + name).c_str(), O_RDONLY | O_CLOEXEC));
    if (file && ::read(file.get(), &byte, 1) != 0) {
      ::_exit(4);
    }
    struct stat info{};
    if (::stat((at + "/" + name).c_str(), &info) == 0 &&
        ::chmod((at + "/" + name).c_str(), info.st_mode & 07777) == 0) {
      ::_exit(5);
    }
  }
  if (write_small_file(at + "/self/oom_score_adj", "0") ||
      write_small_file(at + "/self/comm", "other")) {
    ::_exit(6);
  }
  const std::string open = "/proc/self/fd/" + std::to_string(writable->get());
  ::_exit(write_small_file(open + "/self/comm", "other") ? 0 : 7);
}

// The exit code of the steps in a process of their own.
template <typename Steps>
int in_child(Steps steps) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(steps());
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

void expect_done(int code) {
  if (code == 100) {
    GTEST_SKIP() << "namespaces are forbidden here";
  }
  EXPECT_EQ(code, 0);
}

TEST_F(Mounts, device_files_are_used_and_stay_as_they_are) {
  expect_done(in_child([&] { return use_devices(directory_ + "/dev"); }));
}

TEST_F(Mounts, a_proc_for_containers_is_read_only_and_silent_about_the_machine) {
  expect_done(in_child([&] { return use_proc(directory_ + "/proc"); }));
}

// Files stand for the devices: the machine need not have any.
TEST_F(Mounts, of_the_devices_that_are_asked_for_those_are_there_that_the_machine_has) {
  fs::create_directories(directory_ + "/machine");
  for (const char* name :
       {"null", "zero", "full", "random", "urandom", "tty", "nvidiactl", "nvidia0", "nvidia2"}) {
    std::ofstream(directory_ + "/machine/" + name) << "some";
  }
  expect_done(
      in_child([&] { return make_devices_of(directory_ + "/machine", directory_ + "/dev"); }));
}

}  // namespace
}  // namespace codeflare::node
