#include "app/apiserver_role.h"

#include "apiserver/server/api_server.h"
#include "apiserver/store/snapshot.h"
#include "app/listen_address.h"
#include "base/async/task.h"
#include "base/async/task_group.h"
#include "base/async/wait_list.h"
#include "base/env/real_env.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/process.h"
#include "base/process_metrics.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace codeflare {

namespace {

using apiserver::ApiServer;
using apiserver::Durability;

constexpr Duration kDrainGrace = std::chrono::seconds(10);

struct Flags {
  std::string data_directory;
  std::string listen = "127.0.0.1:6443";
  Durability durability = Durability::full;
  std::vector<std::string> names;
  std::string token_file;
  std::size_t in_flight_max = 600;
  bool json_log = false;
  bool verbose = false;
  // snapshot, restore
  std::string file;
  bool replace = false;
};

int report(const Error& error) {
  std::fprintf(stderr, "codeflare: %s\n", error.message.c_str());
  return 1;
}

// As many as there are descriptors, with some left for files.
std::size_t connections_max() {
  constexpr std::size_t kForFiles = 64;
  constexpr std::size_t kEnough = 16384;
  const std::size_t descriptors = raise_descriptor_limit();
  return std::clamp<std::size_t>(descriptors, 2 * kForFiles, kEnough + kForFiles) - kForFiles;
}

// Ends when a signal asks for it.
Task<Result<void>> serve(RealEnv& world, const Flags& flags, Logger logger) {
  const Env env = world.env();
  const Instant began = env.clock.now();
  CO_TRY_ASSIGN(ListenAddress address, parse_listen("--listen", flags.listen));
  WaitList stopped;
  bool stop = false;
  world.on_signals({SIGINT, SIGTERM}, [&](int) {
    stop = true;
    stopped.notify_all();
  });
  MetricsRegistry metrics;
  add_process_metrics(metrics);
  std::vector<std::string> names = flags.names;
  names.push_back(address.host);
  CO_TRY_ASSIGN(std::unique_ptr<ApiServer> server,
                co_await ApiServer::start(env,
                                          {.data_directory = flags.data_directory,
                                           .durability = flags.durability,
                                           .certificate_names = std::move(names),
                                           .token_file = flags.token_file,
                                           .in_flight_max = flags.in_flight_max,
                                           .connections_max = connections_max()},
                                          logger, metrics));
  Result<std::uint16_t> port = co_await server->listen(address.host, address.port);
  if (port) {
    const auto took =
        std::chrono::duration_cast<std::chrono::milliseconds>(env.clock.now() - began);
    std::printf("ready https://%s in %lld ms\n", address.text(*port).c_str(),
                static_cast<long long>(took.count()));
    std::fflush(stdout);
    TaskGroup tasks(env.loop);
    tasks.spawn(give_back_memory());
    while (!stop) {
      co_await stopped.wait_uncancellable();
    }
    logger.info("stopping");
    co_await tasks.close();
  }
  co_await server->stop(kDrainGrace);
  if (!port) {
    co_return fail(std::move(port).error());
  }
  co_return Result<void>();
}

int run_server(const Flags& flags) {
  RealEnv world;
  Logger logger(world.env().clock, flags.verbose ? LogLevel::debug : LogLevel::info,
                stderr_log_sink(flags.json_log ? LogFormat::json : LogFormat::text));
  const std::optional<Result<void>> result =
      run(world.env().loop, serve(world, flags, std::move(logger)));
  return result && *result ? 0 : report(result ? result->error() : internal_error("deadlock"));
}

int run_snapshot(const Flags& flags) {
  RealEnv world;
  const Result<apiserver::Revision> revision = apiserver::take_snapshot(
      world.env().files, {.directory = flags.data_directory, .file = flags.file});
  if (!revision) {
    return report(revision.error());
  }
  std::printf("%s holds revision %llu\n", flags.file.c_str(),
              static_cast<unsigned long long>(*revision));
  return 0;
}

int run_restore(const Flags& flags) {
  RealEnv world;
  const Result<apiserver::Revision> revision = apiserver::restore_snapshot(
      world.env().files,
      {.directory = flags.data_directory, .file = flags.file, .replace = flags.replace});
  if (!revision) {
    return report(revision.error());
  }
  std::printf("%s restored; revisions go on from %llu\n", flags.data_directory.c_str(),
              static_cast<unsigned long long>(*revision));
  return 0;
}

}  // namespace

void add_apiserver_role(CLI::App& app, Role& chosen) {
  auto flags = std::make_shared<Flags>();
  CLI::App* role = app.add_subcommand(
      "apiserver", "a Kubernetes API server in this process, with its own durable store");
  role->require_subcommand(0, 1);
  const auto data_directory = [&](CLI::App* command) {
    command->add_option("--data-dir", flags->data_directory, "where the server keeps everything")
        ->required()
        ->type_name("DIR");
  };
  data_directory(role);
  role->add_option("--listen", flags->listen, "address and port; port 0 takes any free one")
      ->type_name("ADDR:PORT")
      ->capture_default_str();
  role->add_option("--name", flags->names,
                   "another name or address that clients call the server by; its certificate is "
                   "for it, and with --listen 0.0.0.0 the first one stands in the kubeconfig")
      ->allow_extra_args(false)
      ->type_name("HOST");
  const std::map<std::string, Durability> durabilities = {
      {"full", Durability::full}, {"relaxed", Durability::relaxed}, {"memory", Durability::memory}};
  role->add_option("--durability", flags->durability,
                   "full: nothing acknowledged is ever lost; relaxed: a power cut may lose the "
                   "last writes; memory: nothing is kept")
      ->transform(CLI::CheckedTransformer(durabilities, CLI::ignore_case)
                      .description("full|relaxed|memory (default full)"));
  role->add_option("--token-file", flags->token_file,
                   "bearer tokens, one a line: token,user,uid,\"group1,group2\"")
      ->type_name("FILE");
  role->add_option("--max-requests-inflight", flags->in_flight_max,
                   "more at a time are answered 429 (watches are not counted)")
      ->capture_default_str();
  role->add_flag("--log-json", flags->json_log, "log lines as JSON");
  role->add_flag("-v,--verbose", flags->verbose, "log more");
  role->callback([&chosen, flags, role] {
    if (role->get_subcommands().empty()) {
      chosen = [flags] { return run_server(*flags); };
    }
  });

  CLI::App* snapshot =
      role->add_subcommand("snapshot", "copy the state into a file, also while the server runs");
  snapshot->fallthrough();
  snapshot->add_option("FILE", flags->file, "must not exist yet")->required();
  snapshot->callback([&chosen, flags] { chosen = [flags] { return run_snapshot(*flags); }; });

  CLI::App* restore =
      role->add_subcommand("restore", "make a snapshot the state of a data directory");
  restore->fallthrough();
  restore->add_option("FILE", flags->file, "made by snapshot")->required();
  restore->add_flag("--replace", flags->replace, "also when the directory holds a state already");
  restore->callback([&chosen, flags] { chosen = [flags] { return run_restore(*flags); }; });
}

}  // namespace codeflare
