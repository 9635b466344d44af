#include "cli/verbs/explain.h"

#include "cli/gather/explain.h"
#include "cli/verbs/internal/session_flags.h"
#include "cli/views/explain_view.h"
#include "cli/views/kinds.h"
#include "queue/marks.h"

#include <memory>
#include <utility>

namespace codeflare::cli {

namespace {

void add_options(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<internal::Typed<ExplainFlags>>();
  verb.add_option("KIND", typed->flags.kind, "appwrapper (aw)")->required();
  verb.add_option("NAME", typed->flags.name)->required();
  typed->flags.controller_ns = queue::kControllerNamespace;
  internal::add_controller_ns(verb, typed->flags.controller_ns);
  internal::finish(verb, chosen, typed, run_explain);
}

}  // namespace

constinit const Verb kExplain = {
    .word = "explain",
    .about = "Say why work waits, who holds what it needs and what would start it",
    .examples = "codeflare explain appwrapper train",
    .add = add_options};

Task<int> run_explain(Session& session, ExplainFlags flags) {
  const Result<KnownKind> kind = parse_kind(flags.kind);
  if (!kind) {
    co_return report_usage(session.console(), kind.error().message);
  }
  if (session.output() == Output::yaml || session.output() == Output::name) {
    co_return report_usage(session.console(), "explain prints text or -o json");
  }
  ExplainOptions options{.name = std::move(flags.name),
                         .controller_ns = std::move(flags.controller_ns)};
  const Result<Explained> explained =
      co_await gather_explanation(session, *kind, std::move(options));
  if (!explained) {
    co_return report(session.console(), explained.error());
  }
  session.console().out(session.output() == Output::json
                            ? explanation_json(*explained, session.now())
                            : render_explanation(*explained, session.now()));
  co_return kDone;
}

}  // namespace codeflare::cli
