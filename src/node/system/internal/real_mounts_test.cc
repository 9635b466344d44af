#include "node/keeper/gpu_devices.h"
#include "node/system/forbidden.h"
#include "node/system/mounts.h"
#include "node/system/namespaces.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
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

// Files stand for the devices: the machine need not have any.
TEST_F(Mounts, of_the_devices_that_are_asked_for_those_are_there_that_the_machine_has) {
  fs::create_directories(directory_ + "/machine");
  for (const char* name :
       {"null", "zero", "full", "random", "urandom", "tty", "nvidiactl", "nvidia0", "nvidia2"}) {
    std::ofstream(directory_ + "/machine/" + name) << "some";
  }
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(make_devices_of(directory_ + "/machine", directory_ + "/dev"));
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 100) {
    GTEST_SKIP() << "namespaces are forbidden here";
  }
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace codeflare::node
