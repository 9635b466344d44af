#include "cli/verbs/wait_raycluster.h"

#include "cli/verbs/internal/cluster_flags.h"
#include "cli/verbs/internal/session_flags.h"
#include "cli/verbs/internal/wait_line.h"

#include <memory>
#include <utility>

namespace codeflare::cli {

namespace {

void add_options(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<internal::Typed<WaitRayClusterFlags>>();
  internal::add_cluster_name(verb, typed->flags.name);
  verb.add_option("--for", typed->flags.goal, "ready (default; also: running), finished or deleted")
      ->check(CLI::IsMember({"ready", "running", "finished", "deleted"}))
      ->type_name("STATE");
  internal::finish_wait(verb, chosen, typed, run_wait_raycluster);
}

sdk::ClusterGoal goal_of(const std::string& word) {
  return word == "deleted"    ? sdk::ClusterGoal::deleted
         : word == "finished" ? sdk::ClusterGoal::finished
                              : sdk::ClusterGoal::ready;
}

}  // namespace

constinit const Verb kWait = {.word = "wait",
                              .about = "Wait for a state of an object",
                              .examples = "codeflare wait raycluster demo"};
constinit const Verb kWaitRayCluster = {
    .word = "wait",
    .noun = "raycluster",
    .about = "Wait until a Ray cluster is ready, finished or deleted",
    .examples = "codeflare wait raycluster demo --timeout 600",
    .add = add_options};

Task<int> run_wait_raycluster(Session& session, WaitRayClusterFlags flags) {
  sdk::Clusters clusters(session.client(), session.discovery());
  internal::WaitLine line(session);
  sdk::ClusterWait options{
      .goal = goal_of(flags.goal),
      .timeout = flags.timeout,
      .observer = [&](const sdk::ClusterState& state) {
        line.show("raycluster/" + flags.name + ": " + sdk::progress_line(state));
      }};
  const Result<sdk::ClusterInfo> end =
      co_await clusters.wait({session.ns(), flags.name}, std::move(options));
  if (!end && end.error().code == ErrorCode::cancelled) {
    session.console().err(
        "detached; the cluster is not affected. To wait again: codeflare wait "
        "raycluster " +
        flags.name + " -n " + session.ns() + "\n");
    co_return kInterrupted;
  }
  if (!end) {
    co_return report_coded(session.console(), end.error());
  }
  const std::string state =
      flags.goal == "deleted" ? "deleted" : std::string(to_string(end->state.phase));
  session.console().out(session.output() == Output::name
                            ? "raycluster/" + flags.name + "\n"
                            : "raycluster/" + flags.name + " " + state + "\n");
  if (goal_of(flags.goal) == sdk::ClusterGoal::ready && is_table(session.output())) {
    session.console().out("Client URI: " + end->client_uri() + "\n");
    if (!end->dashboard_uri.empty()) {
      session.console().out("Dashboard: " + end->dashboard_uri + "\n");
    }
  }
  co_return kDone;
}

}  // namespace codeflare::cli
