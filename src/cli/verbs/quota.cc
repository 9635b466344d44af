#include "cli/verbs/quota.h"

#include "base/close_words.h"
#include "cli/gather/quota_state.h"
#include "cli/session/output.h"
#include "cli/verbs/internal/all_namespaces.h"
#include "cli/verbs/internal/session_flags.h"
#include "cli/views/quota_view.h"

#include <memory>
#include <set>
#include <utility>
#include <vector>

namespace codeflare::cli {

namespace {

void add_options(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<internal::Typed<QuotaFlags>>();
  verb.add_option("TREE", typed->flags.tree, "name of the quota tree (default: all trees)");
  internal::finish(verb, chosen, typed, run_quota, {"wide", "json", "yaml"});
  internal::add_all_namespaces(verb, typed);
}

// Leaves the named tree alone, or says which there are.
Result<void> keep_tree(QuotaView& view, const std::string& tree) {
  std::set<std::string> names;
  for (const QuotaNodeView& node : view.nodes) {
    names.insert(node.tree);
  }
  if (!names.contains(tree)) {
    std::vector<std::string> known(names.begin(), names.end());
    return fail(not_found("quota tree \"" + tree + "\" not found" + did_you_mean(tree, known)));
  }
  std::erase_if(view.nodes, [&](const QuotaNodeView& node) { return node.tree != tree; });
  std::erase_if(view.strays, [&](const QuotaStray& stray) { return stray.tree != tree; });
  return {};
}

constexpr std::string_view kNoTrees =
    "no quota trees; create QuotaSubtrees, see examples/quota and docs/quota.md\n";

// Trees may exist in namespaces that the caller cannot see.
std::string no_trees(const QuotaState& state) {
  if (state.subtrees_ns.empty()) {
    return std::string(kNoTrees);
  }
  return "no quota trees in namespace " + state.subtrees_ns +
         "; 'codeflare explain NAME' names the quota that work waits for, an administrator can see "
         "all quota trees\n";
}

}  // namespace

constinit const Verb kQuota = {.word = "quota",
                               .about = "Show quota trees: limits, use, borrowing and waiting work",
                               .examples = "codeflare quota\n  codeflare quota team -o wide",
                               .add = add_options};

Task<int> run_quota(Session& session, QuotaFlags flags) {
  const Result<QuotaState> state = co_await look_at_quota(session);
  if (!state) {
    co_return report(session.console(), state.error());
  }
  tell_scope(session, *state);
  QuotaView view = quota_of(state->subtrees, state->wrappers);
  if (!flags.tree.empty()) {
    if (const Result<void> kept = keep_tree(view, flags.tree); !kept) {
      co_return report(session.console(), kept.error());
    }
  }
  if (!is_table(session.output())) {
    session.console().out(machine_text([&](json::Arena& arena) { return quota_value(view, arena); },
                                       session.output()));
  } else if (view.nodes.empty()) {
    session.console().err(no_trees(*state));
  } else {
    session.console().out(render_quota(view, session.output() == Output::wide));
  }
  co_return kDone;
}

}  // namespace codeflare::cli
