#include "cli/verbs/internal/offer_login.h"

#include <utility>

namespace codeflare::cli::internal {

bool may_ask(const Console& console, const SessionFlags& flags) {
  return !flags.no_input && console.in_is_terminal() && console.err_is_terminal();
}

Task<Result<sdk::LoggedIn>> ask_and_log_in(Env env, Console& console, sdk::TokenLogin login,
                                           std::string kubeconfig) {
  if (login.server.empty()) {
    CO_TRY_ASSIGN(login.server, console.ask("Server (such as https://host:6443): ", false));
  }
  if (login.token.empty()) {
    CO_TRY_ASSIGN(std::string token, console.ask("Token (not shown): ", true));
    login.token = Secret(std::move(token));
  }
  co_return co_await sdk::log_in(env, std::move(login), std::move(kubeconfig));
}

Task<Result<bool>> offer_login(Env env, Console& console, SessionFlags flags, bool renew) {
  if (!may_ask(console, flags)) {
    console.err(renew ? kLogInAgain
                      : "Log in with 'codeflare login --server URL --token-file FILE', or start a "
                        "cluster on this machine with 'codeflare up --detach'.\n");
    co_return false;
  }
  CO_TRY_ASSIGN(const std::string answer, console.ask("Log in now? [Y/n] ", false));
  if (!answer.empty() && !answer.starts_with('y') && !answer.starts_with('Y')) {
    co_return false;
  }
  sdk::TokenLogin login;
  if (renew) {
    CO_TRY_ASSIGN(login, sdk::login_of(env, flags.kubeconfig, flags.context));
  }
  CO_TRY_ASSIGN(const sdk::LoggedIn done,
                co_await ask_and_log_in(env, console, std::move(login), flags.kubeconfig));
  console.err("Logged in to " + done.server + (done.user.empty() ? "" : " as " + done.user) + "\n");
  co_return true;
}

}  // namespace codeflare::cli::internal
