#include "app/controller_role.h"

#include "app/controller_cluster.h"
#include "app/flags/controller_flags.h"
#include "app/report.h"
#include "app/served_kinds.h"
#include "base/async/task.h"
#include "base/env/process_metrics.h"
#include "base/env/real_env.h"
#include "base/log.h"
#include "base/metrics.h"
#include "controllers/admission/webhook_server.h"
#include "controllers/appwrapper/published_settings.h"
#include "controllers/appwrapper/queue_controllers.h"
#include "controllers/appwrapper/queue_lease.h"
#include "controllers/dispatch/agent_configs.h"
#include "controllers/dispatch/cluster_links.h"
#include "controllers/dispatch/fence_guard.h"
#include "controllers/platform/platform_controller.h"
#include "controllers/rayjob/rayjob_controller.h"
#include "controllers/run/run_controller.h"
#include "controllers/scale/machineset_machines.h"
#include "controllers/scale/placeholder_machines.h"
#include "controllers/scale/provisioning_machines.h"
#include "controllers/scale/scale_controllers.h"
#include "controllers/trainingjob/training_controller.h"
#include "controllers/usage/release_edition.h"
#include "controllers/usage/usage_controller.h"
#include "controllers/view/front_proxy.h"
#include "controllers/view/register_view.h"
#include "controllers/view/view_api.h"
#include "elastic/etcd_endpoint.h"
#include "kube/connect.h"
#include "model/managed_cluster.h"
#include "model/training_job.h"
#include "net/client.h"
#include "runtime/manager.h"
#include "sdk/program_image.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

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
using controllers::metering::ReleaseEdition;

constexpr const char* kName = "codeflare-controller";
QueueControllersOptions queue_options(const ControllerFlags& flags) {
  QueueControllersOptions options;
  options.queue.binds = flags.bind ? queue::Binds::gangs : queue::Binds::nothing;
  options.queue.user_check = !flags.no_user_check;
  options.queue.core.preemption = flags.preemption;
  options.queue.core.priority_slope = flags.priority_slope;
  options.queue.core.holding_time = std::chrono::seconds(flags.holding_seconds);
  flags.training.elastic.apply(options.queue.core);
  options.machine.dispatch_patience = std::chrono::seconds(flags.patience_seconds);
  options.legacy_group = flags.legacy_group;
  options.quota_subtrees = flags.quota_trees;
  options.workers = flags.workers;
  return options;
}

// Without leader election nobody stands by: a cluster whose queue works is rejected before
// anything in it is changed. False where this controller may not use Leases, which is taken for
// what `--no-leader-election` says: there is no other.
Task<Result<bool>> take_lease(runtime::LeaderElector& elector, const ControllerFlags& flags,
                              Logger logger) {
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

// Whether pods of TrainingJobs are counted: not at all, those that have the finalizer, new ones
// too.
enum class Metering : std::uint8_t { absent, ends, on };

// The queue, and TrainingJobs if they wait in it.
std::shared_ptr<controllers::QueueDriver> add_controllers(
    runtime::Manager& manager, QueueControllersOptions options,
    const controllers::trainingjob::TrainingSettings& training, Metering metering,
    net::HttpService& etcd, std::shared_ptr<controllers::dispatch::ClusterLinks> links) {
  namespace tj = controllers::trainingjob;
  const bool training_jobs = options.training_jobs;
  tj::WorkerOptions workers{.training = options.queue.training,
                            .lattice = training.lattice,
                            .agent_image = sdk::program_image(manager.env().variables),
                            .metered = metering == Metering::on,
                            .metrics = options.metrics,
                            .etcd = &etcd};
  if (options.queue.binds != queue::Binds::nothing) {
    workers.scheduler_name = queue::kSchedulerName;
  }
  const Logger logger = options.logger;
  options.copies = links;
  const Duration patience = options.machine.dispatch_patience;
  const std::shared_ptr<controllers::QueueDriver> driver =
      controllers::add_queue_controllers(manager, std::move(options));
  if (links != nullptr) {
    controllers::dispatch::start_links(manager, links, driver);
  }
  controllers::dispatch::add_fence_guard(manager,
                                         {.training_jobs = training_jobs, .logger = logger});
  if (training_jobs) {
    tj::TrainingJobReconciler& reconciler = tj::add_training_controller(
        manager, *driver, std::move(workers), {.copies = links, .patience = patience});
    tj::follow_selector(manager, *driver, reconciler, training, logger);
  }
  if (metering != Metering::absent) {
    controllers::metering::add_usage_controller(
        manager, {.caught_up = [driver] { return driver->active(); }, .logger = logger});
  }
  return driver;
}

// They outlive the manager that uses them.
struct ScaleProviders {
  std::unique_ptr<controllers::scale::PlaceholderMachines> placeholder;
  std::unique_ptr<controllers::scale::ProvisioningMachines> provisioning;
  std::unique_ptr<controllers::scale::MachineSetMachines> machine_set;
};

void add_machines(runtime::Manager& manager, controllers::QueueDriver& driver,
                  const ControllerFlags& flags, controllers::scale::ScaleOptions options,
                  const MachineKinds& kinds, ScaleProviders& machines) {
  namespace scale = controllers::scale;
  machines.placeholder = std::make_unique<scale::PlaceholderMachines>(
      manager, scale::PlaceholderOptions{.ns = flags.lease_ns, .image = "", .binds = flags.bind});
  scale::Providers providers{
      {std::string(scale::kPlaceholderProvider), machines.placeholder.get()}};
  if (kinds.provisioning_requests) {
    machines.provisioning = std::make_unique<scale::ProvisioningMachines>(manager, driver);
    providers.emplace(scale::kProvisioningProvider, machines.provisioning.get());
  }
  if (kinds.machine_sets) {
    machines.machine_set = std::make_unique<scale::MachineSetMachines>(
        manager, driver, scale::MachineSetOptions{.logger = options.planner.logger});
    providers.emplace(scale::kMachineSetProvider, machines.machine_set.get());
  }
  scale::add_scale_controllers(manager, driver, std::move(providers), std::move(options));
}

// The view API on the port of the webhook, if a Service leads there and the API server aggregates
// APIs. The queue works without it.
Task<std::unique_ptr<controllers::view::FrontProxy>> view_behind(kube::Client& client,
                                                                 const ControllerFlags& flags,
                                                                 controllers::view::ViewApi& view,
                                                                 WebhookServerOptions& options,
                                                                 Logger logger) {
  if (flags.view_service.empty() && options.service.empty()) {
    co_return nullptr;
  }
  Result<controllers::view::FrontProxySettings> settings =
      co_await controllers::view::read_front_proxy(client);
  if (!settings) {
    logger.warn("the view API is not served: explain reads nodes and pods itself",
                {{"error", settings.error()}});
    co_return nullptr;
  }
  if (const Result<controllers::view::ViewService> at = view_service(flags)) {
    options.more_names.push_back(at->service.name + "." + at->service.ns + ".svc");
  }
  options.client_ca_pem = settings->ca_pem;
  auto front = std::make_unique<controllers::view::FrontProxy>(view, client, *std::move(settings));
  options.apis = front.get();
  co_return front;
}

Task<void> register_view_api(kube::Client& client, controllers::view::ViewService at,
                             std::string ca_pem, Logger logger) {
  at.ca_pem = std::move(ca_pem);
  const Result<void> done = co_await controllers::view::register_view(client, std::move(at));
  if (done) {
    logger.info("view API is registered", {{"api", "view.codeflare.dev/v1alpha1"}});
  } else {
    logger.warn("cannot register the view API: explain reads nodes and pods itself",
                {{"error", done.error()}});
  }
}

Task<Result<void>> serve_queue(Env env, const ControllerFlags& flags, net::HttpService& api,
                               kube::Client& client, std::optional<runtime::LeaderOptions> leader,
                               Logger logger, MetricsRegistry& metrics) {
  QueueControllersOptions options = queue_options(flags);
  options.ns = flags.lease_ns;
  options.logger = logger;
  options.metrics = &metrics;
  CO_TRY_ASSIGN(KubeRay kuberay, co_await look_for_kuberay(client, flags, logger));
  RayKinds ray{.clusters = kuberay != nullptr,
               .jobs = kuberay != nullptr,
               .has_operator = kuberay != nullptr && kuberay->where()};
  CO_TRY(co_await prepare(client, flags, options, ray, logger));
  runtime::ManagerOptions manager_options{.name = kName,
                                          .leader = std::move(leader),
                                          .health_address = flags.health_address,
                                          .logger = logger,
                                          .metrics = &metrics};
  CO_TRY_ASSIGN(auto settings, release_settings(env, flags.usage, flags.lease_ns, logger));
  std::unique_ptr<ReleaseEdition> release;
  if (settings) {
    CO_TRY_ASSIGN(release, ReleaseEdition::create(env, *std::move(settings), logger, metrics));
  }
  const queue::Queue* waiting = nullptr;  // once there is one
  manager_options.ready_note = [&release, &waiting] {
    const std::string note = release != nullptr ? release->note() : std::string();
    return note.empty() && waiting != nullptr ? waiting->blocked() : note;
  };
  controllers::view::ViewApi view(env);
  std::unique_ptr<controllers::view::FrontProxy> front;
  std::unique_ptr<WebhookServer> webhook;
  if (!flags.webhook.listen.empty()) {
    if (!flags.no_user_check) {
      CO_TRY(co_await check_impersonation(client, logger));
    }
    WebhookServerOptions webhook_options = flags.webhook;
    webhook_options.legacy_group = flags.legacy_group;
    front = co_await view_behind(client, flags, view, webhook_options, logger);
    CO_TRY_ASSIGN(webhook,
                  co_await WebhookServer::start(env, client, std::move(webhook_options), logger));
    if (front != nullptr) {
      CO_TRY_ASSIGN(controllers::view::ViewService at, view_service(flags));
      co_await register_view_api(client, std::move(at), webhook->authority_pem(), logger);
    }
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
  // Machines need annotations of nodes.
  CO_TRY_ASSIGN(const bool scales, co_await serves_machines(client, logger));
  options.trim_caches = !ray.clusters && !runs && !options.training_jobs && !scales;
  CO_TRY_ASSIGN(controllers::scale::ScaleOptions scale, parse_scale(flags.scale));
  if (!flags.quota_trees) {
    logger.info("quota trees are ignored", {{"because", "--no-quota-trees"}});
  }
  // It connects when the first TrainingJob meets in etcd.
  CO_TRY_ASSIGN(const std::unique_ptr<net::HttpClient> etcd,
                elastic::connect_etcd(env, training.lattice.etcd(), std::string(kName)));
  ScaleProviders machines;
  MachineKinds machine_kinds;
  if (scales) {
    CO_TRY_ASSIGN(machine_kinds, co_await find_machine_kinds(client, logger));
  }
  runtime::Manager manager(env, client, std::move(manager_options));
  const auto texts = controllers::trainingjob::setting_texts(training);
  queue::Settings rules = controllers::settings_of(options);
  controllers::scale::add_limits(scale.planner, rules);
  controllers::add_settings(manager, flags.lease_ns, rules, logger, texts);
  controllers::compare_with_leader(manager, flags.lease_ns, rules, texts, logger);
  const bool local = !flags.no_local && !flags.dispatcher;
  CO_TRY_ASSIGN(const bool dispatches,
                co_await is_served(client, model::resource_type<model::ManagedCluster>()));
  std::shared_ptr<controllers::dispatch::ClusterLinks> links;
  if (dispatches) {
    controllers::dispatch::LinkOptions link_options{.local = local,
                                                    .legacy_group = flags.legacy_group,
                                                    .training_jobs = options.training_jobs,
                                                    .logger = logger,
                                                    .metrics = &metrics};
    if (!flags.no_user_check) {
      link_options.submitters = options.submitters;
    }
    if (!flags.agent_configs.empty()) {
      CO_TRY_ASSIGN(std::vector<controllers::dispatch::AgentConfig> agents,
                    controllers::dispatch::parse_agent_configs(flags.agent_configs));
      CO_TRY(co_await controllers::dispatch::ensure_agents(client, std::move(agents)));
    }
    links = controllers::dispatch::add_links(manager, std::move(link_options));
  } else if (!local || !flags.agent_configs.empty()) {
    co_return fail(failed_precondition(
        "--no-local and --agentconfigs: the cluster does not serve ManagedClusters; "
        "start once with --install-crds, or apply crds/"));
  }
  CO_TRY_ASSIGN(const bool counts, co_await counts_usage(client, options.training_jobs, logger));
  const Metering metering = !counts           ? Metering::absent
                            : flags.usage.off ? Metering::ends
                                              : Metering::on;
  const std::shared_ptr<controllers::QueueDriver> driver =
      add_controllers(manager, std::move(options), training, metering, *etcd, links);
  waiting = &driver->queue();
  if (scales) {
    scale.planner.logger = logger;
    scale.planner.config_namespaces = {flags.lease_ns, "instascale-system"};
    if (links != nullptr) {
      scale.planner.clusters = [links] { return links->machines(); };
    }
    add_machines(manager, *driver, flags, std::move(scale), machine_kinds, machines);
  }
  if (release != nullptr) {
    release->add_to(manager, [driver](std::string why) {
      driver->block(model::Reason::unlicensed, std::move(why));
    });
  }
  if (ray.clusters) {
    if (!ray.has_operator) {
      logger.info("no KubeRay operator found; this controller runs RayClusters");
    }
    controllers::rayjob::add_ray_controllers(
        manager, api, {.jobs_served = ray.jobs, .kuberay = std::move(kuberay)});
  }
  if (runs) {
    controllers::runs::add_run_controller(manager, &metrics);
    controllers::platform_kinds::add_platform_controllers(manager);
  } else {
    logger.info("the cluster does not serve Runs", {{"instead", "--install-crds"}});
  }
  view.serve(
      {.driver = *driver, .client = client, .cache = manager.cache(), .workers = links.get()});
  Result<void> end = co_await manager.run();
  co_await view.end();
  if (webhook != nullptr) {
    co_await webhook->stop();
  }
  co_return end;
}

// `api` leads to the server of the client.
Task<Result<void>> serve(Env env, const ControllerFlags& flags, net::HttpService& api,
                         kube::Client& client, Logger logger, MetricsRegistry& metrics) {
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

int run_controller(const ControllerFlags& flags) {
  if (const Result<void> good = check(flags); !good) {
    return report_usage(good.error());
  }
  RealEnv world;
  const Env env = world.env();
  Logger logger(env.clock, flags.verbose ? LogLevel::debug : *parse_log_level(flags.log_level),
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

void add_controller_role(CLI::App& app, Role& chosen) {
  auto flags = std::make_shared<ControllerFlags>();
  CLI::App* role = app.add_subcommand("controller", "Run the queue of a Kubernetes cluster");
  add_controller_flags(*role, *flags);
  role->footer(
      "Example:\n  codeflare controller --kubeconfig admin.conf --install-crds --no-user-check");
  role->callback([&chosen, flags] { chosen = [flags] { return run_controller(*flags); }; });
}

}  // namespace codeflare
