#include "up/pip_environment.h"

#include "base/env/sim_env.h"

#include <gtest/gtest.h>

namespace codeflare::up {
namespace {

// Notes the commands; `exit_code` ends them all.
class NotingLauncher final : public Launcher {
 public:
  Task<Result<CommandResult>> run(Command command) override {
    std::string line = command.program;
    for (const std::string& word : command.arguments) {
      line += " " + word;
    }
    lines.push_back(std::move(line));
    if (missing) {
      co_return fail(not_found("no such program"));
    }
    co_return CommandResult{.exit_code = exit_code};
  }
  std::vector<std::string> lines;
  int exit_code = 0;
  bool missing = false;
};

struct World {
  SimEnv sim;
  NotingLauncher launcher;

  Result<std::string> make(std::vector<std::string> requirements) {
    const Env real = sim.env();
    Env env{real.loop, real.clock,     real.random,  real.files,
            launcher,  real.variables, real.blocking};
    return *run(real.loop,
                make_pip_environment(env, "/data", {.requirements = std::move(requirements)}));
  }
};

TEST(PipEnvironment, installs_the_same_requirements_once) {
  World w;
  const Result<std::string> path = w.make({"ray[default]==2.60.0", "six"});
  ASSERT_TRUE(path) << path.error().message;
  EXPECT_TRUE(path->starts_with("/data/python/")) << *path;
  EXPECT_EQ(w.launcher.lines, (std::vector<std::string>{
                                  "python3 -m venv --clear " + *path,
                                  *path + "/bin/pip install --disable-pip-version-check --quiet -- "
                                          "ray[default]==2.60.0 six"}));
  EXPECT_EQ(w.make({"ray[default]==2.60.0", "six"}).value(), *path);
  EXPECT_EQ(w.launcher.lines.size(), 2u);
  EXPECT_NE(w.make({"six"}).value(), *path);
}

TEST(PipEnvironment, an_installation_that_failed_starts_anew) {
  World w;
  w.launcher.exit_code = 1;
  const Result<std::string> failed = w.make({"nosuch"});
  ASSERT_FALSE(failed);
  EXPECT_TRUE(failed.error().message.contains("python3 failed with exit code 1; install Python"))
      << failed.error().message;
  w.launcher.exit_code = 0;
  EXPECT_TRUE(w.make({"nosuch"}));
  w.launcher.missing = true;
  EXPECT_EQ(w.make({"other"}).error().message,
            "python3 not found; install Python with its venv module (Debian: python3-venv)");
}

}  // namespace
}  // namespace codeflare::up
