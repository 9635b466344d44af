#include "sdk/shell_command.h"

#include <gtest/gtest.h>

namespace codeflare::sdk {
namespace {

TEST(ShellCommand, quotes_for_the_shell_only_what_needs_it) {
  EXPECT_EQ(shell_command({"a && b"}), "a && b");
  EXPECT_EQ(shell_command({"python", "-c", "print('x')", "", "--a=b"}),
            R"(python -c 'print('\''x'\'')' '' --a=b)");
}

}  // namespace
}  // namespace codeflare::sdk
