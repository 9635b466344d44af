#include "cli/verbs/internal/session_flags.h"

#include "base/async/sleep.h"
#include "base/env/real_env.h"
#include "cli/verbs/internal/check_seconds.h"
#include "cli/verbs/internal/offer_login.h"
#include "cli/verbs/internal/offer_up.h"

#include <chrono>
#include <csignal>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace codeflare::cli::internal {

namespace {

// For verbs that ask no server.
class NoService final : public net::HttpService {
 public:
  Task<Result<net::Response>> send(net::Request) override {
    co_return fail(internal_error("this verb has no server"));
  }
};

// Ctrl-C cancels the task.
int run_until_signal(RealEnv& world, Task<int> task) {
  StopSource stop;
  world.on_signals({SIGINT, SIGTERM}, [&](int) { stop.request_stop(); });
  return run(world.env().loop, std::move(task), stop.token()).value_or(int{kInterrupted});
}

// How a verb ended, and whether a login may change that.
struct Attempt {
  int code = kDone;
  bool no_login = false;  // without a kubeconfig
  bool rejected = false;
};

// A kubeconfig that was named and is not good is a wrong file; none at all means: not logged in.
Attempt attempt(Console& console, const SessionFlags& flags,
                const std::function<int(RealEnv&, Session&)>& start) {
  RealEnv world;
  const Result<std::unique_ptr<Session>> session = Session::open(world.env(), console, flags);
  if (session) {
    const int code = start(world, **session);
    return {.code = code, .rejected = code == kNotAllowed && (*session)->rejected()};
  }
  const int code = report(console, session.error());
  const bool none = code == kNotFound;
  return {.code = !none                      ? code
                  : flags.kubeconfig.empty() ? int{kNotAllowed}
                                             : int{kUsage},
          .no_login = none && flags.kubeconfig.empty()};
}

int with_server(const SessionFlags& flags, const std::function<int(RealEnv&, Session&)>& start) {
  const std::unique_ptr<Console> console = process_console();
  const Attempt first = attempt(*console, flags, start);
  if (!first.no_login && !first.rejected) {
    return first.code;
  }
  RealEnv world;
  const auto offered =
      run(world.env().loop, offer_login(world.env(), *console, flags, first.rejected));
  if (offered && !*offered) {
    return report(*console, offered->error());
  }
  return offered && **offered ? attempt(*console, flags, start).code : first.code;
}

int without_server(const SessionFlags& flags, const std::function<int(RealEnv&, Session&)>& start) {
  RealEnv world;
  const std::unique_ptr<Console> console = process_console();
  NoService nowhere;
  const Result<std::unique_ptr<Session>> session =
      Session::over(world.env(), *console, nowhere, "", flags);
  return session ? start(world, **session) : report(*console, session.error());
}

}  // namespace

CLI::Option* add_timeout(CLI::App& verb, Duration& timeout, std::string about) {
  return verb
      .add_option_function<double>(
          "--timeout",
          [&timeout](double seconds) {
            timeout = std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
          },
          std::move(about))
      ->check(check_seconds)
      ->type_name("SECONDS");
}

void add_connection_flags(CLI::App& verb, SessionFlags& flags,
                          const std::vector<std::string>& formats) {
  verb.add_option("-n,--namespace", flags.ns, "namespace (default: that of the context)")
      ->type_name("NAME");
  verb.add_option(
          "--kubeconfig", flags.kubeconfig,
          "kubeconfig file (default: KUBECONFIG, the pod's service account, ~/.kube/config)")
      ->type_name("FILE");
  verb.add_option("--context", flags.context,
                  "context of the kubeconfig (default: the current one)")
      ->type_name("NAME");
  verb.add_flag("--no-input", flags.no_input, "no questions, also on a terminal");
  verb.add_flag("--quiet", flags.quiet, "no progress and no notes on standard error");
  if (formats.empty()) {
    return;
  }
  std::string about = "output format: ";
  for (const std::string& each : formats) {
    about += (&each == &formats.front() ? "" : &each == &formats.back() ? " or " : ", ") + each;
  }
  verb.add_option("-o,--output", flags.output, about)
      ->check(CLI::IsMember(formats))
      ->type_name("FORM");
}

void add_session_flags(CLI::App& verb, SessionFlags& flags,
                       const std::vector<std::string>& formats) {
  add_connection_flags(verb, flags, formats);
  add_timeout(verb, flags.timeout,
              "time limit of retries when the server asks to retry later (default 60)");
}

void add_dry_run(CLI::App& verb, bool& dry_run) {
  verb.add_option_function<std::string>(
          "--dry-run", [&dry_run](const std::string& who) { dry_run = who == "server"; },
          "server: the server checks everything and keeps nothing")
      ->check(CLI::IsMember({"none", "server"}))
      ->type_name("none|server");
}

void add_controller_ns(CLI::App& verb, std::string& ns) {
  verb.add_option("--controller-namespace", ns, "namespace of the ConfigMap codeflare-queue")
      ->type_name("NAME")
      ->capture_default_str();
}

int run_session(const SessionFlags& flags, const std::function<Task<int>(Session&)>& verb) {
  return with_server(flags, [&](RealEnv& world, Session& session) {
    return run(world.env().loop, verb(session)).value_or(int{kFailed});
  });
}

int run_waiting(const SessionFlags& flags, const std::function<Task<int>(Session&)>& verb) {
  return with_server(flags, [&](RealEnv& world, Session& session) {
    return run_until_signal(world, verb(session));
  });
}

namespace {

// Offers to start a cluster where none is configured.
int with_some_server(const SessionFlags& flags,
                     const std::function<int(RealEnv&, Session&)>& start) {
  RealEnv world;
  const std::unique_ptr<Console> console = process_console();
  Result<std::unique_ptr<Session>> session = Session::open(world.env(), *console, flags);
  if (!session && session.error().code == ErrorCode::not_found && flags.kubeconfig.empty()) {
    const auto offered =
        run(world.env().loop, offer_up(world.env(), *console, may_ask(*console, flags)));
    if (offered && !*offered) {
      return report_coded(*console, offered->error());
    }
    if (offered && **offered) {
      session = Session::open(world.env(), *console, flags);
    }
  }
  if (!session) {
    const int code = report_coded(*console, session.error());
    if (session.error().code == ErrorCode::not_found) {
      console->err(
          "Start a cluster on this machine with 'codeflare up --detach', or log in to one "
          "with 'codeflare login'.\n");
    }
    return code;
  }
  const int code = start(world, **session);
  if (code == kNotAllowed && (*session)->rejected()) {
    console->err(kLogInAgain);
  }
  return code;
}

}  // namespace

int run_detachable(const SessionFlags& flags, const std::function<Task<int>(Session&)>& verb,
                   const std::function<Task<int>(Session&)>& second) {
  constexpr Duration kSecondWithin = std::chrono::seconds(2);
  return with_some_server(flags, [&](RealEnv& world, Session& session) {
    int signals = 0;
    StopSource first;
    StopSource again;
    world.on_signals({SIGINT, SIGTERM},
                     [&](int) { (++signals == 1 ? first : again).request_stop(); });
    Loop& loop = world.env().loop;
    const int code = run(loop, verb(session), first.token()).value_or(int{kInterrupted});
    if (code != kInterrupted || signals == 0) {
      return code;
    }
    // Ends early when it is cancelled.
    const std::optional<Result<void>> quiet = run(loop, sleep_for(kSecondWithin), again.token());
    if (quiet && *quiet) {
      return code;
    }
    return run(loop, second(session)).value_or(int{kInterrupted});
  });
}

int run_on_terminal(const SessionFlags& flags,
                    const std::function<Task<int>(Session&, WaitList& window)>& verb,
                    const std::function<Task<int>(Session&)>& interrupted) {
  return with_some_server(flags, [&](RealEnv& world, Session& session) {
    StopSource stop;
    WaitList window;
    world.on_signals({SIGINT, SIGTERM, SIGHUP}, [&](int) { stop.request_stop(); });
    world.on_signals({SIGWINCH}, [&](int) { window.notify_all(); });
    Loop& loop = world.env().loop;
    const int code = run(loop, verb(session, window), stop.token()).value_or(int{kInterrupted});
    return stop.stop_requested() ? run(loop, interrupted(session)).value_or(int{kInterrupted})
                                 : code;
  });
}

int run_waiting_offline(const SessionFlags& flags, const std::function<Task<int>(Session&)>& verb) {
  return without_server(flags, [&](RealEnv& world, Session& session) {
    return run_until_signal(world, verb(session));
  });
}

int run_offline(const SessionFlags& flags, const std::function<Task<int>(Session&)>& verb) {
  return without_server(flags, [&](RealEnv& world, Session& session) {
    return run(world.env().loop, verb(session)).value_or(int{kFailed});
  });
}

}  // namespace codeflare::cli::internal
