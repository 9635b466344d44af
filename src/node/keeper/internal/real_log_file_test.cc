#include "node/keeper/internal/real_log_file.h"

#include "node/testing/scratch.h"

#include <gtest/gtest.h>

namespace codeflare::node::internal {
namespace {

using node::testing::Scratch;

TEST(LogFiles, go_on_in_a_new_file_and_drop_the_oldest) {
  Scratch s;
  LogFile log(s.path("c"), 3, {.bytes_max = 20, .files_max = 2});
  for (int i = 0; i < 6; ++i) {
    log.write("line " + std::to_string(i) + " ten\n");  // 11 bytes
  }
  EXPECT_EQ(*s.env.files.list(s.path("c")), (std::vector<std::string>{"3.1.log", "3.2.log"}));
  EXPECT_EQ(*s.env.files.read(s.path("c/3.2.log")), "line 4 ten\nline 5 ten\n");
}

TEST(LogFiles, never_cut_a_line) {
  Scratch s;
  LogFile log(s.path("c"), 0, {.bytes_max = 10, .files_max = 9});
  log.write("a\nb\n" + std::string(30, 'x') + "\nc\n");
  EXPECT_EQ(*s.env.files.read(s.path("c/0.0.log")), "a\nb\n" + std::string(30, 'x') + "\n");
  EXPECT_EQ(*s.env.files.read(s.path("c/0.1.log")), "c\n");
}

TEST(LogFiles, of_earlier_runs_can_be_removed) {
  Scratch s;
  for (int attempt : {8, 9, 10}) {
    LogFile(s.path("c"), attempt, {}).write("x\n");
  }
  remove_old_logs(s.path("c"), 9);
  EXPECT_EQ(*s.env.files.list(s.path("c")), (std::vector<std::string>{"10.0.log", "9.0.log"}));
}

}  // namespace
}  // namespace codeflare::node::internal
