#include "elastic/exit_class.h"

#include <gtest/gtest.h>

#include <csignal>

namespace codeflare::elastic {
namespace {

TEST(ExitClass, tells_whose_fault_an_end_is) {
  EXPECT_EQ(classify_exit({.exit = {.code = 0}}), ExitClass::none);
  EXPECT_EQ(classify_exit({.exit = {.code = 1}}), ExitClass::user);
  EXPECT_EQ(classify_exit({.exit = {.signal = SIGSEGV}}), ExitClass::user);
  EXPECT_EQ(classify_exit({.exit = {.signal = SIGKILL}}), ExitClass::infrastructure);
  EXPECT_EQ(classify_exit({.exit = {.signal = SIGKILL}, .out_of_memory = true}),
            ExitClass::out_of_memory);
  EXPECT_EQ(classify_exit({.exit = {.code = 137}, .out_of_memory = true}),
            ExitClass::out_of_memory);
  EXPECT_EQ(classify_exit({.exit = {.signal = SIGTERM}, .planned = true}), ExitClass::planned);
}

TEST(ExitClass, a_lost_peer_is_not_the_fault_of_the_program) {
  EXPECT_EQ(classify_exit({.exit = {.code = 1},
                           .last_lines = "RuntimeError: [../third_party/gloo/gloo/transport/tcp/"
                                         "pair.cc:598] Connection closed by peer [10.0.0.2]:5\n"}),
            ExitClass::infrastructure);
  EXPECT_EQ(
      classify_exit({.exit = {.code = 1}, .last_lines = "torch NCCL error: unhandled system"}),
      ExitClass::infrastructure);
  EXPECT_EQ(classify_exit({.exit = {.code = 1}, .last_lines = "ConnectionResetError: my database"}),
            ExitClass::user);
}

TEST(ExitClass, the_last_line_is_the_last_that_says_something) {
  EXPECT_EQ(last_line("a\nValueError: x\n\n"), "ValueError: x");
  EXPECT_EQ(last_line("one"), "one");
  EXPECT_EQ(last_line("\n \n"), "");
}

}  // namespace
}  // namespace codeflare::elastic
