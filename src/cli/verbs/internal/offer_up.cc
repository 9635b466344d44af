#include "cli/verbs/internal/offer_up.h"

#include <string>
#include <utility>

namespace codeflare::cli::internal {

namespace {

// One line of the terminal; the shell reads no further than its end.
Task<Result<std::string>> read_answer(Env env) {
  Command command{.program = "sh",
                  .arguments = {"-c", "IFS= read -r answer && printf '%s' \"$answer\""},
                  .inherit_stdin = true};
  CO_TRY_ASSIGN(CommandResult result, co_await env.launcher.run(std::move(command)));
  co_return result.exit_code == 0 ? std::move(result.output) : std::string("n");
}

}  // namespace

Task<Result<bool>> offer_up(Env env, Console& console) {
  if (!console.in_is_terminal() || !console.err_is_terminal()) {
    co_return false;
  }
  console.err(
      "No cluster is configured. Start one on this machine (codeflare up --detach)? [Y/n] ");
  CO_TRY_ASSIGN(const std::string answer, co_await read_answer(env));
  if (!answer.empty() && !answer.starts_with('y') && !answer.starts_with('Y')) {
    co_return false;
  }
  // Any port: another program may have the usual one.
  Command up{.program = "/proc/self/exe",
             .arguments = {"up", "--detach", "--listen", "127.0.0.1:0"},
             .inherit_stderr = true};
  CO_TRY_ASSIGN(const CommandResult started, co_await env.launcher.run(std::move(up)));
  console.err(started.output);
  if (started.exit_code != 0) {
    co_return fail(failed_precondition("codeflare up --detach failed with exit code " +
                                       std::to_string(started.exit_code)));
  }
  co_return true;
}

}  // namespace codeflare::cli::internal
