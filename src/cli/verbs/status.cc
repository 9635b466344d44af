#include "cli/verbs/status.h"

#include "base/env/real_env.h"
#include "cli/gather/causes.h"
#include "cli/gather/cluster_counts.h"
#include "cli/gather/find_wrapper.h"
#include "cli/gather/wrappers.h"
#include "cli/session/output.h"
#include "cli/verbs/internal/local_cluster.h"
#include "cli/verbs/internal/session_flags.h"
#include "cli/verbs/show_run.h"
#include "cli/verbs/show_training.h"
#include "cli/views/kinds.h"
#include "cli/views/up_status_view.h"
#include "cli/views/wrapper_view.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace codeflare::cli {

namespace {

using up::UpState;

// `killed`: it did not end by itself, and its pods may go on without it.
int nothing_runs(Console& console, const std::string& directory, bool json, bool killed) {
  if (json) {
    console.out("{\n    \"running\": false\n}\n");
  }
  if (killed) {
    report(console,
           not_found("the cluster in " + directory +
                     " was killed and its pods may still run; run 'codeflare up --detach' to "
                     "continue or 'codeflare down' to stop them, with --data-dir " +
                     directory));
  } else {
    report(console,
           not_found("no cluster runs in " + directory +
                     "; run 'codeflare up --detach --data-dir " + directory + "' to start one"));
  }
  return kFailed;
}

void add_options(CLI::App& verb, Chosen& chosen) {
  struct Flags : internal::Typed<NameFlags> {
    std::string directory;
  };
  auto typed = std::make_shared<Flags>();
  verb.add_option("KIND", typed->flags.kind,
                  "kind of the objects: appwrapper (aw); without it: the local cluster");
  verb.add_option("NAME", typed->flags.names, "names of the objects");
  verb.add_option("--data-dir", typed->directory,
                  "data directory of the local cluster (default $XDG_STATE_HOME/codeflare/up)")
      ->type_name("DIR");
  internal::add_session_flags(verb, typed->session);
  verb.callback([&chosen, typed] {
    if (!typed->flags.kind.empty() && !typed->directory.empty()) {
      throw CLI::ValidationError("status", "--data-dir cannot be combined with KIND NAME");
    }
    if (!typed->flags.kind.empty()) {
      chosen = internal::in_session<NameFlags>(typed, run_status);
    } else {
      chosen = [typed] {
        return run_up_status({.directory = typed->directory, .output = typed->session.output});
      };
    }
  });
}

}  // namespace

// With an object: what its status says. Without one: the cluster of `codeflare up`.
constinit const Verb kStatus = {.word = "status",
                                .about = "Show the status of an object, or of the local cluster",
                                .examples = "codeflare status\n  codeflare status train",
                                .add = add_options,
                                .takes_kind = true};

Task<int> run_status(Session& session, NameFlags flags) {
  const Result<KindNames> typed = read_names(flags.kind, flags.names);
  if (!typed) {
    co_return report_usage(session.console(), typed.error().message);
  }
  int code = kDone;
  std::vector<TypedObject> shown;
  std::string text;
  for (const std::string& each : typed->names) {
    std::string name = each;
    const Result<FoundWrapper> found =
        co_await find_wrapper(session, typed->kind, std::move(name), Use::read);
    const Result<GroupedWrapper> wrapper =
        found ? decode_wrapper(found->kind, found->object) : fail(Error(found.error()));
    const bool alone = typed->names.size() == 1;
    const std::string noun =
        !wrapper && alone ? co_await noun_instead(session, typed->kind, each) : std::string();
    if (noun == "trainingjob") {
      co_return co_await run_status_training(session, {.name = each});
    }
    if (noun == "run") {
      co_return co_await run_status_run(session, {.name = each});
    }
    if (!wrapper) {
      code = both(code, report(session.console(), wrapper.error()));
      continue;
    }
    shown.push_back({found->kind.type, found->kind.singular, found->object});
    std::optional<Cause> cause;
    if (is_table(session.output())) {
      GroupedWrapper of = *wrapper;
      cause = co_await cause_of(session, std::move(of));
    }
    text += (text.empty() ? "" : "\n") + render_status(*wrapper, session.now(), cause);
  }
  if (is_table(session.output())) {
    session.console().out(text);
  } else if (!shown.empty()) {
    session.console().out(render_objects(shown, session.output(), false));
  }
  co_return code;
}

int run_up_status(const UpStatusFlags& flags) {
  RealEnv world;
  const Env env = world.env();
  const std::unique_ptr<Console> console = process_console();
  const bool json = flags.output == "json";
  if (!json && !flags.output.empty()) {
    return report_usage(*console, "status of the local cluster supports -o json only");
  }
  const Result<std::string> directory = internal::local_directory(env, *console, flags.directory);
  if (!directory) {
    return report_usage(*console, directory.error().message);
  }
  const Result<std::optional<UpState>> state = up::read_up_state(env.files, *directory);
  if (!state) {
    return report(*console, state.error());
  }
  if (!*state || !up::is_running(env.files, (*state)->process)) {
    return nothing_runs(*console, *directory, json, state->has_value());
  }
  const Result<std::unique_ptr<Session>> session =
      Session::open(env, *console, {.kubeconfig = (*state)->kubeconfig, .output = flags.output});
  if (!session) {
    return report(*console, session.error());
  }
  return run(env.loop, run_up_status(**session, **state, *directory)).value_or(int{kFailed});
}

Task<int> run_up_status(Session& session, UpState state, std::string directory) {
  const Result<ClusterCounts> counts = co_await count_cluster(session);
  if (!counts) {
    co_return report(session.console(), counts.error());
  }
  session.console().out(session.output() == Output::json
                            ? up_status_json(state, directory, *counts)
                            : render_up_status(state, directory, *counts, session.now()));
  co_return kDone;
}

}  // namespace codeflare::cli
