#include "cli/verbs/queue.h"

#include "cli/gather/clusters.h"
#include "cli/gather/explain.h"
#include "cli/gather/holders.h"
#include "cli/gather/queue_state.h"
#include "cli/gather/who.h"
#include "cli/verbs/internal/all_namespaces.h"
#include "cli/verbs/internal/queue_watch.h"
#include "cli/verbs/internal/session_flags.h"
#include "cli/views/queue_view.h"
#include "json/write.h"
#include "kube/ensure_namespace.h"
#include "model/config_map.h"
#include "model/resources.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::cli {

namespace {

model::ResourceType config_maps() {
  return model::resource_type<model::ConfigMap>();
}

std::string config_map_json(std::string_view ns, bool paused) {
  std::string text;
  json::Writer w(text);
  w.begin_object().member("apiVersion", "v1").member("kind", "ConfigMap");
  w.key("metadata").begin_object().member("name", kQueueConfigMap).member("namespace", ns);
  w.end_object().key("data").begin_object().member("paused", paused ? "true" : "false");
  w.end_object().end_object();
  return text;
}

Task<Result<kube::ObjectRef>> create_config_map(Session& session, std::string ns, bool paused) {
  std::string body = config_map_json(ns, paused);
  Result<kube::ObjectRef> made =
      co_await session.client().create(config_maps(), ns, std::move(body));
  if (made || made.error().code != ErrorCode::not_found) {
    co_return made;
  }
  CO_TRY(co_await kube::ensure_namespace(session.client(), ns));
  std::string again = config_map_json(ns, paused);
  co_return co_await session.client().create(config_maps(), std::move(ns), std::move(again));
}

Task<Result<kube::ObjectRef>> set_paused(Session& session, std::string ns, bool paused) {
  std::string patch = paused ? R"({"data":{"paused":"true"}})" : R"({"data":{"paused":"false"}})";
  Result<kube::ObjectRef> changed = co_await session.client().patch(
      config_maps(), {ns, std::string(kQueueConfigMap)}, kube::PatchKind::merge, std::move(patch));
  if (changed || changed.error().code != ErrorCode::not_found) {
    co_return changed;
  }
  co_return co_await create_config_map(session, std::move(ns), paused);
}

// "3 AppWrappers", "1 TrainingJob"; empty without any.
std::string count_text(std::size_t count, const std::string& kind) {
  return count == 0 ? "" : std::to_string(count) + " " + kind + (count == 1 ? "" : "s");
}

std::string joined(const std::string& a, std::string_view between, const std::string& b) {
  return a + std::string(a.empty() || b.empty() ? "" : between) + b;
}

// "1 AppWrapper and 1 TrainingJob hold nodes: a/b, TrainingJob a/c; wait until ...".
std::string holders_text(const Holders& holders) {
  constexpr std::size_t kNamed = 10;
  std::vector<std::string> all = holders.wrappers;
  for (const std::string& job : holders.jobs) {
    all.push_back("TrainingJob " + job);
  }
  std::string names;
  for (std::size_t i = 0; i < std::min(all.size(), kNamed); ++i) {
    names = joined(names, ", ", all[i]);
  }
  const std::string more =
      all.size() > kNamed ? " and " + std::to_string(all.size() - kNamed) + " more" : "";
  const auto command = [](bool needed, const std::string& kind, const std::string& of = "") {
    return needed ? "'codeflare delete " + kind + " NAME -n NAMESPACE'" + of : "";
  };
  const std::string commands =
      joined(joined(command(!holders.wrappers.empty(), "appwrapper"), ", or ",
                    command(holders.of_runs, "run", " for a Run")),
             ", or ", command(!holders.jobs.empty(), "trainingjob", " for a TrainingJob"));
  return joined(count_text(holders.wrappers.size(), "AppWrapper"), " and ",
                count_text(holders.jobs.size(), "TrainingJob")) +
         (all.size() == 1 ? " holds nodes: " : " hold nodes: ") + names + more +
         "; wait until they end, or run " + commands;
}

using Typed = internal::Typed<QueueFlags>;

// `queue pause` or `queue resume`; they share what was typed with `queue`.
template <bool pause>
void add_word(CLI::App& word, Chosen& chosen, const std::shared_ptr<Typed>& typed) {
  internal::add_controller_ns(word, typed->flags.controller_ns);
  word.footer(pause ? "Example:\n  codeflare queue pause" : "Example:\n  codeflare queue resume");
  internal::finish<QueueFlags>(word, chosen, typed, [](Session& session, QueueFlags flags) {
    return run_pause(session, std::move(flags), pause);
  });
}

void add_options(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<Typed>();
  verb.require_subcommand(0, 1);
  verb.add_flag("-w,--watch", typed->flags.watch, "keep showing changes");
  verb.add_flag("--mine", typed->flags.mine, "show only work that you submitted");
  verb.add_option("--user", typed->flags.user, "show only work that this user submitted")
      ->type_name("NAME");
  verb.add_option("-l,--selector", typed->flags.selector,
                  "show only work with these labels, such as app=web,tier!=test")
      ->type_name("LABELS");
  internal::add_controller_ns(verb, typed->flags.controller_ns);
  internal::add_session_flags(verb, typed->session, {"wide", "json"});
  internal::add_all_namespaces(verb, typed);
  verb.callback([&chosen, &verb, typed] {
    if (verb.get_subcommands().empty()) {
      chosen = internal::in_session<QueueFlags>(typed, run_queue);
    }
  });
  add_word<true>(*verb.add_subcommand("pause", "Stop starting work; running work continues"),
                 chosen, typed);
  add_word<false>(*verb.add_subcommand("resume", "Start work again"), chosen, typed);
  CLI::App* idle = verb.add_subcommand("idle", "Fail while work holds nodes, and name that work");
  idle->footer("Example:\n  codeflare queue idle   # before the controller is removed");
  internal::finish<QueueFlags>(*idle, chosen, typed, run_idle);
}

// Which lines are shown, and how.
Task<Result<QueueOptions>> options_of(Session& session, QueueFlags flags) {
  QueueOptions options{.ns = session.ns_given() ? session.ns() : "",
                       .wide = session.output() == Output::wide,
                       .user = flags.user};
  CO_TRY_ASSIGN(options.selector, model::Selector::parse(flags.selector));
  options.clusters = co_await has_workers(session);
  if (flags.mine) {
    CO_TRY_ASSIGN(options.user, co_await user_of(session));
  }
  co_return options;
}

void add_starts(QueueView& queue, const std::map<std::string, WallTime>& starts) {
  for (QueueView::Entry& entry : queue.entries) {
    if (const auto found = starts.find(entry.view.uid); found != starts.end()) {
      entry.expected = found->second;
    }
  }
}

}  // namespace

constinit const Verb kQueue = {
    .word = "queue",
    .about = "Show running and waiting work, with positions and reasons",
    .examples = "codeflare queue --watch\n  codeflare queue pause   # before maintenance",
    .add = add_options};

Task<int> run_pause(Session& session, QueueFlags flags, bool pause) {
  Result<kube::ObjectRef> changed =
      co_await set_paused(session, std::move(flags.controller_ns), pause);
  if (!changed) {
    co_return report(session.console(), changed.error(),
                     "ConfigMap " + std::string(kQueueConfigMap));
  }
  if (is_table(session.output())) {
    session.console().out(pause ? "queue paused: no work starts, running work continues\n"
                                : "queue resumed\n");
  } else {
    session.console().out(render_objects({{config_maps(), "configmap", *std::move(changed)}},
                                         session.output(), false));
  }
  co_return kDone;
}

Task<int> run_idle(Session& session, QueueFlags /*flags*/) {
  const Result<Holders> holders = co_await gather_holders(session);
  if (!holders) {
    co_return report(session.console(), holders.error());
  }
  if (holders->wrappers.empty() && holders->jobs.empty()) {
    session.console().out("no AppWrapper or TrainingJob holds nodes\n");
    co_return kDone;
  }
  co_return report(session.console(), failed_precondition(holders_text(*holders)));
}

Task<int> run_queue(Session& session, QueueFlags flags) {
  if (session.output() == Output::yaml || session.output() == Output::name) {
    co_return report_usage(session.console(), "queue supports -o wide and -o json only");
  }
  Result<QueueOptions> options = co_await options_of(session, flags);
  if (!options) {
    co_return report(session.console(), options.error());
  }
  if (flags.watch) {
    co_return co_await internal::watch_queue(session, std::move(flags.controller_ns),
                                             *std::move(options));
  }
  Result<QueueState> state = co_await look_at_queue(session, std::move(flags.controller_ns));
  if (!state) {
    co_return report(session.console(), state.error());
  }
  tell_scope(session, *state);
  QueueView queue = queue_of(state->wrappers, state->note.settings, state->note.paused,
                             session.now(), state->trees, state->jobs);
  if (!queue.entries.empty() && !queue.paused) {
    add_starts(queue, co_await expected_starts(session, state->note.settings));
  }
  session.console().out(session.output() == Output::json
                            ? queue_json(queue, *options, session.now())
                            : render_queue(queue, *options, session.now()));
  co_return kDone;
}

}  // namespace codeflare::cli
