#include "cli/internal/session_flags.h"

#include "base/env/real_env.h"

#include <memory>
#include <optional>

namespace codeflare::cli::internal {

void add_session_flags(CLI::App& verb, SessionFlags& flags) {
  verb.add_option("-n,--namespace", flags.ns, "instead of the context's")->type_name("NAME");
  verb.add_option("--kubeconfig", flags.kubeconfig,
                  "instead of KUBECONFIG, the pod's service account or ~/.kube/config")
      ->type_name("FILE");
  verb.add_option("--context", flags.context, "of the kubeconfig")->type_name("NAME");
  verb.add_option("-o,--output", flags.output, "json, yaml, name or wide")
      ->check(CLI::IsMember({"json", "yaml", "name", "wide"}))
      ->type_name("FORM");
}

int run_session(const SessionFlags& flags, const std::function<Task<int>(Session&)>& verb) {
  RealEnv world;
  const std::unique_ptr<Console> console = process_console();
  const Result<std::unique_ptr<Session>> session = Session::open(world.env(), *console, flags);
  if (!session) {
    return report(*console, session.error());
  }
  return run(world.env().loop, verb(**session)).value_or(int{kFailed});
}

}  // namespace codeflare::cli::internal
