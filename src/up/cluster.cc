#include "up/cluster.h"

#include "apiserver/request/admission.h"
#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "controllers/admission/embedded_admission.h"
#include "controllers/admission/lease_guard.h"
#include "controllers/apps/apps_controllers.h"
#include "controllers/appwrapper/published_settings.h"
#include "controllers/appwrapper/queue_lease.h"
#include "controllers/crds/ensure_crds.h"
#include "controllers/dispatch/cluster_links.h"
#include "controllers/dispatch/fence_guard.h"
#include "controllers/endpoints/endpoint_controller.h"
#include "controllers/job/job_controller.h"
#include "controllers/localvolume/local_volume_controller.h"
#include "controllers/platform/platform_controller.h"
#include "controllers/raycluster/kuberay_present.h"
#include "controllers/rayjob/rayjob_controller.h"
#include "controllers/run/run_controller.h"
#include "controllers/trainingjob/training_controller.h"
#include "controllers/usage/usage_controller.h"
#include "controllers/view/view_api.h"
#include "kube/client.h"
#include "kube/typed.h"
#include "model/codec/core.h"
#include "net/in_process.h"
#include "node/agent/service_feed.h"
#include "queue/marks.h"
#include "runtime/manager.h"
#include "sdk/program_image.h"
#include "up/access.h"
#include "up/internal/work.h"
#include "up/machines.h"
#include "up/metrics_api.h"
#include "up/node.h"
#include "up/pod_connect.h"

#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace codeflare::up {

namespace {

using apiserver::ApiServer;

constexpr Duration kDrainGrace = std::chrono::seconds(10);
constexpr Duration kLookForReady = std::chrono::milliseconds(2);
constexpr Duration kReadyWithin = std::chrono::minutes(2);
// Identities in the Lease. Controllers of other processes are HOST_UUID, and a host name cannot
// have an underscore.
constexpr std::string_view kLeaderPrefix = "codeflare-up_";
constexpr std::string_view kWaitingPrefix = "codeflare-up-waiting_";
// Nobody else can take the Lease, so renewals only show that this process lives.
constexpr std::chrono::seconds kRenewEvery{5};
// A disk that is full for longer does not keep the cluster from being read.
constexpr Duration kTakeWithin = std::chrono::seconds(5);

net::Peer as(std::string name, std::vector<std::string> groups = {}) {
  return {.address = "in-process",
          .certificate = net::Peer::Certificate{.common_name = std::move(name),
                                                .organizations = std::move(groups)}};
}

class WatchedService final : public net::HttpService {
 public:
  WatchedService(net::HttpService& target, std::function<void(const net::Request&)> seen)
      : target_(target), seen_(std::move(seen)) {}
  Task<Result<net::Response>> send(net::Request request) override {
    if (seen_) {
      seen_(request);
    }
    return target_.send(std::move(request));
  }

 private:
  net::HttpService& target_;
  std::function<void(const net::Request&)> seen_;
};

// The rules that the webhook of `codeflare controller` enforces elsewhere.
std::vector<std::unique_ptr<apiserver::Admission>> app_wrapper_rules(
    const apiserver::Authorizer& authorizer, const apiserver::Registry& registry,
    const apiserver::Store& store) {
  std::vector<std::unique_ptr<apiserver::Admission>> rules;
  rules.push_back(std::make_unique<admission::EmbeddedAdmission>(authorizer, registry, store));
  rules.push_back(std::make_unique<admission::LeaseGuard>(
      model::ObjectKey{std::string(queue::kControllerNamespace),
                       std::string(controllers::kQueueLease)},
      std::string(kControllerUser)));
  return rules;
}

// Makes the objects that controllers need, as the administrator.
Task<Result<void>> prepare(Env env, ApiServer& server, const UpOptions& options, Logger logger) {
  net::InProcessService service(server.service(), as("codeflare-up", {"system:masters"}));
  kube::Client client(env, service, {.user_agent = "codeflare-up"});
  CO_TRY_ASSIGN(const controllers::CrdReport definitions,
                co_await controllers::ensure_crds(
                    client, {.legacy_group = options.queue.legacy_group, .ray_cluster = true}));
  controllers::log_shared(definitions, logger);
  CO_TRY(co_await grant_controller_access(client));
  CO_TRY(co_await ensure_user_roles(client));
  CO_TRY(co_await controllers::fakenode::register_fake_nodes(client, options.nodes));
  CO_TRY(co_await ensure_machine_types(client, options.machine_types));
  if (options.process_node) {
    CO_TRY(co_await remove_other_process_nodes(client, *options.process_node));
  }
  if (options.process_node && !options.process_node->claims_directory.empty()) {
    CO_TRY(co_await controllers::localvolume::ensure_storage_class(client));
  }
  co_return Result<void>();
}

Task<Result<void>> mend_definitions(Env env, ApiServer& server, bool legacy_group) {
  net::InProcessService service(server.service(), as("codeflare-up", {"system:masters"}));
  kube::Client client(env, service, {.user_agent = "codeflare-up"});
  co_return co_await controllers::mend_crds(client, legacy_group);
}

// How long a controller of another process may still believe that it leads: one that led while only
// an API server ran on these data. An earlier run of `up` is over, for the data directory is ours;
// unless it waited for such a controller itself.
Task<Result<std::chrono::seconds>> time_of_another(kube::Client& client) {
  kube::Api<model::Lease> leases(client, std::string(queue::kControllerNamespace));
  const Result<model::Lease> lease = co_await leases.get(std::string(controllers::kQueueLease));
  if (!lease && lease.error().code != ErrorCode::not_found) {
    co_return fail(lease.error());
  }
  const std::string holder = lease ? lease->spec.holder_identity.value_or("") : "";
  const bool over = holder.empty() || holder.starts_with(kLeaderPrefix);
  co_return std::chrono::seconds(over ? 0 : lease->spec.lease_duration_seconds.value_or(0));
}

// The one queue of this cluster is ours before anybody can ask the server, though it may have to
// begin later. docs/decisions/0010-one-queue.md has the reasons.
Task<Result<runtime::LeaderOptions>> take_lease(Env env, kube::Client& client, Logger logger) {
  CO_TRY_ASSIGN(const std::chrono::seconds rest, co_await time_of_another(client));
  runtime::LeaderOptions candidate = controllers::queue_candidate(env);
  const std::string who = candidate.identity;
  candidate.identity = std::string(rest.count() > 0 ? kWaitingPrefix : kLeaderPrefix) + who;
  candidate.retry_period = kRenewEvery;
  candidate.exclusive = true;
  candidate.logger = logger;
  runtime::LeaderElector elector(env, client, candidate);
  const Result<void> taken = co_await with_timeout(kTakeWithin, "take lease", elector.take());
  if (!taken) {
    // The manager tries again. Others are kept from it in any case.
    logger.warn("cannot write the Lease of the queue yet", {{"error", taken.error()}});
  }
  if (rest.count() > 0) {
    candidate.identity = std::string(kLeaderPrefix) + who;
    candidate.not_before = after(env.loop.now(), rest);
    logger.warn("the queue starts later: another controller led this cluster until now",
                {{"seconds", rest.count()}});
  }
  co_return candidate;
}

Task<Result<void>> wait_until_ready(const runtime::Manager& manager, const Work& work) {
  while (!work.end && !manager.why_not_ready().empty()) {
    CO_TRY(co_await sleep_for(kLookForReady));
  }
  co_return Result<void>();
}

// A user of a second cluster beside the first learns how.
Task<Result<std::uint16_t>> listen(ApiServer& server, const UpOptions& options) {
  Result<std::uint16_t> port = co_await server.listen(options.address, options.port);
  if (!port && port.error().code == ErrorCode::unavailable) {
    co_return fail(
        unavailable(port.error().message + " (--listen 127.0.0.1:0 takes any free port)"));
  }
  co_return port;
}

// Pods of an earlier run are known from then on; they get the server's address when they start, so
// it listens before any can. Returns the port, when there is one.
Task<Result<std::uint16_t>> begin(UpNodes& node, ApiServer& server, const UpOptions& options,
                                  PodConnect& connect) {
  CO_TRY(co_await node.prepare(&connect));
  if (options.address.empty()) {
    co_return std::uint16_t{0};
  }
  CO_TRY_ASSIGN(const std::uint16_t port, co_await listen(server, options));
  CO_TRY(co_await node.serve(server, options.address, port));
  co_return port;
}

Task<Result<void>> run_controllers(Env env, ApiServer& server, UpOptions options, Logger logger,
                                   MetricsRegistry& metrics, StopToken stop, PodConnect& connect,
                                   MetricsApi& measures, controllers::view::ViewApi& view,
                                   std::function<void(const UpReady&)> ready) {
  net::InProcessService service(server.service(), as(std::string(kControllerUser)));
  WatchedService watched(service, options.on_call);
  kube::Client client(env, watched,
                      {.user_agent = "codeflare", .logger = &logger, .metrics = &metrics});
  CO_TRY_ASSIGN(runtime::LeaderOptions leader, co_await take_lease(env, client, logger));
  LocalMachines machines(env, client);
  runtime::Manager manager(
      env, client,
      {.name = "codeflare", .leader = std::move(leader), .logger = logger, .metrics = &metrics});
  options.queue.queue.binds = queue::Binds::all;
  options.queue.submitters.built_in = true;  // app_wrapper_rules
  options.queue.ns = queue::kControllerNamespace;
  options.queue.trim_caches = false;  // others look at pods and nodes too
  options.queue.logger = logger;
  options.queue.metrics = &metrics;
  options.queue.training_jobs = true;
  options.queue.mend_definitions = [env, &server, legacy = options.queue.legacy_group] {
    return mend_definitions(env, server, legacy);
  };
  const std::shared_ptr<controllers::dispatch::ClusterLinks> links =
      controllers::dispatch::add_links(manager, {.local = !options.no_local,
                                                 .legacy_group = options.queue.legacy_group,
                                                 .training_jobs = true,
                                                 .submitters = options.queue.submitters,
                                                 .logger = logger,
                                                 .metrics = &metrics});
  options.queue.copies = links;
  const std::shared_ptr<controllers::QueueDriver> driver =
      controllers::add_queue_controllers(manager, options.queue);
  controllers::dispatch::start_links(manager, links, driver);
  controllers::dispatch::add_fence_guard(manager, {.training_jobs = true, .logger = logger});
  controllers::trainingjob::add_training_controller(
      manager, *driver,
      {.training = options.queue.queue.training,
       .scheduler_name = std::string(queue::kSchedulerName),
       .lattice = {.starts_checkpoint_service = true},
       .agent_image = sdk::program_image(env.variables),
       .metered = true,
       .metrics = &metrics},
      {.copies = links, .patience = options.queue.machine.dispatch_patience});
  controllers::metering::add_usage_controller(
      manager, {.caught_up = [driver] { return driver->active(); }, .logger = logger});
  queue::Settings settings = controllers::settings_of(options.queue);
  controllers::scale::add_limits(options.scale.planner, settings);
  controllers::add_settings(manager, options.queue.ns, settings, logger);
  options.scale.planner.logger = logger;
  options.scale.planner.config_namespaces = {options.queue.ns, "instascale-system"};
  options.scale.planner.clusters = [links] { return links->machines(); };
  controllers::scale::add_scale_controllers(
      manager, *driver, {{std::string(kLocalProvider), &machines}}, options.scale);
  // The queue and RayClusters are run by `codeflare controller` too, the rest is for us alone.
  manager.only_while_leading(false);
  controllers::job::add_job_controller(manager);
  controllers::apps::add_apps_controllers(manager);
  controllers::endpoints::add_endpoint_controller(manager);
  controllers::fakenode::add_fake_node_controllers(manager);
  if (options.process_node && !options.process_node->claims_directory.empty()) {
    controllers::localvolume::add_local_volume_controllers(manager,
                                                           options.process_node->claims_directory);
  }
  manager.only_while_leading(true);
  if (!options.no_rayclusters) {
    auto kuberay = std::make_shared<controllers::raycluster::KubeRayWatch>(client, logger);
    CO_TRY(co_await kuberay->look());
    controllers::rayjob::add_ray_controllers(manager, service, {.kuberay = std::move(kuberay)});
  }
  controllers::runs::add_run_controller(manager, &metrics);
  controllers::platform_kinds::add_platform_controllers(manager);
  manager.only_while_leading(false);
  std::optional<UpNodes> node;
  if (options.process_node) {
    node.emplace(env, *options.process_node, manager, logger);
    if (options.process_node->network != nullptr) {
      node::add_service_feed(manager, *options.process_node->network);
    }
  }
  machines.begin(manager.cache().informer(model::resource_type<model::Node>()),
                 node ? &*node : nullptr);
  UpReady about{.server = server, .port = 0};
  if (node) {
    const Result<std::uint16_t> port = co_await begin(*node, server, options, connect);
    if (!port) {
      co_await node->leave();
      co_return fail(port.error());
    }
    about.port = *port;
    measures.serve(options.process_node->pods, node->names(), client);
    node->on_change([&](const std::set<std::string>& names) { measures.set_nodes(names); });
  }
  Work work;
  TaskGroup group(env.loop);
  view.serve(
      {.driver = *driver, .client = client, .cache = manager.cache(), .workers = links.get()});
  group.spawn(run_manager(manager, work));
  if (node) {
    node->keep_alive(group);
  }
  Result<void> result = co_await with_timeout(kReadyWithin, "the controllers' first look",
                                              wait_until_ready(manager, work));
  if (result && !work.end && !node && !options.address.empty()) {
    Result<std::uint16_t> port = co_await listen(server, options);
    if (port) {
      about.port = *port;
    } else {
      result = fail(std::move(port).error());
    }
  }
  if (result && !work.end) {
    ready(about);
    StopCallback on_stop(stop, [&] { work.changed.notify_all(); });
    while (!stop.stop_requested() && !work.end) {
      co_await work.changed.wait_uncancellable();
    }
    logger.info("stopping");
  }
  if (node && stop.stop_requested()) {
    StopCallback on_skip_grace(options.skip_grace, [&] { node->skip_grace(); });
    const Result<void> stopped = co_await node->stop();
    result = result ? stopped : result;
  } else if (node) {
    // Nobody asked for an end of pods, which may have run for days.
    co_await node->leave();
  }
  measures.end();
  co_await view.end();
  co_await group.close();
  co_return result ? *work.end : result;
}

}  // namespace

Task<Result<void>> run_up(Env env, UpOptions options, Logger logger, MetricsRegistry& metrics,
                          StopToken stop, std::function<void(const UpReady&)> ready) {
  options.server.more_admission = app_wrapper_rules;
  PodConnect connect;
  options.server.connect = &connect;
  MetricsApi measures(env);
  if (options.process_node) {
    options.server.more_groups.push_back(measures.group());
  }
  controllers::view::ViewApi view(env);
  options.server.more_groups.push_back(view.group());
  const Env server_env{env.loop,
                       env.clock,
                       env.random,
                       env.files,
                       env.launcher,
                       env.variables,
                       options.server_blocking ? *options.server_blocking : env.blocking};
  CO_TRY_ASSIGN(std::unique_ptr<ApiServer> server,
                co_await ApiServer::start(server_env, options.server, logger, metrics));
  Result<void> result = co_await prepare(env, *server, options, logger);
  if (result) {
    result = co_await run_controllers(env, *server, std::move(options), logger, metrics,
                                      std::move(stop), connect, measures, view, std::move(ready));
    connect.end();
  }
  co_await server->stop(kDrainGrace);
  co_return result;
}

}  // namespace codeflare::up
