#include "cli/verbs/top.h"

#include "cli/gather/top_state.h"
#include "cli/session/output.h"
#include "cli/verbs/cluster.h"
#include "cli/verbs/internal/all_namespaces.h"
#include "cli/verbs/internal/session_flags.h"
#include "cli/views/top_view.h"

#include <memory>
#include <string>
#include <vector>

namespace codeflare::cli {

namespace {

void add_options(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<internal::Typed<TopFlags>>();
  verb.add_option("WHAT", typed->flags.what, "clusters: worker clusters instead of nodes and work")
      ->check(CLI::IsMember(std::vector<std::string>{"clusters"}));
  internal::finish(verb, chosen, typed, run_top, {"json", "yaml"});
  internal::add_all_namespaces(verb, typed);
}

}  // namespace

constinit const Verb kTop = {
    .word = "top",
    .about = "Show what nodes and work use, against their requests",
    .examples = "codeflare top\n  codeflare top -n team-a\n  codeflare top clusters",
    .add = add_options};

Task<int> run_top(Session& session, TopFlags flags) {
  if (flags.what == "clusters") {
    co_return co_await run_top_clusters(session);
  }
  const Result<TopView> view = co_await look_at_use(session);
  if (!view) {
    co_return report(session.console(), view.error());
  }
  session.console().err(no_use_note(*view));
  session.console().out(
      is_table(session.output())
          ? render_top(*view)
          : machine_text([&](json::Arena& arena) { return top_value(*view, arena); },
                         session.output()));
  co_return kDone;
}

}  // namespace codeflare::cli
