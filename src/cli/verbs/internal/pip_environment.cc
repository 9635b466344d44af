#include "cli/verbs/internal/pip_environment.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <utility>

namespace codeflare::cli::internal {

namespace {

constexpr std::string_view kDone = ".complete";
constexpr const char* kInstall =
    "printf '%s\\n' \"$CODEFLARE_PIP\" > /tmp/codeflare-requirements.txt && "
    "python3 -m pip install --quiet --disable-pip-version-check --target /tmp/codeflare-packages "
    "-r /tmp/codeflare-requirements.txt && "
    "export PYTHONPATH=\"/tmp/codeflare-packages${PYTHONPATH:+:$PYTHONPATH}\" "
    "PATH=\"/tmp/codeflare-packages/bin:$PATH\" && exec \"$@\"";

// FNV-1a: tells environments apart, protects nothing.
std::string key_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  std::array<char, 16> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), hash, 16);
  return {digits.data(), end};
}

Task<Result<void>> must_run(Env env, Command command, std::string what) {
  CO_TRY_ASSIGN(const CommandResult result, co_await env.launcher.run(std::move(command)));
  if (result.exit_code != 0) {
    const std::string& said = result.error_output.empty() ? result.output : result.error_output;
    co_return fail(failed_precondition(what + " failed with exit code " +
                                       std::to_string(result.exit_code) + ": " + said));
  }
  co_return Result<void>();
}

}  // namespace

Result<std::string> pip_directory(const Variables& variables, std::string_view requirements) {
  const std::string home = variables.get("HOME").value_or("");
  const std::string cache =
      variables.get("XDG_CACHE_HOME").value_or(home.empty() ? "" : home + "/.cache");
  if (cache.empty()) {
    return fail(failed_precondition("--pip needs HOME or XDG_CACHE_HOME for its environments"));
  }
  return cache + "/codeflare/pip/" + key_of(requirements);
}

Task<Result<std::string>> kept_environment(Env env, Console& console, std::string file) {
  CO_TRY_ASSIGN(const std::string text,
                co_await run_blocking(env, [&] { return env.files.read(file); }));
  CO_TRY_ASSIGN(const std::string directory, pip_directory(env.variables, text));
  const std::string complete = join_path(directory, kDone);
  if (env.files.exists(complete)) {
    co_return directory;
  }
  console.err("installing the packages of " + file + " into " + directory + "\n");
  CO_TRY(co_await run_blocking(env, [&]() -> Result<void> {
    // An earlier attempt was interrupted.
    if (env.files.exists(directory)) {
      TRY(env.files.remove_all(directory));
    }
    return env.files.make_directories(parent_path(directory), 0755);
  }));
  Command make{.program = "python3", .arguments = {"-m", "venv", directory}};
  CO_TRY(co_await must_run(env, std::move(make), "python3 -m venv " + directory));
  Command install{
      .program = join_path(directory, "bin/python3"),
      .arguments = {"-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", file}};
  CO_TRY(co_await must_run(env, std::move(install), "pip install -r " + file));
  CO_TRY(co_await run_blocking(env, [&] { return env.files.write(complete, text); }));
  co_return directory;
}

PipCommand with_packages(const std::vector<std::string>& command, const std::string& requirements) {
  PipCommand wrapped{.command = {"sh", "-c", kInstall, "sh"},
                     .variable = "CODEFLARE_PIP=" + requirements};
  wrapped.command.insert(wrapped.command.end(), command.begin(), command.end());
  return wrapped;
}

}  // namespace codeflare::cli::internal
