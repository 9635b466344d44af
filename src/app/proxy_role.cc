#include "app/proxy_role.h"

#include "app/report.h"
#include "base/env/file_system.h"
#include "base/env/real_env.h"
#include "net/listen_address.h"
#include "node/holder/network_proxy.h"
#include "up/context.h"
#include "up/state.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <cstdio>
#include <memory>
#include <string>

namespace codeflare {

namespace {

struct Flags {
  std::string data_directory;
  std::string listen = "127.0.0.1:0";
};

// Gone before the proxy begins: it has one thread.
Result<std::string> data_directory(const Flags& flags) {
  RealEnv world;
  TRY_ASSIGN(const up::ChosenCluster cluster,
             up::choose_cluster(world.env(), flags.data_directory));
  if (!cluster.warning.empty()) {
    std::fprintf(stderr, "warning: %s\n", cluster.warning.c_str());
  }
  return cluster.directory;
}

void say_ready(const std::string& host, std::uint16_t port) {
  const std::string at = "http://" + host + ":" + std::to_string(port);
  std::printf(
      "proxy %s reaches pods and services by address or name, for example:\n"
      "  curl -x %s http://SERVICE.NAMESPACE:PORT/\n",
      at.c_str(), at.c_str());
  std::fflush(stdout);
}

Result<void> run_role(const Flags& flags) {
  TRY_ASSIGN(const net::ListenAddress at, net::parse_listen("--listen", flags.listen));
  TRY_ASSIGN(const std::string directory, data_directory(flags));
  const std::string holder = join_path(directory, "node/net/holder.sock");
  Result<void> served = node::serve_cluster_proxy(
      holder, at.host, at.port, [&](std::uint16_t port) { say_ready(at.host, port); });
  if (!served && served.error().code == ErrorCode::unavailable) {
    return fail(unavailable("no cluster of 'codeflare up' with a pod network runs in " + directory +
                            " (" + served.error().message + ")"));
  }
  return served;
}

}  // namespace

void add_proxy_role(CLI::App& app, Role& chosen) {
  auto flags = std::make_shared<Flags>();
  CLI::App* role =
      app.add_subcommand("proxy", "Serve an HTTP proxy to the pods and services of 'codeflare up'");
  role->add_option("--listen", flags->listen,
                   "IPv4 address and port of the proxy; port 0 takes any free one")
      ->type_name("ADDR:PORT")
      ->capture_default_str();
  role->add_option("--data-dir", flags->data_directory, "data directory of the cluster")
      ->type_name("DIR");
  role->footer("Example:\n  codeflare proxy --listen 127.0.0.1:3128");
  role->callback([&chosen, flags] {
    chosen = [flags] {
      const Result<void> served = run_role(*flags);
      if (served) {
        return 0;
      }
      const bool usage = served.error().code == ErrorCode::invalid_argument;
      return usage ? report_usage(served.error()) : report(served.error());
    };
  });
}

}  // namespace codeflare
