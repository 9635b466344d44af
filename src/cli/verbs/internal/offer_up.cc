#include "cli/verbs/internal/offer_up.h"

#include <string>
#include <utility>

namespace codeflare::cli::internal {

Task<Result<bool>> offer_up(Env env, Console& console, bool may_ask) {
  if (!may_ask) {
    co_return false;
  }
  CO_TRY_ASSIGN(const std::string answer,
                console.ask("No cluster is configured. Start one on this machine (codeflare up "
                            "--detach)? [Y/n] ",
                            false));
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
