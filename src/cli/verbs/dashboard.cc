#include "cli/verbs/dashboard.h"

#include "cli/verbs/internal/cluster_flags.h"
#include "cli/verbs/internal/session_flags.h"
#include "sdk/clusters.h"
#include "sdk/dashboard_tunnel.h"

#include <memory>
#include <utility>

namespace codeflare::cli {

namespace {

void add_options(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<internal::Typed<DashboardFlags>>();
  internal::add_cluster_name(verb, typed->flags.name);
  verb.add_option("--port", typed->flags.port, "port on 127.0.0.1 (default: any that is free)");
  internal::add_connection_flags(verb, typed->session);
  verb.callback([&chosen, typed] {
    chosen = [typed] {
      return internal::run_waiting(typed->session,
                                   [&](Session& s) { return run_dashboard(s, typed->flags); });
    };
  });
}

}  // namespace

constinit const Verb kDashboard = {.word = "dashboard",
                                   .about = "Serve Ray's dashboard of a cluster on this machine",
                                   .examples = "codeflare dashboard demo --port 8265",
                                   .add = add_options};

Task<int> run_dashboard(Session& session, DashboardFlags flags) {
  sdk::Clusters clusters(session.client(), session.discovery());
  const model::ObjectKey key{session.ns(), flags.name};
  const Result<sdk::ClusterInfo> info = co_await clusters.get(key);
  if (!info) {
    co_return report_coded(session.console(), info.error());
  }
  if (!info->state.head_ready && info->state.phase != sdk::ClusterPhase::ready) {
    co_return report_coded(session.console(),
                           failed_precondition("raycluster/" + flags.name + " has no ready head: " +
                                               sdk::progress_line(info->state)));
  }
  sdk::TunnelOptions options{
      .port = flags.port, .opened = [&](const std::string& url) {
        session.console().out(url + "\n");
        session.console().err("dashboard of raycluster/" + flags.name + "; Ctrl-C ends it\n");
      }};
  const Result<void> served =
      co_await sdk::serve_dashboard(session.env(), session.service(), key, std::move(options));
  co_return served ? int{kDone} : report_coded(session.console(), served.error());
}

}  // namespace codeflare::cli
