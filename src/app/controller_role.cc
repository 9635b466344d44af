#include "app/controller_role.h"

#include "app/flags/mcad_flags.h"
#include "app/flags/scale_flags.h"
#include "app/flags/training_flags.h"
#include "app/flags/usage_flags.h"
#include "app/report.h"
#include "app/served_kinds.h"
#include "base/async/task.h"
#include "base/env/process_metrics.h"
#include "base/env/real_env.h"
#include "base/log.h"
#include "base/metrics.h"
#include "controllers/admission/webhook_server.h"
#include "controllers/appwrapper/app_wrapper_object.h"
#include "controllers/appwrapper/published_settings.h"
#include "controllers/appwrapper/queue_controllers.h"
#include "controllers/appwrapper/queue_lease.h"
#include "controllers/crds/ensure_crds.h"
#include "controllers/crds/ensure_policy.h"
#include "controllers/dispatch/agent_configs.h"
#include "controllers/dispatch/cluster_links.h"
#include "controllers/dispatch/fence_guard.h"
#include "controllers/platform/platform_controller.h"
#include "controllers/raycluster/kuberay_present.h"
#include "controllers/rayjob/rayjob_controller.h"
#include "controllers/run/run_controller.h"
#include "controllers/scale/machineset_machines.h"
#include "controllers/scale/placeholder_machines.h"
#include "controllers/scale/provisioning_machines.h"
#include "controllers/scale/scale_controllers.h"
#include "controllers/submitter/impersonation_right.h"
#include "controllers/trainingjob/training_controller.h"
#include "controllers/usage/release_edition.h"
#include "controllers/usage/usage_controller.h"
#include "controllers/view/front_proxy.h"
#include "controllers/view/register_view.h"
#include "controllers/view/view_api.h"
#include "kube/connect.h"
#include "model/managed_cluster.h"
#include "model/quota_subtree.h"
#include "model/ray_job.h"
#include "model/training_job.h"
#include "model/usage_ledger.h"
#include "net/client.h"
#include "net/listen_address.h"
#include "net/url.h"
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
using controllers::metering::ReleaseEdition;

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
  bool no_local = false;
  bool dispatcher = false;
  std::string agent_configs;
  std::int64_t patience_seconds = 30;
  bool no_leader_election = false;
  std::string health_address = "0.0.0.0:8081";
  bool install_crds = false;
  WebhookServerOptions webhook;
  std::string view_service;
  int workers = 32;
  bool json_log = false;
  bool verbose = false;
  std::string log_level = "info";
  McadFlags mcad;
  TrainingFlags training;
  UsageFlags usage;
  ScaleFlags scale;
};

Result<controllers::view::ViewService> view_service(const Flags& flags) {
  return controllers::view::parse_view_service(
      "--view-service", flags.view_service.empty() ? flags.webhook.service : flags.view_service);
}

// Problems are reported before anything is connected.
Result<void> check_addresses(const Flags& flags) {
  if (!flags.webhook.listen.empty()) {
    TRY(net::parse_listen("--webhook-listen", flags.webhook.listen));
  }
  if (!flags.view_service.empty()) {
    TRY(view_service(flags));
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
  flags.training.elastic.apply(options.queue.core);
  options.machine.dispatch_patience = std::chrono::seconds(flags.patience_seconds);
  options.legacy_group = flags.legacy_group;
  options.quota_subtrees = flags.quota_trees;
  options.workers = flags.workers;
  return options;
}

using KubeRay = std::shared_ptr<controllers::raycluster::KubeRayWatch>;

// The watch for a KubeRay operator, or null when this controller ignores RayClusters. Two
// controllers must not run the same RayClusters.
Task<Result<KubeRay>> look_for_kuberay(kube::Client& client, const Flags& flags, Logger logger) {
  if (flags.no_rayclusters) {
    co_return KubeRay();
  }
  auto kuberay = std::make_shared<controllers::raycluster::KubeRayWatch>(client, logger);
  const Result<void> looked = co_await kuberay->look();
  if (!looked && looked.error().code == ErrorCode::permission_denied) {
    logger.warn("RayClusters are ignored: cannot find out whether the KubeRay operator runs",
                {{"error", looked.error()}});
    co_return KubeRay();
  }
  CO_TRY(looked);
  co_return kuberay;
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
  bool has_operator = false;  // KubeRay brings its own definitions
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
                      client, {.legacy_group = flags.legacy_group,
                               .ray_cluster = ray.clusters && !ray.has_operator}));
    for (const std::string& name : done.applied) {
      logger.info("custom resource definition applied", {{"name", name}});
    }
    controllers::log_shared(done, logger);
    options.mend_definitions = [&client, legacy = flags.legacy_group] {
      return controllers::mend_crds(client, legacy);
    };
    if (ray.has_operator) {
      CO_TRY(co_await keep_served(client, ray, logger));
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

// Usage is counted where TrainingJobs run. Pods that have the finalizer are counted also when new
// ones get none.
Task<Result<bool>> counts_usage(kube::Client& client, bool training_jobs, Logger logger) {
  if (!training_jobs) {
    co_return false;
  }
  CO_TRY_ASSIGN(const bool served,
                co_await is_served(client, model::resource_type<model::UsageLedger>()));
  if (!served) {
    logger.info("usage is not counted: the cluster does not serve UsageLedgers",
                {{"instead", "--install-crds"}});
  }
  co_return served;
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
  const std::shared_ptr<controllers::QueueDriver> driver =
      controllers::add_queue_controllers(manager, std::move(options));
  if (links != nullptr) {
    controllers::dispatch::start_links(manager, links, driver);
  }
  controllers::dispatch::add_fence_guard(manager, {.logger = logger});
  if (training_jobs) {
    tj::TrainingJobReconciler& reconciler =
        tj::add_training_controller(manager, *driver, std::move(workers));
    tj::follow_selector(manager, *driver, reconciler, training, logger);
  }
  if (metering != Metering::absent) {
    controllers::metering::add_usage_controller(
        manager, {.caught_up = [driver] { return driver->active(); }, .logger = logger});
  }
  return driver;
}

// Kinds of others that providers of machines need. Without the rights they count as absent.
Task<Result<bool>> may_list(kube::Client& client, model::ResourceType type, std::string ns,
                            Logger logger) {
  const Result<kube::ObjectList> found =
      co_await client.list(type, {.ns = std::move(ns), .limit = 1});
  if (found || found.error().code == ErrorCode::not_found) {
    co_return found.has_value();
  }
  if (found.error().code != ErrorCode::permission_denied) {
    co_return fail(found.error());
  }
  logger.warn("no permission for a kind of machines; MachineTypes with its provider do not work",
              {{"kind", type.kind}, {"error", found.error()}});
  co_return false;
}

// They outlive the manager that uses them.
struct ScaleProviders {
  bool provisioning_requests = false;  // served
  bool machine_sets = false;           // likewise
  std::unique_ptr<controllers::scale::PlaceholderMachines> placeholder;
  std::unique_ptr<controllers::scale::ProvisioningMachines> provisioning;
  std::unique_ptr<controllers::scale::MachineSetMachines> machine_set;
};

Task<Result<void>> find_providers(kube::Client& client, ScaleProviders& machines, Logger logger) {
  namespace scale = controllers::scale;
  const std::string ns(scale::kMachineSetNamespace);
  CO_TRY_ASSIGN(machines.provisioning_requests,
                co_await may_list(client, scale::kProvisioningRequests, "", logger));
  CO_TRY_ASSIGN(const bool sets, co_await may_list(client, scale::kMachineSets, ns, logger));
  CO_TRY_ASSIGN(const bool singles, co_await may_list(client, scale::kMachines, ns, logger));
  machines.machine_sets = sets && singles;
  co_return Result<void>();
}

void add_machines(runtime::Manager& manager, controllers::QueueDriver& driver, const Flags& flags,
                  controllers::scale::ScaleOptions options, ScaleProviders& machines) {
  namespace scale = controllers::scale;
  machines.placeholder = std::make_unique<scale::PlaceholderMachines>(
      manager, scale::PlaceholderOptions{.ns = flags.lease_ns, .image = "", .binds = flags.bind});
  scale::Providers providers{
      {std::string(scale::kPlaceholderProvider), machines.placeholder.get()}};
  if (machines.provisioning_requests) {
    machines.provisioning = std::make_unique<scale::ProvisioningMachines>(manager, driver);
    providers.emplace(scale::kProvisioningProvider, machines.provisioning.get());
  }
  if (machines.machine_sets) {
    machines.machine_set = std::make_unique<scale::MachineSetMachines>(
        manager, driver, scale::MachineSetOptions{.logger = options.planner.logger});
    providers.emplace(scale::kMachineSetProvider, machines.machine_set.get());
  }
  scale::add_scale_controllers(manager, driver, std::move(providers), std::move(options));
}

// The view API on the port of the webhook, if a Service leads there and the API server aggregates
// APIs. The queue works without it.
Task<std::unique_ptr<controllers::view::FrontProxy>> view_behind(kube::Client& client,
                                                                 const Flags& flags,
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

Task<Result<void>> serve_queue(Env env, const Flags& flags, net::HttpService& api,
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
  CO_TRY_ASSIGN(net::Url etcd_url, net::parse_url("http://" + training.lattice.rdzv_endpoint + ":" +
                                                  std::to_string(training.lattice.rdzv_port)));
  CO_TRY_ASSIGN(const std::unique_ptr<net::HttpClient> etcd,
                net::HttpClient::create(env, std::move(etcd_url),
                                        {.user_agent = std::string(kName),
                                         .connect_timeout = std::chrono::seconds(3)}));
  ScaleProviders machines;
  if (scales) {
    CO_TRY(co_await find_providers(client, machines, logger));
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
    controllers::dispatch::LinkOptions link_options{
        .local = local, .legacy_group = flags.legacy_group, .logger = logger, .metrics = &metrics};
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
    add_machines(manager, *driver, flags, std::move(scale), machines);
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
Task<Result<void>> serve(Env env, const Flags& flags, net::HttpService& api, kube::Client& client,
                         Logger logger, MetricsRegistry& metrics) {
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
  if (!flags.agent_configs.empty()) {
    const auto agents = controllers::dispatch::parse_agent_configs(flags.agent_configs);
    if (!agents) {
      return report_usage(agents.error());
    }
  }
  if (const auto good = training_settings(flags.training); !good) {
    return report_usage(good.error());
  }
  if (const auto good = parse_scale(flags.scale); !good) {
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
      ->envname("KUBE_CONTEXT")
      ->type_name("NAME");
  role->add_option("--lease-namespace", flags->lease_ns,
                   "namespace of the Lease codeflare-controller and the ConfigMap codeflare-queue; "
                   "the same for all controllers of a cluster")
      ->type_name("NAME")
      ->capture_default_str();
  role->add_option("-n,--namespace", flags->ns, "no effect; use --lease-namespace")
      ->type_name("NAME")
      ->group("");  // not in the help
  role->add_flag("--bind", flags->bind,
                 "bind pods of AppWrappers as planned, instead of kube-scheduler");
  role->add_flag("--legacy-group", flags->legacy_group,
                 "serve AppWrappers of mcad.ibm.com as well");
  role->add_flag("--no-rayclusters", flags->no_rayclusters,
                 "ignore RayClusters and RayJobs even without a KubeRay operator");
  add_training_flags(*role, flags->training);
  add_usage_flags(*role, flags->usage);
  add_scale_limits(*role, flags->scale);
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
  role->add_flag("--dispatcher", flags->dispatcher,
                 "MCAD's name for --no-local, with --agentconfigs");
  role->add_option("--agentconfigs", flags->agent_configs,
                   "kubeconfig files of worker clusters and the names of the ManagedClusters made "
                   "of them")
      ->type_name("FILE:NAME,...");
  role->add_flag("--no-local", flags->no_local,
                 "run AppWrappers on ManagedClusters only, not on nodes of this cluster");
  role->add_option("--dispatch-patience", flags->patience_seconds,
                   "seconds that a ManagedCluster has to start an AppWrapper before another "
                   "cluster is tried")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 31))
      ->type_name("SECONDS")
      ->capture_default_str();
  role->add_flag("--no-leader-election,!--leader-elect", flags->no_leader_election,
                 "exit with an error when another controller leads, instead of standing by");
  role->add_option("--health-address,--healthProbeListenAddr,--health-probe-bind-address",
                   flags->health_address, "address of /healthz, /readyz and /metrics; empty: none")
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
  role->add_option("--view-service", flags->view_service,
                   "Service by which the API server reaches the view API at --webhook-listen "
                   "(default: --webhook-service)")
      ->type_name("NAMESPACE/NAME[:PORT]")
      ->needs(listen);
  role->add_option("--workers", flags->workers, "number of AppWrappers handled at a time")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  role->add_flag("--log-json", flags->json_log, "write log lines as JSON");
  role->add_flag("-v,--verbose", flags->verbose, "log debug messages");
  role->add_option("--log-level", flags->log_level,
                   "least level of log lines: error, warn, info (default) or debug")
      ->envname("LOG_LEVEL")
      ->transform(CLI::IsMember({"error", "warn", "info", "debug"}, CLI::ignore_case))
      ->type_name("LEVEL");
  add_mcad_flags(*role, flags->mcad);
  role->footer(
      "Example:\n  codeflare controller --kubeconfig admin.conf --install-crds --no-user-check");
  role->callback([&chosen, flags] { chosen = [flags] { return run_controller(*flags); }; });
}

}  // namespace codeflare
