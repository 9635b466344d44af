#include "cli/verbs/login.h"

#include "cli/verbs/internal/offer_login.h"
#include "cli/verbs/internal/session_flags.h"
#include "sdk/login.h"

#include <memory>
#include <string_view>
#include <utility>

namespace codeflare::cli {

namespace {

constexpr std::size_t kTokenBytesMax = 64 * 1024;

struct LoginFlags {
  std::string server;
  std::string token;
  std::string token_file;  // "-": standard input
  std::string config_path;
  std::string ca_file;
  bool insecure = false;
};

std::string trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) {
    text.pop_back();
  }
  return text;
}

// From the option, a file, standard input or CODEFLARE_TOKEN; empty: none of these.
Result<Secret> token_of(Session& session, const LoginFlags& flags) {
  if (!flags.token.empty()) {
    session.console().err(
        "note: other users of this machine can see --token; use --token-file or CODEFLARE_TOKEN\n");
    return Secret(flags.token);
  }
  if (flags.token_file == "-") {
    TRY_ASSIGN(std::string text, session.console().read_input(kTokenBytesMax));
    return Secret(trimmed(std::move(text)));
  }
  if (!flags.token_file.empty()) {
    TRY_ASSIGN(std::string text, session.env().files.read(flags.token_file, kTokenBytesMax));
    return Secret(trimmed(std::move(text)));
  }
  if (const std::optional<std::string> given = session.env().variables.get("CODEFLARE_TOKEN")) {
    return Secret(*given);
  }
  return Secret();
}

// Without a kubeconfig.
Error nothing_to_check(const Error& error) {
  return unauthenticated(error.message + "; give --server URL and --token-file FILE");
}

Task<Result<sdk::LoggedIn>> log_in(Session& session, LoginFlags flags, SessionFlags session_flags) {
  if (!flags.config_path.empty()) {
    co_return co_await sdk::log_in_with_file(session.env(), flags.config_path,
                                             session_flags.kubeconfig);
  }
  const bool may_ask = internal::may_ask(session.console(), session_flags);
  if (flags.server.empty()) {
    Result<sdk::LoggedIn> checked =
        co_await sdk::check_login(session.env(), session_flags.kubeconfig, session_flags.context);
    const bool none = !checked && checked.error().code == ErrorCode::not_found &&
                      session_flags.kubeconfig.empty();
    if (!none || !may_ask) {
      co_return none ? fail(nothing_to_check(checked.error())) : std::move(checked);
    }
  }
  CO_TRY_ASSIGN(Secret token, token_of(session, flags));
  sdk::TokenLogin login{.server = flags.server,
                        .token = std::move(token),
                        .ca_file = flags.ca_file,
                        .insecure = flags.insecure,
                        .ns = session_flags.ns};
  if (login.token.empty() && !may_ask) {
    co_return fail(
        invalid_argument("a login needs a token: --token-file FILE (- for standard input), "
                         "CODEFLARE_TOKEN or --token"));
  }
  co_return co_await internal::ask_and_log_in(session.env(), session.console(), std::move(login),
                                              session_flags.kubeconfig);
}

Task<int> run_login(Session& session, LoginFlags flags, SessionFlags session_flags) {
  const Result<sdk::LoggedIn> done =
      co_await log_in(session, std::move(flags), std::move(session_flags));
  if (!done) {
    co_return report_coded(session.console(), done.error());
  }
  std::string text = "Logged in to " + done->server;
  text += done->user.empty() ? "" : " as " + done->user;
  text += "\nNamespace: " + done->ns + "\nContext:   " + done->context + "\n";
  text += done->file.empty() ? "" : "File:      " + done->file + "\n";
  session.console().out(text);
  co_return kDone;
}

Task<int> run_logout(Session& session, SessionFlags session_flags) {
  const Result<sdk::LoggedOut> out = co_await sdk::log_out(session.env(), session_flags.kubeconfig);
  if (!out) {
    co_return report_coded(session.console(), out.error());
  }
  session.console().out("Logged out of " + out->server + ": context '" + out->context +
                        "' removed from " + out->file + "\n" +
                        (out->current.empty() ? "No context is current now\n"
                                              : "Current context: " + out->current + "\n"));
  co_return kDone;
}

void add_login(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<internal::Typed<LoginFlags>>();
  LoginFlags& flags = typed->flags;
  verb.add_option("-s,--server", flags.server,
                  "address of the API server (default: check the kubeconfig)")
      ->type_name("URL");
  verb.add_option("-t,--token", flags.token, "token; visible to others in the process list")
      ->type_name("TOKEN");
  verb.add_option("--token-file", flags.token_file, "file with the token, - for standard input")
      ->type_name("FILE");
  verb.add_option("--configpath", flags.config_path,
                  "kubeconfig whose current context becomes the current one")
      ->type_name("FILE");
  verb.add_option("--certificate-authority", flags.ca_file,
                  "certificates of the server's authority")
      ->type_name("FILE");
  verb.add_flag("--insecure-skip-tls-verify", flags.insecure,
                "accept any certificate of the server");
  internal::add_session_flags(verb, typed->session);
  verb.callback([&chosen, typed] {
    chosen = [typed] {
      return internal::run_offline(typed->session, [&](Session& session) {
        return run_login(session, typed->flags, typed->session);
      });
    };
  });
}

void add_logout(CLI::App& verb, Chosen& chosen) {
  auto flags = std::make_shared<SessionFlags>();
  internal::add_session_flags(verb, *flags);
  verb.callback([&chosen, flags] {
    chosen = [flags] {
      return internal::run_offline(*flags,
                                   [&](Session& session) { return run_logout(session, *flags); });
    };
  });
}

}  // namespace

constinit const Verb kLogin = {.word = "login",
                               .about = "Log in to a cluster and keep the login in the kubeconfig",
                               .examples =
                                   "codeflare login --server https://host:6443 --token-file token\n"
                                   "  codeflare login --configpath other.kubeconfig",
                               .add = add_login};
constinit const Verb kLogout = {.word = "logout",
                                .about = "Remove what 'codeflare login' added to the kubeconfig",
                                .examples = "codeflare logout",
                                .add = add_logout};

}  // namespace codeflare::cli
