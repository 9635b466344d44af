#include "app/apiserver_role.h"

#include "apiserver/server/api_server.h"
#include "apiserver/store/repair.h"
#include "apiserver/store/snapshot.h"
#include "app/flags/durability_flag.h"
#include "app/report.h"
#include "base/async/task.h"
#include "base/async/task_group.h"
#include "base/async/wait_list.h"
#include "base/env/process.h"
#include "base/env/process_metrics.h"
#include "base/env/real_env.h"
#include "base/log.h"
#include "base/metrics.h"
#include "controllers/admission/fixed_spec_admission.h"
#include "net/listen_address.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace codeflare {

namespace {

using apiserver::ApiServer;
using apiserver::Durability;

constexpr Duration kDrainGrace = std::chrono::seconds(10);
constexpr std::size_t kInFlightMost = 1'000'000;

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

// As many as there are descriptors, with some left for files.
std::size_t connections_max() {
  constexpr std::size_t kForFiles = 64;
  constexpr std::size_t kEnough = 16384;
  const std::size_t descriptors = raise_descriptor_limit();
  return std::clamp<std::size_t>(descriptors, 2 * kForFiles, kEnough + kForFiles) - kForFiles;
}

// Ends when a signal asks for it. `silent` when it ends before it began: then the error says it
// all.
Task<Result<void>> serve(RealEnv& world, const Flags& flags, net::ListenAddress address,
                         Logger logger, std::atomic<bool>& silent) {
  const Env env = world.env();
  const Instant began = env.clock.now();
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
                                           .connections_max = connections_max(),
                                           .more_admission = admission::fixed_spec_rules},
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
  } else {
    silent = !flags.verbose;
  }
  co_await server->stop(kDrainGrace);
  if (!port) {
    co_return fail(std::move(port).error());
  }
  co_return Result<void>();
}

int run_server(const Flags& flags) {
  Result<net::ListenAddress> address = net::parse_listen("--listen", flags.listen);
  if (!address) {
    return report_usage(address.error());
  }
  std::atomic<bool> silent = false;
  const LogSink sink = stderr_log_sink(flags.json_log ? LogFormat::json : LogFormat::text);
  RealEnv world;
  Logger logger(world.env().clock, flags.verbose ? LogLevel::debug : LogLevel::info,
                [&silent, &sink](const LogRecord& record) {
                  if (!silent) {
                    sink(record);
                  }
                });
  const std::optional<Result<void>> result =
      run(world.env().loop, serve(world, flags, *std::move(address), std::move(logger), silent));
  return result && *result ? 0 : report(result ? result->error() : internal_error("deadlock"));
}

int run_snapshot(const Flags& flags) {
  RealEnv world;
  const Result<apiserver::Revision> revision = apiserver::take_snapshot(
      world.env().files, {.directory = flags.data_directory, .file = flags.file});
  if (!revision) {
    return report(revision.error());
  }
  std::printf("%s: revision %llu saved\n", flags.file.c_str(),
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
  std::printf("%s restored; revisions continue from %llu\n", flags.data_directory.c_str(),
              static_cast<unsigned long long>(*revision));
  return 0;
}

int run_repair(const Flags& flags) {
  RealEnv world;
  const Result<apiserver::Repaired> repaired =
      apiserver::repair_data_directory(world.env().files, {.directory = flags.data_directory});
  if (!repaired) {
    return report(repaired.error());
  }
  for (const apiserver::Repaired::Dropped& dropped : repaired->dropped) {
    std::printf("dropped (text kept in %s): %s\n", dropped.file.c_str(), dropped.damage.c_str());
  }
  if (repaired->lost_writes) {
    const apiserver::Repaired::LostWrites& lost = *repaired->lost_writes;
    std::printf("dropped the writes that follow the damage%s%s: %s\n",
                lost.file.empty() ? "" : "; damaged log kept in ", lost.file.c_str(),
                lost.damage.c_str());
  }
  if (!repaired->is_changed()) {
    std::printf("%s: no damage found\n", flags.data_directory.c_str());
  } else {
    std::printf("%s repaired; revisions continue from %llu\n", flags.data_directory.c_str(),
                static_cast<unsigned long long>(repaired->revision));
  }
  return 0;
}

// Asked for before or behind the word snapshot, restore or repair; there must be one.
void add_data_directory(CLI::App& command, Flags& flags) {
  command.add_option("--data-dir", flags.data_directory, "data directory of the server (required)")
      ->type_name("DIR");
}

void require_data_directory(const Flags& flags) {
  if (flags.data_directory.empty()) {
    throw CLI::RequiredError("--data-dir");
  }
}

void add_state_commands(CLI::App& role, const std::shared_ptr<Flags>& flags, Role& chosen) {
  CLI::App* snapshot =
      role.add_subcommand("snapshot", "Copy the state into a file; the server may run");
  snapshot->add_option("FILE", flags->file, "file to write; must not exist")->required();
  add_data_directory(*snapshot, *flags);
  snapshot->footer("Example:\n  codeflare apiserver snapshot copy.db --data-dir data");
  snapshot->callback([&chosen, flags] {
    require_data_directory(*flags);
    chosen = [flags] { return run_snapshot(*flags); };
  });

  CLI::App* restore = role.add_subcommand("restore", "Restore a snapshot into a data directory");
  restore->add_option("FILE", flags->file, "file made by 'codeflare apiserver snapshot'")
      ->required();
  add_data_directory(*restore, *flags);
  restore->add_flag("--replace", flags->replace, "replace the state of a directory that has one");
  restore->footer("Example:\n  codeflare apiserver restore copy.db --data-dir other");
  restore->callback([&chosen, flags] {
    require_data_directory(*flags);
    chosen = [flags] { return run_restore(*flags); };
  });

  CLI::App* repair =
      role.add_subcommand("repair", "Drop objects damaged on disk; prefer restoring a snapshot");
  add_data_directory(*repair, *flags);
  repair->footer("Example:\n  codeflare apiserver repair --data-dir data");
  repair->callback([&chosen, flags] {
    require_data_directory(*flags);
    chosen = [flags] { return run_repair(*flags); };
  });
}

}  // namespace

void add_apiserver_role(CLI::App& app, Role& chosen) {
  auto flags = std::make_shared<Flags>();
  CLI::App* role =
      app.add_subcommand("apiserver", "Run a Kubernetes API server with its own durable store");
  role->require_subcommand(0, 1);
  add_data_directory(*role, *flags);
  role->add_option("--listen", flags->listen,
                   "address and port of the API server; port 0 takes any free one")
      ->type_name("ADDR:PORT")
      ->capture_default_str();
  role->add_option("--name", flags->names,
                   "further name or address of the server for its certificate; with --listen "
                   "0.0.0.0 the first one is written to the kubeconfig")
      ->allow_extra_args(false)
      ->type_name("HOST");
  add_durability(*role, flags->durability,
                 "full: no acknowledged write is lost; relaxed: a power cut may lose the last "
                 "writes; memory: nothing is kept");
  role->add_option("--token-file", flags->token_file,
                   "file with bearer tokens, one per line: token,user,uid,\"group1,group2\"")
      ->check(CLI::ExistingFile.description(""))
      ->type_name("FILE");
  role->add_option("--max-requests-inflight", flags->in_flight_max,
                   "limit of concurrent requests, watches excluded; further requests get 429")
      ->check(CLI::Range(std::size_t{1}, kInFlightMost))
      ->capture_default_str();
  role->add_flag("--log-json", flags->json_log, "write log lines as JSON");
  role->add_flag("-v,--verbose", flags->verbose, "log debug messages");
  role->footer("Example:\n  codeflare apiserver --data-dir data --listen 127.0.0.1:6443");
  role->callback([&chosen, flags, role] {
    if (role->get_subcommands().empty()) {
      require_data_directory(*flags);
      chosen = [flags] { return run_server(*flags); };
    }
  });
  add_state_commands(*role, flags, chosen);
}

}  // namespace codeflare
