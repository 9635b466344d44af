#include "cli/verbs/queued_raycluster.h"

#include "cli/verbs/explain.h"
#include "cli/verbs/hold.h"
#include "cli/verbs/internal/cluster_flags.h"
#include "cli/verbs/internal/session_flags.h"
#include "queue/marks.h"
#include "sdk/clusters.h"

#include <memory>
#include <utility>

namespace codeflare::cli {

namespace {

struct NameFlag {
  std::string name;
};
using Flags = internal::Typed<NameFlag>;

// The AppWrapper that a cluster is in.
Task<Result<std::string>> wrapper_of(Session& session, std::string name) {
  if (name.empty()) {
    co_return fail(invalid_argument("NAME is missing: the name of the cluster"));
  }
  sdk::Clusters clusters(session.client(), session.discovery());
  CO_TRY_ASSIGN(const sdk::ClusterInfo info, co_await clusters.get({session.ns(), name}));
  if (info.wrapper.empty()) {
    co_return fail(failed_precondition("Ray cluster '" + name +
                                       "' is not in an AppWrapper, so the queue does not know it"));
  }
  co_return info.wrapper;
}

Task<int> explain(Session& session, NameFlag flags) {
  const Result<std::string> wrapper = co_await wrapper_of(session, flags.name);
  if (!wrapper) {
    co_return report_coded(session.console(), wrapper.error(), "raycluster " + flags.name);
  }
  ExplainFlags explained{.kind = "appwrapper",
                         .name = *wrapper,
                         .controller_ns = std::string(queue::kControllerNamespace)};
  co_return co_await run_explain(session, std::move(explained));
}

Task<int> hold_or_release(Session& session, NameFlag flags, bool hold) {
  const Result<std::string> wrapper = co_await wrapper_of(session, flags.name);
  if (!wrapper) {
    co_return report_coded(session.console(), wrapper.error(), "raycluster " + flags.name);
  }
  NameFlags names{.kind = "appwrapper", .names = {*wrapper}};
  co_return co_await run_hold(session, std::move(names), hold);
}

Task<int> hold(Session& session, NameFlag flags) {
  co_return co_await hold_or_release(session, std::move(flags), true);
}

Task<int> release(Session& session, NameFlag flags) {
  co_return co_await hold_or_release(session, std::move(flags), false);
}

void add(CLI::App& verb, Chosen& chosen, Task<int> (*run)(Session&, NameFlag)) {
  auto typed = std::make_shared<Flags>();
  internal::add_cluster_name(verb, typed->flags.name);
  internal::finish(verb, chosen, typed, run);
}

void add_explain(CLI::App& verb, Chosen& chosen) {
  add(verb, chosen, explain);
}
void add_hold(CLI::App& verb, Chosen& chosen) {
  add(verb, chosen, hold);
}
void add_release(CLI::App& verb, Chosen& chosen) {
  add(verb, chosen, release);
}

}  // namespace

constinit const Verb kExplainRayCluster = {
    .word = "explain",
    .noun = "raycluster",
    .about = "Explain why a Ray cluster waits and what would start it",
    .examples = "codeflare explain raycluster demo",
    .add = add_explain};
constinit const Verb kHoldRayCluster = {.word = "hold",
                                        .noun = "raycluster",
                                        .about = "Keep a Ray cluster from starting, or stop it",
                                        .examples = "codeflare hold raycluster demo",
                                        .add = add_hold};
constinit const Verb kReleaseRayCluster = {.word = "release",
                                           .noun = "raycluster",
                                           .about = "Let a held Ray cluster start",
                                           .examples = "codeflare release raycluster demo",
                                           .add = add_release};

}  // namespace codeflare::cli
