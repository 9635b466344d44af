#pragma once

#include "base/async/task.h"
#include "base/async/wait_list.h"
#include "cli/session/session.h"
#include "cli/verbs/verb.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace codeflare::cli::internal {

// --timeout SECONDS.
CLI::Option* add_timeout(CLI::App& verb, Duration& timeout, std::string about);

// Help of KIND, where a verb takes one.
inline constexpr const char* kKindHelp =
    "kind of the objects: appwrapper (aw); not needed before a single NAME";

// The formats of -o that most verbs have.
inline const std::vector<std::string>& all_formats() {
  static const std::vector<std::string> formats = {"json", "yaml", "name", "wide"};
  return formats;
}

// -n, --kubeconfig, --context, and -o unless the verb has no formats.
void add_connection_flags(CLI::App& verb, SessionFlags& flags,
                          const std::vector<std::string>& formats = all_formats());
// The same and --timeout, for a server that asks to wait.
void add_session_flags(CLI::App& verb, SessionFlags& flags,
                       const std::vector<std::string>& formats = all_formats());

// --dry-run none|server.
void add_dry_run(CLI::App& verb, bool& dry_run);
// --controller-namespace NAME.
void add_controller_ns(CLI::App& verb, std::string& ns);

// Opens a session on this process's streams and runs the verb to its end.
int run_session(const SessionFlags& flags, const std::function<Task<int>(Session&)>& verb);
// The same for a verb that waits: Ctrl-C cancels it, so that it can say what it leaves behind.
int run_waiting(const SessionFlags& flags, const std::function<Task<int>(Session&)>& verb);
// The same for `run`: a second Ctrl-C within two seconds of the first runs `second`. Without a
// configured cluster it says how to get one.
int run_detachable(const SessionFlags& flags, const std::function<Task<int>(Session&)>& verb,
                   const std::function<Task<int>(Session&)>& second);
// The same for a program on this terminal: any signal that ends it runs `interrupted`; `window` is
// notified when the size of the terminal changes.
int run_on_terminal(const SessionFlags& flags,
                    const std::function<Task<int>(Session&, WaitList& window)>& verb,
                    const std::function<Task<int>(Session&)>& interrupted);
// The same where no server is asked: there need not be a kubeconfig.
int run_waiting_offline(const SessionFlags& flags, const std::function<Task<int>(Session&)>& verb);
// For a verb that asks no server: there need not be a kubeconfig.
int run_offline(const SessionFlags& flags, const std::function<Task<int>(Session&)>& verb);

// The arguments of a verb that talks to a cluster.
template <typename Flags>
struct Typed {
  SessionFlags session{};
  Flags flags{};
};

// The choice when such a verb was typed.
template <typename Flags>
Chosen in_session(std::shared_ptr<const Typed<Flags>> typed, Task<int> (*run)(Session&, Flags)) {
  return [typed, run] {
    return run_session(typed->session, [&](Session& s) { return run(s, typed->flags); });
  };
}

// The usual end of a verb's options: those of every session, and what it runs.
template <typename Flags>
void finish(CLI::App& verb, Chosen& chosen, const std::shared_ptr<Typed<Flags>>& typed,
            Task<int> (*run)(Session&, Flags),
            const std::vector<std::string>& formats = all_formats()) {
  add_session_flags(verb, typed->session, formats);
  verb.callback([&chosen, typed, run] { chosen = in_session<Flags>(typed, run); });
}

// The same for a verb with --watch, which Ctrl-C ends.
template <typename Flags>
void finish_watchable(CLI::App& verb, Chosen& chosen, const std::shared_ptr<Typed<Flags>>& typed,
                      Task<int> (*run)(Session&, Flags)) {
  verb.add_flag("-w,--watch", typed->flags.watch, "show changes until Ctrl-C");
  add_session_flags(verb, typed->session);
  verb.callback([&chosen, typed, run] {
    chosen = [typed, run] {
      const auto start = [&](Session& s) { return run(s, typed->flags); };
      return typed->flags.watch ? run_waiting(typed->session, start)
                                : run_session(typed->session, start);
    };
  });
}

// The usual end of a verb that waits: --timeout is the time of the wait.
template <typename Flags>
void finish_wait(CLI::App& verb, Chosen& chosen, const std::shared_ptr<Typed<Flags>>& typed,
                 Task<int> (*run)(Session&, Flags)) {
  add_connection_flags(verb, typed->session);
  add_timeout(verb, typed->flags.timeout, "time limit of the wait (default: none)");
  verb.callback([&chosen, typed, run] {
    chosen = [typed, run] {
      return run_waiting(typed->session, [&](Session& s) { return run(s, typed->flags); });
    };
  });
}

}  // namespace codeflare::cli::internal
