#include "cli/verbs/explain.h"

#include "cli/gather/events.h"
#include "cli/gather/explain.h"
#include "cli/gather/find_wrapper.h"
#include "cli/verbs/end_run.h"
#include "cli/verbs/explain_training.h"
#include "cli/verbs/internal/session_flags.h"
#include "cli/views/explain_view.h"
#include "cli/views/kinds.h"
#include "queue/marks.h"

#include <memory>
#include <utility>
#include <vector>

namespace codeflare::cli {

namespace {

void add_options(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<internal::Typed<ExplainFlags>>();
  verb.add_option("KIND", typed->flags.kind, internal::kKindHelp)->required();
  verb.add_option("NAME", typed->flags.name, "name of the object");
  typed->flags.controller_ns = queue::kControllerNamespace;
  internal::add_controller_ns(verb, typed->flags.controller_ns);
  internal::finish(verb, chosen, typed, run_explain, {"json"});
}

}  // namespace

constinit const Verb kExplain = {.word = "explain",
                                 .about = "Explain why work is waiting and what would start it",
                                 .examples = "codeflare explain train",
                                 .add = add_options,
                                 .takes_kind = true};

Task<int> run_explain(Session& session, ExplainFlags flags) {
  Result<KindNames> typed = read_names(flags.kind, one_name(flags.name));
  if (!typed) {
    co_return report_usage(session.console(), typed.error().message);
  }
  if (session.output() == Output::yaml || session.output() == Output::name) {
    co_return report_usage(session.console(), "explain supports -o json only");
  }
  const std::string name = typed->names.front();
  ExplainOptions options{.name = name, .controller_ns = flags.controller_ns};
  const Result<Explained> explained =
      co_await gather_explanation(session, typed->kind, std::move(options));
  if (!explained && explained.error().code == ErrorCode::not_found && is_table(session.output())) {
    const std::string noun = co_await noun_instead(session, typed->kind, name);
    if (noun == "trainingjob") {
      co_return co_await run_explain_training(session, {name, std::move(flags.controller_ns)});
    }
    if (noun == "run") {
      co_return co_await run_explain_run(session, {{name}});
    }
  }
  if (!explained && explained.error().code == ErrorCode::not_found && is_table(session.output())) {
    std::string gone = name;
    const std::vector<PastEvent> events = co_await wrapper_events(session, std::move(gone));
    if (!events.empty()) {
      session.console().out(render_past(session.ns() + "/" + name, events, session.now()));
    }
  }
  if (!explained) {
    co_return report(session.console(), explained.error());
  }
  session.console().out(session.output() == Output::json
                            ? explanation_json(*explained, session.now())
                            : render_explanation(*explained, session.now()));
  co_return kDone;
}

}  // namespace codeflare::cli
