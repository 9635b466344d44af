#include "node/agent/daemon_command.h"

#include "base/async/sleep.h"
#include "node/system/forbidden.h"

#include <utility>

namespace codeflare::node {

std::string first_line(const std::string& error_output) {
  return error_output.substr(0, error_output.find('\n'));
}

Task<Result<void>> probe_daemon(Env env, DaemonProbe probe) {
  const std::string empty = probe.directory;
  CO_TRY(co_await run_blocking(env, [&] { return env.files.make_directories(empty, 0700); }));
  Command command{.program = probe.program, .arguments = {probe.name, "--probe", empty}};
  CO_TRY_ASSIGN(
      const CommandResult tried,
      co_await with_timeout(kDaemonStartWithin, probe.what, env.launcher.run(std::move(command))));
  static_cast<void>(co_await run_blocking(env, [&] { return env.files.remove_all(empty); }));
  if (tried.exit_code != 0) {
    const std::string why = first_line(tried.error_output);
    co_return fail(tried.exit_code == kForbiddenExit ? unsupported(why) : unavailable(why));
  }
  co_return Result<void>();
}

}  // namespace codeflare::node
