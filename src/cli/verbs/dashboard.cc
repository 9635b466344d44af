#include "cli/verbs/dashboard.h"

#include "base/async/task_group.h"
#include "base/async/when.h"
#include "cli/verbs/internal/cluster_flags.h"
#include "cli/verbs/internal/session_flags.h"
#include "sdk/clusters.h"
#include "sdk/dashboard_tunnel.h"
#include "sdk/head_tunnel.h"

#include <memory>
#include <set>
#include <utility>
#include <vector>

namespace codeflare::cli {

namespace {

using Flags = internal::Typed<DashboardFlags>;

void finish(CLI::App& verb, Chosen& chosen, std::shared_ptr<Flags> typed,
            Task<int> (*run)(Session&, DashboardFlags)) {
  verb.add_flag("--no-browser", typed->flags.no_browser, "print the URL only");
  internal::add_connection_flags(verb, typed->session);
  verb.callback([&chosen, typed = std::move(typed), run] {
    chosen = [typed, run] {
      return internal::run_waiting(typed->session,
                                   [&](Session& s) { return run(s, typed->flags); });
    };
  });
}

void add_dashboard(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<Flags>();
  internal::add_cluster_name(verb, typed->flags.name);
  verb.add_option("--port", typed->flags.port, "port on 127.0.0.1 (default: any that is free)");
  finish(verb, chosen, std::move(typed), run_dashboard);
}

void add_session(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<Flags>();
  internal::add_cluster_name(verb, typed->flags.name);
  verb.add_option("--port", typed->flags.port,
                  "port of the dashboard on 127.0.0.1 (default: 8265, else any that is free)");
  verb.add_option("--client-port", typed->flags.client_port,
                  "port of Ray clients on 127.0.0.1 (default: 10001, else any that is free)");
  finish(verb, chosen, std::move(typed), run_session_with);
}

// Whether the cluster has a head to talk to; the exit code otherwise.
Task<int> check_head(Session& session, std::string name) {
  sdk::Clusters clusters(session.client(), session.discovery());
  const Result<sdk::ClusterInfo> info = co_await clusters.get({session.ns(), name});
  if (!info) {
    co_return report_coded(session.console(), info.error());
  }
  if (!info->state.head_ready && info->state.phase != sdk::ClusterPhase::ready) {
    co_return report_coded(session.console(),
                           failed_precondition("raycluster/" + name + " has no ready head: " +
                                               sdk::progress_line(info->state)));
  }
  co_return kDone;
}

// Opens a page where somebody sits in front of a desktop; anywhere else the printed URL is enough.
Task<void> open_browser(Session& session, std::string url) {
  const Variables& variables = session.env().variables;
  if (session.console().out_is_terminal() &&
      (variables.get("DISPLAY") || variables.get("WAYLAND_DISPLAY"))) {
    Command command{.program = "xdg-open", .arguments = {std::move(url)}};
    static_cast<void>(co_await session.env().launcher.run(std::move(command)));
  }
}

struct Tunnels {
  Session& session;
  DashboardFlags flags;
  TaskGroup& browsers;
  std::set<std::string> reported{};  // errors of connections, each once
};

Task<Result<void>> dashboard_tunnel(Tunnels& tunnels, std::uint16_t preferred, std::string label) {
  Session& session = tunnels.session;
  sdk::TunnelOptions options{.port = tunnels.flags.port != 0 ? tunnels.flags.port : preferred,
                             .any_if_taken = tunnels.flags.port == 0,
                             .opened = [&](const std::string& url) {
                               session.console().out(label + url + "\n");
                               if (!tunnels.flags.no_browser) {
                                 tunnels.browsers.spawn(open_browser(session, url));
                               }
                             }};
  co_return co_await sdk::serve_dashboard(session.env(), session.service(),
                                          {session.ns(), tunnels.flags.name}, std::move(options));
}

Task<Result<void>> client_tunnel(Tunnels& tunnels) {
  Session& session = tunnels.session;
  const std::uint16_t asked = tunnels.flags.client_port;
  sdk::HeadTunnelOptions options{
      .port = asked != 0 ? asked : sdk::kRayClientPort,
      .any_if_taken = asked == 0,
      .opened =
          [&](std::uint16_t port) {
            session.console().out("Ray client: ray://127.0.0.1:" + std::to_string(port) + "\n");
          },
      .broken =
          [&](const Error& error) {
            if (tunnels.reported.insert(error.message).second) {
              session.console().err("warning: a connection failed: " + error.message + "\n");
            }
          }};
  co_return co_await sdk::serve_head_port(session.env(), session.service(), session.client(),
                                          {session.ns(), tunnels.flags.name}, std::move(options));
}

// Ctrl-C is the usual end.
int ended(Session& session, const Result<void>& served) {
  return served ? int{kDone} : report_coded(session.console(), served.error());
}

}  // namespace

constinit const Verb kDashboard = {.word = "dashboard",
                                   .about = "Serve Ray's dashboard of a cluster on this machine",
                                   .examples = "codeflare dashboard demo --port 8265",
                                   .add = add_dashboard};
constinit const Verb kSession = {
    .word = "session",
    .about = "Serve the dashboard and the client port of a Ray cluster on this machine",
    .examples = "codeflare session demo",
    .add = add_session};

Task<int> run_dashboard(Session& session, DashboardFlags flags) {
  if (const int code = co_await check_head(session, flags.name); code != kDone) {
    co_return code;
  }
  session.console().err("dashboard of raycluster/" + flags.name + "; Ctrl-C ends it\n");
  TaskGroup browsers(session.env().loop);
  Tunnels tunnels{session, std::move(flags), browsers};
  const Result<void> served = co_await dashboard_tunnel(tunnels, 0, "");
  co_await browsers.close();
  co_return ended(session, served);
}

Task<int> run_session_with(Session& session, DashboardFlags flags) {
  if (const int code = co_await check_head(session, flags.name); code != kDone) {
    co_return code;
  }
  session.console().err("session with raycluster/" + flags.name + "; Ctrl-C ends it\n");
  TaskGroup browsers(session.env().loop);
  Tunnels tunnels{session, std::move(flags), browsers};
  std::vector<Task<Result<void>>> both;
  both.push_back(dashboard_tunnel(tunnels, sdk::kRayDashboardPort, "Dashboard:  "));
  both.push_back(client_tunnel(tunnels));
  const FirstOf<Result<void>> first = co_await when_any(std::move(both));
  co_await browsers.close();
  co_return ended(session, first.value);
}

}  // namespace codeflare::cli
