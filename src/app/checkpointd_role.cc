#include "app/checkpointd_role.h"

#include "app/flags/amount.h"
#include "app/report.h"
#include "base/async/wait_list.h"
#include "base/env/process_metrics.h"
#include "base/env/real_env.h"
#include "base/log.h"
#include "base/metrics.h"
#include "checkpoint/bucket.h"
#include "checkpoint/key_file.h"
#include "checkpoint/service.h"
#include "checkpoint/store.h"
#include "net/listen_address.h"
#include "net/server.h"
#include "s3/connection.h"
#include "s3/copy.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace codeflare {

namespace {

constexpr Duration kDrainGrace = std::chrono::seconds(10);

struct Flags {
  std::string data_directory;
  std::string listen = ":5555";
  std::string key_file;
  bool no_auth = false;
  std::int64_t keep = checkpoint::Retention{}.keep;
  std::int64_t keep_every = 0;
  std::vector<std::string> quotas;
  std::string free_min = "64Mi";
  double open_timeout_s = 900;
  double expire_days = 0;
  s3::Location bucket;
  std::string bucket_prefix;
  bool json_log = false;
  bool verbose = false;
};

struct Settings {
  net::ListenAddress address{};
  checkpoint::StoreOptions store{};
  checkpoint::ServiceOptions service{};
  std::optional<s3::Connection> bucket{};
  checkpoint::BucketOptions bucket_options{};
};

// SIZE for every namespace, or NAMESPACE=SIZE for one.
Result<void> add_quota(checkpoint::StoreOptions& options, const std::string& text) {
  const std::size_t equals = text.find('=');
  const bool named = equals != std::string::npos;
  TRY_ASSIGN(const model::Quantity size, amount("--quota", named ? text.substr(equals + 1) : text));
  options.quotas[named ? text.substr(0, equals) : ""] = static_cast<std::uint64_t>(size.value());
  return {};
}

// Keys and addresses of the bucket, if there is one.
Result<void> add_bucket(Env env, const Flags& flags, Settings& settings) {
  if (flags.bucket.bucket.empty() && flags.bucket.endpoint.empty()) {
    return {};
  }
  if (flags.bucket.bucket.empty() || flags.bucket.endpoint.empty()) {
    return fail(invalid_argument("--s3-bucket and --s3-endpoint belong together; set both"));
  }
  // A save that fails reports the words of the bucket before its client gives up after 30 s.
  s3::Location location = flags.bucket;
  location.attempts_max = 3;
  location.connect_timeout = std::chrono::seconds(5);
  location.head_timeout = std::chrono::seconds(8);
  TRY_ASSIGN(settings.bucket, s3::connect(env, location, "codeflare-checkpointd"));
  settings.bucket_options.prefix = s3::directory_prefix(flags.bucket_prefix);
  return {};
}

Result<Settings> read_settings(Env env, const Flags& flags) {
  Settings settings;
  // ":5555" is every address of the machine.
  const std::string listen = (flags.listen.starts_with(':') ? "0.0.0.0" : "") + flags.listen;
  TRY_ASSIGN(settings.address, net::parse_listen("--listen", listen));
  settings.store.directory = flags.data_directory;
  for (const std::string& quota : flags.quotas) {
    TRY(add_quota(settings.store, quota));
  }
  TRY_ASSIGN(const model::Quantity free_min, amount("--min-free", flags.free_min));
  settings.store.free_bytes_min = static_cast<std::uint64_t>(free_min.value());
  settings.store.open_timeout =
      std::chrono::duration_cast<Duration>(std::chrono::duration<double>(flags.open_timeout_s));
  settings.store.job_expiry = std::chrono::duration_cast<Duration>(
      std::chrono::duration<double, std::ratio<86'400>>(flags.expire_days));
  settings.service.retention = {.keep = flags.keep, .keep_every = flags.keep_every};
  settings.service.version = CODEFLARE_VERSION;
  if (!flags.no_auth) {
    const std::string path =
        flags.key_file.empty() ? join_path(flags.data_directory, "key") : flags.key_file;
    TRY_ASSIGN(settings.service.key, flags.key_file.empty()
                                         ? checkpoint::read_or_make_key(env, path)
                                         : checkpoint::read_key(env.files, path));
  }
  TRY(add_bucket(env, flags, settings));
  return settings;
}

// Ends when a signal asks for it.
Task<Result<void>> serve(RealEnv& world, Settings settings, Logger logger) {
  const Env env = world.env();
  WaitList stopped;
  bool stop = false;
  world.on_signals({SIGINT, SIGTERM}, [&](int) {
    stop = true;
    stopped.notify_all();
  });
  MetricsRegistry metrics;
  add_process_metrics(metrics);
  CO_TRY_ASSIGN(std::unique_ptr<checkpoint::Store> store,
                co_await checkpoint::Store::open(env, std::move(settings.store), logger));
  std::optional<checkpoint::Bucket> bucket;
  if (settings.bucket) {
    bucket.emplace(*store, *settings.bucket->client, std::move(settings.bucket_options), logger);
    settings.service.bucket = &*bucket;
  }
  checkpoint::Service service(env, *store, std::move(settings.service), metrics);
  net::HttpServer server(env, service, {});
  Result<std::uint16_t> port = server.listen(settings.address.host, settings.address.port);
  if (port) {
    std::printf("ready http://%s\n", settings.address.text(*port).c_str());
    std::fflush(stdout);
    while (!stop) {
      co_await stopped.wait_uncancellable();
    }
    logger.info("stopping");
  }
  co_await server.drain(kDrainGrace);
  if (bucket) {
    co_await bucket->close();
  }
  co_await store->close();
  co_return port ? Result<void>() : Result<void>(fail(std::move(port).error()));
}

int run_role(const Flags& flags) {
  RealEnv world;
  Result<Settings> settings = read_settings(world.env(), flags);
  if (!settings) {
    const bool usage = settings.error().code == ErrorCode::invalid_argument;
    return usage ? report_usage(settings.error()) : report(settings.error());
  }
  const Logger logger(world.env().clock, flags.verbose ? LogLevel::debug : LogLevel::info,
                      stderr_log_sink(flags.json_log ? LogFormat::json : LogFormat::text));
  const std::optional<Result<void>> result =
      run(world.env().loop, serve(world, *std::move(settings), logger));
  return result && *result ? 0 : report(result ? result->error() : internal_error("deadlock"));
}

}  // namespace

void add_checkpointd_role(CLI::App& app, Role& chosen) {
  auto flags = std::make_shared<Flags>();
  CLI::App* role = app.add_subcommand("checkpointd", "Run the checkpoint service of TrainingJobs");
  role->add_option("--data,--data-dir", flags->data_directory, "directory of the checkpoints")
      ->required()
      ->type_name("DIR");
  role->add_option("--listen", flags->listen,
                   "address and port; without an address every one of the machine, port 0 takes "
                   "any free one")
      ->type_name("ADDR:PORT")
      ->capture_default_str();
  role->add_option("--key-file", flags->key_file,
                   "key that the tokens are made from (default DIR/key, made at the first start)")
      ->type_name("FILE");
  role->add_flag("--no-auth", flags->no_auth, "accept requests without a token");
  role->add_option("--keep", flags->keep, "newest checkpoints of a job to keep")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000}))
      ->capture_default_str();
  role->add_option("--keep-every", flags->keep_every,
                   "keep every N-th checkpoint as well (0: none)")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1'000'000'000}))
      ->capture_default_str();
  role->add_option("--quota", flags->quotas,
                   "bytes of each namespace, or NAMESPACE=SIZE of one; may be repeated")
      ->allow_extra_args(false)
      ->type_name("SIZE");
  role->add_option("--min-free", flags->free_min, "space to leave free on the disk")
      ->type_name("SIZE")
      ->capture_default_str();
  role->add_option("--open-timeout", flags->open_timeout_s,
                   "seconds without a request after which an open checkpoint is removed")
      ->check(CLI::Range(1.0, 1e6))
      ->type_name("SECONDS")
      ->capture_default_str();
  role->add_option("--expire-jobs", flags->expire_days,
                   "days without a request after which all checkpoints of a job are removed (0: "
                   "never)")
      ->check(CLI::Range(0.0, 36'500.0))
      ->type_name("DAYS")
      ->capture_default_str();
  role->add_option("--s3-endpoint", flags->bucket.endpoint,
                   "URL of an object store for checkpoints of the type s3 (default: none)")
      ->type_name("URL");
  role->add_option("--s3-bucket", flags->bucket.bucket, "bucket of that store")
      ->type_name("BUCKET");
  role->add_option("--s3-prefix", flags->bucket_prefix, "directory of the bucket (default: none)")
      ->type_name("PREFIX");
  role->add_option("--s3-region", flags->bucket.region, "region of the bucket")
      ->type_name("REGION")
      ->capture_default_str();
  role->add_option("--s3-keys", flags->bucket.keys_directory,
                   "folder with the files accessKeyID, secretAccessKey, sessionToken and ca.crt "
                   "(default: the variables of AWS)")
      ->type_name("DIR");
  role->add_flag("--log-json", flags->json_log, "write log lines as JSON");
  role->add_flag("-v,--verbose", flags->verbose, "log debug messages");
  role->footer("Example:\n  codeflare checkpointd --data DIR --listen 127.0.0.1:5555");
  role->callback([&chosen, flags] { chosen = [flags] { return run_role(*flags); }; });
}

}  // namespace codeflare
