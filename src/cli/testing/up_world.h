#pragma once

#include "cli/testing/captured_console.h"
#include "up/testing/up_world.h"

namespace codeflare::cli::testing {

using up::testing::FakeProcesses;

// The machine of a cluster, with somebody at the terminal.
struct UpWorld : up::testing::UpWorld {
  CapturedConsole console;
};

}  // namespace codeflare::cli::testing
