#include "cli/verbs/top.h"

#include "cli/gather/top_state.h"
#include "cli/session/output.h"
#include "cli/verbs/internal/session_flags.h"
#include "cli/views/top_view.h"

#include <memory>

namespace codeflare::cli {

namespace {

void add_options(CLI::App& verb, Chosen& chosen) {
  internal::finish(verb, chosen, std::make_shared<internal::Typed<TopFlags>>(), run_top,
                   {"json", "yaml"});
}

}  // namespace

constinit const Verb kTop = {.word = "top",
                             .about = "Show what nodes and work use, against their requests",
                             .examples = "codeflare top\n  codeflare top -n team-a",
                             .add = add_options};

Task<int> run_top(Session& session, TopFlags /*flags*/) {
  const Result<TopView> view = co_await look_at_use(session);
  if (!view) {
    co_return report(session.console(), view.error());
  }
  session.console().out(
      is_table(session.output())
          ? render_top(*view)
          : machine_text([&](json::Arena& arena) { return top_value(*view, arena); },
                         session.output()));
  co_return kDone;
}

}  // namespace codeflare::cli
