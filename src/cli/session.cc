#include "cli/session.h"

#include "kube/config.h"

#include <utility>

namespace codeflare::cli {

Session::Session(Env env, Console& console, net::HttpService& service, Parts parts)
    : env_(env),
      console_(console),
      client_(env, service, {.default_namespace = parts.ns}),
      discovery_(client_),
      ns_(std::move(parts.ns)),
      ns_given_(parts.ns_given),
      output_(parts.output) {}

Result<std::unique_ptr<Session>> Session::open(Env env, Console& console,
                                               const SessionFlags& flags) {
  TRY_ASSIGN(kube::Config config, kube::load_config(env, {.explicit_path = flags.kubeconfig,
                                                          .context = flags.context,
                                                          .ns = flags.ns}));
  for (const std::string& warning : config.warnings) {
    console.err("warning: " + warning + "\n");
  }
  const std::string ns = config.ns;
  TRY_ASSIGN(
      std::unique_ptr<kube::Connection> connection,
      kube::connect(env, std::move(config), {.stdin_is_terminal = console.in_is_terminal()}));
  TRY_ASSIGN(std::unique_ptr<Session> session,
             over(env, console, connection->service(), ns, flags));
  session->connection_ = std::move(connection);
  return session;
}

Result<std::unique_ptr<Session>> Session::over(Env env, Console& console, net::HttpService& service,
                                               std::string ns, const SessionFlags& flags) {
  TRY_ASSIGN(const Output output, parse_output(flags.output));
  return std::unique_ptr<Session>(new Session(env, console, service,
                                              {.ns = flags.ns.empty() ? std::move(ns) : flags.ns,
                                               .ns_given = !flags.ns.empty(),
                                               .output = output}));
}

}  // namespace codeflare::cli
