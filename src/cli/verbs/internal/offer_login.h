#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "cli/session/session.h"
#include "sdk/login.h"

#include <string>
#include <string_view>

namespace codeflare::cli::internal {

// For credentials that the server does not accept, where nobody can be asked.
inline constexpr std::string_view kLogInAgain =
    "Log in again with 'codeflare login --server URL --token-file FILE'.\n";

// Whether somebody sits there to answer, and wants to be asked.
bool may_ask(const Console& console, const SessionFlags& flags);

// Asks for the server (unless it is given) and the token, and logs in.
Task<Result<sdk::LoggedIn>> ask_and_log_in(Env env, Console& console, sdk::TokenLogin login,
                                           std::string kubeconfig);

// Where no cluster is configured, or (`renew`) the server does not accept the credentials: offers a
// login on a terminal. False: declined, or nobody to ask; a line says what to do instead.
Task<Result<bool>> offer_login(Env env, Console& console, SessionFlags flags, bool renew);

}  // namespace codeflare::cli::internal
