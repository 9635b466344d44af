#include "up/pip_environment.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <utility>

namespace codeflare::up {

namespace {

// FNV-1a over words, each with its end.
std::string digest(const PipEnvironment& wanted) {
  std::uint64_t hash = 14695981039346656037ull;
  const auto add = [&](std::string_view word) {
    for (const char c : word) {
      hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
    }
    hash = (hash ^ 0xff) * 1099511628211ull;
  };
  add(wanted.python);
  for (const std::string& requirement : wanted.requirements) {
    add(requirement);
  }
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), hash, 16).ptr;
  return {digits.data(), end};
}

Task<Result<void>> must_run(Env env, Command command, std::string fix) {
  const std::string program = command.program;
  command.inherit_stderr = true;
  const Result<CommandResult> ended = co_await env.launcher.run(std::move(command));
  if (!ended && ended.error().code == ErrorCode::not_found) {
    co_return fail(failed_precondition(program + " not found; " + fix));
  }
  if (!ended) {
    co_return fail(ended.error());
  }
  if (ended->exit_code != 0) {
    co_return fail(failed_precondition(program + " failed with exit code " +
                                       std::to_string(ended->exit_code) + "; " + fix));
  }
  co_return Result<void>();
}

}  // namespace

Task<Result<std::string>> make_pip_environment(Env env, std::string directory,
                                               PipEnvironment wanted) {
  const std::string path = directory + "/python/" + digest(wanted);
  const std::string complete = path + "/complete";
  if (env.files.exists(complete)) {
    co_return path;
  }
  CO_TRY(env.files.make_directories(path));
  Command venv{.program = wanted.python, .arguments = {"-m", "venv", "--clear", path}};
  CO_TRY(co_await must_run(env, std::move(venv),
                           "install Python with its venv module (Debian: python3-venv)"));
  Command pip{.program = path + "/bin/pip",
              .arguments = {"install", "--disable-pip-version-check", "--quiet", "--"}};
  pip.arguments.insert(pip.arguments.end(), wanted.requirements.begin(), wanted.requirements.end());
  CO_TRY(co_await must_run(env, std::move(pip),
                           "check the requirements and the access to the package index"));
  CO_TRY(env.files.write(complete, ""));
  co_return path;
}

}  // namespace codeflare::up
