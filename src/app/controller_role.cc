#include "app/controller_role.h"

#include "app/flags/mcad_flags.h"
#include "app/flags/training_flags.h"
#include "app/report.h"
#include "base/async/sleep.h"
#include "base/async/task.h"
#include "base/env/real_env.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/process_metrics.h"
#include "controllers/admission/webhook_server.h"
#include "controllers/appwrapper/app_wrapper_object.h"
#include "controllers/appwrapper/published_settings.h"
#include "controllers/appwrapper/queue_controllers.h"
#include "controllers/appwrapper/queue_lease.h"
#include "controllers/crds/ensure_crds.h"
#include "controllers/crds/ensure_policy.h"
#include "controllers/platform/platform_controller.h"
#include "controllers/raycluster/kuberay_present.h"
#include "controllers/rayjob/rayjob_controller.h"
#include "controllers/run/run_controller.h"
#include "controllers/submitter/impersonation_right.h"
#include "controllers/trainingjob/training_controller.h"
#include "kube/connect.h"
#include "kube/discovery.h"
#include "model/application.h"
#include "model/data_set.h"
#include "model/quota_subtree.h"
#include "model/ray_job.h"
#include "model/run.h"
#include "model/run_policy.h"
#include "model/run_size_configuration.h"
#include "model/training_job.h"
#include "net/listen_address.h"
#include "queue/marks.h"
#include "runtime/manager.h"
#include "sdk/program_image.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace codeflare {

namespace {

using admission::WebhookServer;
using admission::WebhookServerOptions;
using controllers::QueueControllersOptions;

constexpr const char* kName = "codeflare-controller";

struct Flags {
  std::string kubeconfig;
  std::string context;
  std::string ns;  // of the kubeconfig: nothing here depends on it
  std::string lease_ns{queue::kControllerNamespace};
  bool bind = false;
  bool legacy_group = false;
  bool no_rayclusters = false;
  bool no_user_check = false;
  bool preemption = false;
  bool priority_slope = false;
  bool quota_trees = true;
  std::int64_t holding_seconds = 0;
  bool no_leader_election = false;
  bool no_queue = false;
  std::string health_address = "0.0.0.0:8081";
  bool install_crds = false;
  WebhookServerOptions webhook;
  int workers = 32;
  bool json_log = false;
  bool verbose = false;
  McadFlags mcad;
  TrainingFlags training;
};

// What is wrong is said before anything is connected.
Result<void> check_addresses(const Flags& flags) {
  if (!flags.webhook.listen.empty()) {
    TRY(net::parse_listen("--webhook-listen", flags.webhook.listen));
  }
  if (const std::string& text = flags.health_address; !text.empty()) {
    // ":8081" is all addresses.
    TRY(net::parse_listen("--health-address", (text.starts_with(':') ? "0.0.0.0" : "") + text));
  }
  return {};
}

QueueControllersOptions queue_options(const Flags& flags) {
  QueueControllersOptions options;
  options.queue.binds = flags.bind ? queue::Binds::gangs : queue::Binds::nothing;
  options.queue.user_check = !flags.no_user_check;
  options.queue.core.preemption = flags.preemption;
  options.queue.core.priority_slope = flags.priority_slope;
  options.queue.core.holding_time = std::chrono::seconds(flags.holding_seconds);
  options.legacy_group = flags.legacy_group;
  options.quota_subtrees = flags.quota_trees;
  options.workers = flags.workers;
  return options;
}

// Whether the server has the kind; an error when it cannot be asked.
Task<Result<bool>> is_served(kube::Client& client, model::ResourceType type) {
  kube::Discovery discovery(client);
  Result<kube::ApiResource> found = co_await discovery.find(type.plural, type.group, type.version);
  if (!found && found.error().code != ErrorCode::not_found) {
    co_return fail(std::move(found).error());
  }
  co_return found.has_value();
}

// Whether the server has the kinds of the Platform, all of them.
Task<Result<bool>> serves_runs(kube::Client& client) {
  for (const model::ResourceType& type :
       {model::resource_type<model::Run>(), model::resource_type<model::Application>(),
        model::resource_type<model::DataSet>(), model::resource_type<model::RunPolicy>(),
        model::resource_type<model::RunSizeConfiguration>()}) {
    CO_TRY_ASSIGN(const bool served, co_await is_served(client, type));
    if (!served) {
      co_return false;
    }
  }
  co_return true;
}

// Whether RayClusters are ours to run: two controllers must not run the same ones.
Task<Result<bool>> runs_ray_clusters(kube::Client& client, const Flags& flags, Logger logger) {
  if (flags.no_rayclusters) {
    co_return false;
  }
  Result<std::optional<std::string>> kuberay =
      co_await controllers::raycluster::kuberay_present(client);
  if (!kuberay && kuberay.error().code == ErrorCode::permission_denied) {
    logger.warn("RayClusters are ignored: cannot find out whether the KubeRay operator runs",
                {{"error", kuberay.error()}});
    co_return false;
  }
  CO_TRY(kuberay);
  if (*kuberay) {
    logger.info("RayClusters are handled by the KubeRay operator", {{"found", **kuberay}});
    co_return false;
  }
  co_return true;
}

void tell(controllers::PolicyReport policy, const Flags& flags, Logger logger) {
  using controllers::PolicyReport;
  const auto without_policy = [&](std::string_view why, std::string_view instead) {
    if (flags.webhook.listen.empty()) {
      logger.warn("changes of AppWrapper specs are not rejected",
                  {{"because", why}, {"instead", instead}});
    } else {
      logger.info("changes of AppWrapper specs are rejected by the webhook only",
                  {{"because", why}});
    }
  };
  switch (policy) {
    case PolicyReport::applied:
      logger.info("admission policy applied");
      return;
    case PolicyReport::left_alone:
      logger.info("admission policy not changed", {{"because", "no permission to change it"}});
      return;
    case PolicyReport::built_in:
      logger.info("changes of AppWrapper specs are rejected by the server");
      return;
    case PolicyReport::not_served:
      without_policy("the server does not support admission policies",
                     "--webhook-listen, or Kubernetes 1.30");
      return;
    case PolicyReport::not_allowed:
      without_policy("no permission for admission policies",
                     "--webhook-listen, or apply crds/appwrappers_policy.yaml");
      return;
  }
}

// Ray's kinds that this controller runs.
struct RayKinds {
  bool clusters = false;
  bool jobs = false;
};

// Leaves those that the cluster knows.
Task<Result<void>> keep_served(kube::Client& client, RayKinds& ray, Logger logger) {
  CO_TRY_ASSIGN(ray.clusters,
                co_await is_served(client, model::resource_type<model::RayCluster>()));
  CO_TRY_ASSIGN(ray.jobs, co_await is_served(client, model::resource_type<model::RayJob>()));
  ray.jobs = ray.jobs && ray.clusters;
  if (!ray.jobs) {
    logger.info(ray.clusters ? "the cluster does not know RayJobs"
                             : "the cluster does not know RayClusters",
                {{"instead", "--install-crds"}});
  }
  co_return Result<void>();
}

// The kinds that we watch are there, or the error says what to do.
Task<Result<void>> prepare(kube::Client& client, const Flags& flags,
                           QueueControllersOptions& options, RayKinds& ray, Logger logger) {
  if (flags.install_crds) {
    // Before the definitions, which had this rule once: there is always one of the two.
    CO_TRY_ASSIGN(const controllers::PolicyReport policy,
                  co_await controllers::ensure_policy(client));
    tell(policy, flags, logger);
    CO_TRY_ASSIGN(controllers::CrdReport done,
                  co_await controllers::ensure_crds(
                      client, {.legacy_group = flags.legacy_group, .ray_cluster = ray.clusters}));
    for (const std::string& name : done.applied) {
      logger.info("custom resource definition applied", {{"name", name}});
    }
    co_return Result<void>();
  }
  if (ray.clusters) {
    CO_TRY(co_await keep_served(client, ray, logger));
  }
  using model::WrapperApi;
  for (const WrapperApi api : {WrapperApi::workload_v1beta1, WrapperApi::mcad_v1beta1}) {
    if (api == WrapperApi::mcad_v1beta1 && !flags.legacy_group) {
      continue;
    }
    const model::ResourceType type = controllers::app_wrapper_type(api);
    CO_TRY_ASSIGN(const bool served, co_await is_served(client, type));
    if (!served) {
      co_return fail(failed_precondition("the cluster does not serve " + type.qualified_name() +
                                         "; start once with --install-crds, or apply crds/"));
    }
  }
  if (!flags.quota_trees) {
    co_return Result<void>();
  }
  CO_TRY_ASSIGN(options.quota_subtrees,
                co_await is_served(client, model::resource_type<model::QuotaSubtree>()));
  if (!options.quota_subtrees) {
    logger.warn("QuotaSubtrees are not installed in the cluster; quota trees are off",
                {{"instead", "--install-crds"}});
  }
  co_return Result<void>();
}

// Without the right wrapped objects cannot be created in the name of whoever submitted them.
Task<Result<void>> check_impersonation(kube::Client& client, Logger logger) {
  CO_TRY_ASSIGN(const std::vector<std::string> missing,
                co_await controllers::missing_impersonation_rights(client));
  for (const std::string& what : missing) {
    logger.error("missing impersonate permission; AppWrappers of other users will not start",
                 {{"verb", "impersonate"}, {"missing", what}});
  }
  co_return Result<void>();
}

// Without leader election nobody stands by: a cluster whose queue works is rejected before
// anything in it is changed. False where this controller may not use Leases, which is taken for
// what `--no-leader-election` says: there is no other.
Task<Result<bool>> take_lease(runtime::LeaderElector& elector, const Flags& flags, Logger logger) {
  const Result<void> taken = co_await elector.take();
  if (taken) {
    co_return true;
  }
  const std::string lease = flags.lease_ns + "/" + std::string(controllers::kQueueLease);
  if (taken.error().code == ErrorCode::permission_denied) {
    logger.warn(
        "no permission for the Lease; do not run a second controller: both together could exceed "
        "quotas",
        {{"lease", lease}, {"error", taken.error()}});
    co_return false;
  }
  if (taken.error().code == ErrorCode::already_exists) {
    co_return fail(already_exists(
        taken.error().message +
        "; stop it first, or start without --no-leader-election to stand by until it ends"));
  }
  co_return fail(taken.error());
}

// TrainingJobs are ours unless switched off or not installed.
Task<Result<bool>> runs_training_jobs(kube::Client& client, const Flags& flags, Logger logger) {
  if (flags.training.off) {
    co_return false;
  }
  CO_TRY_ASSIGN(const bool served,
                co_await is_served(client, model::resource_type<model::TrainingJob>()));
  if (!served) {
    logger.info("the cluster does not serve TrainingJobs", {{"instead", "--install-crds"}});
  }
  co_return served;
}

// The queue, and TrainingJobs if they wait in it.
void add_controllers(runtime::Manager& manager, QueueControllersOptions options,
                     const controllers::trainingjob::TrainingSettings& training) {
  namespace tj = controllers::trainingjob;
  const bool training_jobs = options.training_jobs;
  tj::WorkerOptions workers{.training = options.queue.training,
                            .lattice = training.lattice,
                            .agent_image = sdk::program_image(manager.env().variables)};
  if (options.queue.binds != queue::Binds::nothing) {
    workers.scheduler_name = queue::kSchedulerName;
  }
  const Logger logger = options.logger;
  const std::shared_ptr<controllers::QueueDriver> driver =
      controllers::add_queue_controllers(manager, std::move(options));
  if (training_jobs) {
    tj::TrainingJobReconciler& reconciler =
        tj::add_training_controller(manager, *driver, std::move(workers));
    tj::follow_selector(manager, *driver, reconciler, training, logger);
  }
}

Task<Result<void>> serve_queue(Env env, const Flags& flags, net::HttpService& api,
                               kube::Client& client, std::optional<runtime::LeaderOptions> leader,
                               Logger logger, MetricsRegistry& metrics) {
  QueueControllersOptions options = queue_options(flags);
  options.ns = flags.lease_ns;
  options.logger = logger;
  options.metrics = &metrics;
  CO_TRY_ASSIGN(const bool runs_ray, co_await runs_ray_clusters(client, flags, logger));
  RayKinds ray{.clusters = runs_ray, .jobs = runs_ray};
  CO_TRY(co_await prepare(client, flags, options, ray, logger));
  runtime::ManagerOptions manager_options{.name = kName,
                                          .leader = std::move(leader),
                                          .health_address = flags.health_address,
                                          .logger = logger,
                                          .metrics = &metrics};
  std::unique_ptr<WebhookServer> webhook;
  if (!flags.webhook.listen.empty()) {
    if (!flags.no_user_check) {
      CO_TRY(co_await check_impersonation(client, logger));
    }
    WebhookServerOptions webhook_options = flags.webhook;
    webhook_options.legacy_group = flags.legacy_group;
    CO_TRY_ASSIGN(webhook,
                  co_await WebhookServer::start(env, client, std::move(webhook_options), logger));
    options.submitters.seal = webhook->seal();
  } else if (!flags.no_user_check) {
    logger.warn("without --webhook-listen submitters are unknown; no AppWrapper will start",
                {{"instead", "--webhook-listen or --no-user-check"}});
  }
  CO_TRY_ASSIGN(const controllers::trainingjob::TrainingSettings training,
                training_settings(flags.training));
  CO_TRY_ASSIGN(options.training_jobs, co_await runs_training_jobs(client, flags, logger));
  options.queue.training.unit = training.unit;
  CO_TRY_ASSIGN(options.queue.training.node_selector,
                controllers::trainingjob::read_selector(env, training.selector_path));
  CO_TRY_ASSIGN(const bool runs, co_await serves_runs(client));
  // Controllers of RayClusters, Runs and TrainingJobs look at more of a pod than the queue does.
  options.trim_caches = !ray.clusters && !runs && !options.training_jobs;
  if (!flags.quota_trees) {
    logger.info("quota trees are ignored", {{"because", "--no-quota-trees"}});
  }
  runtime::Manager manager(env, client, std::move(manager_options));
  controllers::add_settings(manager, flags.lease_ns, controllers::settings_of(options), logger);
  add_controllers(manager, std::move(options), training);
  if (ray.clusters) {
    logger.info("no KubeRay operator found; this controller runs RayClusters");
    controllers::rayjob::add_ray_controllers(manager, api, ray.jobs, logger);
  }
  if (runs) {
    controllers::runs::add_run_controller(manager);
    controllers::platform_kinds::add_platform_controllers(manager);
  } else {
    logger.info("the cluster does not serve Runs", {{"instead", "--install-crds"}});
  }
  Result<void> end = co_await manager.run();
  if (webhook != nullptr) {
    co_await webhook->stop();
  }
  co_return end;
}

Task<void> wait_for_stop() {
  while (co_await sleep_for(std::chrono::hours(24))) {
  }
}

// Health and metrics, for a chart whose controllers come with a later version.
Task<Result<void>> serve_no_queue(Env env, const Flags& flags, kube::Client& client, Logger logger,
                                  MetricsRegistry& metrics) {
  logger.warn("TrainingJobs wait in the queue of another controller: there is nothing to run",
              {{"because", "--no-queue"}});
  runtime::Manager manager(env, client,
                           {.name = kName,
                            .leader = std::nullopt,
                            .health_address = flags.health_address,
                            .logger = logger,
                            .metrics = &metrics});
  manager.add_work(wait_for_stop);
  co_return co_await manager.run();
}

// `api` leads to the server of the client.
Task<Result<void>> serve(Env env, const Flags& flags, net::HttpService& api, kube::Client& client,
                         Logger logger, MetricsRegistry& metrics) {
  if (flags.no_queue) {
    co_return co_await serve_no_queue(env, flags, client, logger, metrics);
  }
  runtime::LeaderOptions leader = controllers::queue_candidate(env, flags.lease_ns);
  leader.logger = logger;
  if (!flags.no_leader_election) {
    co_return co_await serve_queue(env, flags, api, client, std::move(leader), logger, metrics);
  }
  leader.stand_by = false;
  runtime::LeaderElector elector(env, client, leader);
  CO_TRY_ASSIGN(const bool leads, co_await take_lease(elector, flags, logger));
  auto candidate = leads ? std::optional(std::move(leader)) : std::nullopt;
  Result<void> end =
      co_await serve_queue(env, flags, api, client, std::move(candidate), logger, metrics);
  if (!end) {
    // The next start need not wait for a Lease of one that failed.
    co_await elector.give_back();
  }
  co_return end;
}

int run_controller(const Flags& flags) {
  if (const Result<void> good = check_addresses(flags); !good) {
    return report_usage(good.error());
  }
  if (const auto good = training_settings(flags.training); !good) {
    return report_usage(good.error());
  }
  RealEnv world;
  const Env env = world.env();
  Logger logger(env.clock, flags.verbose ? LogLevel::debug : LogLevel::info,
                stderr_log_sink(flags.json_log ? LogFormat::json : LogFormat::text));
  tell_mcad_flags(flags.mcad, logger);
  MetricsRegistry metrics;
  add_process_metrics(metrics);
  Result<kube::Config> config = kube::load_config(
      env, {.explicit_path = flags.kubeconfig, .context = flags.context, .ns = flags.ns});
  if (!config) {
    return report(config.error());
  }
  for (const std::string& warning : config->warnings) {
    logger.warn("kubeconfig", {{"warning", warning}});
  }
  if (!flags.ns.empty()) {
    logger.warn("-n has no effect: a cluster has one Lease and one ConfigMap",
                {{"namespace", flags.lease_ns}, {"instead", "--lease-namespace"}});
  }
  logger.info("cluster", {{"server", config->server}, {"source", config->source}});
  auto connection = kube::connect(env, *std::move(config), {.user_agent = kName});
  if (!connection) {
    return report(connection.error());
  }
  kube::Client client(
      env, (*connection)->service(),
      {.user_agent = kName, .host = (*connection)->host(), .logger = &logger, .metrics = &metrics});
  StopSource stop;
  world.on_signals({SIGINT, SIGTERM}, [&](int) { stop.request_stop(); });
  const std::optional<Result<void>> end = run(
      env.loop, serve(env, flags, (*connection)->service(), client, logger, metrics), stop.token());
  if (!end || (!*end && (*end).error().code != ErrorCode::cancelled)) {
    return report(end ? end->error() : internal_error("deadlock"));
  }
  return 0;
}

}  // namespace

// Where MCAD had an option for the same thing its name is accepted too, and that of its variable.
void add_controller_role(CLI::App& app, Role& chosen) {
  auto flags = std::make_shared<Flags>();
  CLI::App* role = app.add_subcommand("controller", "Run the queue of a Kubernetes cluster");
  role->add_option(
          "--kubeconfig", flags->kubeconfig,
          "kubeconfig file (default: KUBECONFIG, the pod's service account, ~/.kube/config)")
      ->type_name("FILE");
  role->add_option("--context", flags->context,
                   "context of the kubeconfig (default: the current one)")
      ->type_name("NAME");
  role->add_option("--lease-namespace", flags->lease_ns,
                   "namespace of the Lease codeflare-controller and the ConfigMap codeflare-queue; "
                   "the same for all controllers of a cluster")
      ->type_name("NAME")
      ->capture_default_str();
  role->add_option("-n,--namespace", flags->ns, "no effect; use --lease-namespace")
      ->type_name("NAME");
  role->add_flag("--bind", flags->bind,
                 "bind pods of AppWrappers as planned, instead of kube-scheduler");
  role->add_flag("--legacy-group", flags->legacy_group,
                 "serve AppWrappers of mcad.ibm.com as well");
  role->add_flag("--no-rayclusters", flags->no_rayclusters,
                 "ignore RayClusters and RayJobs even without a KubeRay operator");
  add_training_flags(*role, flags->training);
  role->add_flag("--no-user-check", flags->no_user_check,
                 "skip the check of submitters: anyone who can create AppWrappers can create "
                 "anything this controller can");
  role->add_flag("--preemption", flags->preemption,
                 "preempt running work for higher priority and for owners of lent quota");
  role->add_flag("--priority-slope,--dynamicpriority", flags->priority_slope,
                 "raise the priority by spec.priorityslope per second of waiting");
  role->add_flag("--quota-trees,--quotaEnabled,!--no-quota-trees", flags->quota_trees,
                 "honor QuotaSubtrees (MCAD's default was to ignore them)");
  role->add_option("--head-of-line-holding-time,--headoflineholdingtime", flags->holding_seconds,
                   "seconds that nodes stay reserved for the first in the queue")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 31))
      ->type_name("SECONDS")
      ->capture_default_str();
  role->add_flag("--no-queue", flags->no_queue,
                 "leave AppWrappers, quotas and RayClusters to another controller (what "
                 "helm/lattice-operator runs)");
  role->add_flag("--no-leader-election", flags->no_leader_election,
                 "exit with an error when another controller leads, instead of standing by");
  role->add_option("--health-address,--healthProbeListenAddr", flags->health_address,
                   "address of /healthz, /readyz and /metrics; empty: none")
      ->type_name("ADDR:PORT")
      ->capture_default_str();
  role->add_flag(
      "--install-crds", flags->install_crds,
      "apply the custom resource definitions and the admission policy for AppWrappers first");
  CLI::Option* listen =
      role->add_option(
              "--webhook-listen", flags->webhook.listen,
              "address of the admission webhook, which records submitters and checks their "
              "permissions; without it and without --no-user-check no AppWrapper starts")
          ->type_name("ADDR:PORT");
  role->add_option("--webhook-dir", flags->webhook.directory,
                   "directory with keys and certificate of the webhook; shared by replicas, filled "
                   "when empty. Keep it: recorded submitters are valid only with its keys")
      ->type_name("DIR")
      ->needs(listen);
  role->add_option("--webhook-secret", flags->webhook.secret,
                   "Secret of its keys, made once, for all replicas; the webhook configurations "
                   "are then the chart's, and only their caBundle is set")
      ->type_name("NAMESPACE/NAME")
      ->needs(listen);
  role->add_option("--webhook-service", flags->webhook.service,
                   "Service by which the API server reaches the webhook (port 443)")
      ->type_name("NAMESPACE/NAME")
      ->needs(listen);
  role->add_option("--webhook-url", flags->webhook.url,
                   "URL by which the API server reaches the webhook, https://HOST:PORT")
      ->type_name("URL")
      ->needs(listen);
  role->add_option("--workers", flags->workers, "number of AppWrappers handled at a time")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  role->add_flag("--log-json", flags->json_log, "write log lines as JSON");
  role->add_flag("-v,--verbose", flags->verbose, "log debug messages");
  add_mcad_flags(*role, flags->mcad);
  role->footer(
      "Example:\n  codeflare controller --kubeconfig admin.conf --install-crds --no-user-check");
  role->callback([&chosen, flags] { chosen = [flags] { return run_controller(*flags); }; });
}

}  // namespace codeflare
