#include "controllers/appwrapper/queue_controllers.h"

#include "base/metrics.h"
#include "controllers/appwrapper/app_wrapper_controller.h"
#include "controllers/appwrapper/app_wrapper_object.h"
#include "controllers/quota/quota_controller.h"
#include "queue/marks.h"

#include <algorithm>
#include <utility>

namespace codeflare::controllers {

namespace {

// After a long outage work goes on soon, not after the quarter of an hour that is usual.
constexpr Duration kRetryAtLeastEvery = std::chrono::seconds(30);

// All that the controllers share; lives as long as the manager.
struct Shared {
  Shared(runtime::Manager& manager, MetricsRegistry* registry, DriverOptions driver_options,
         Logger logger)
      : metrics(registry != nullptr ? *registry : own_registry),
        driver(manager.env(), manager.client(), manager.cache(), metrics,
               std::move(driver_options)),
        watch(manager.env(), manager.client(), std::move(logger)) {
    watch.set_wake([this](const std::string& uid) { driver.wake(uid); });
    watch.set_seen(
        [this](const std::string& uid, const kube::Object& item) { driver.item_seen(uid, item); });
    watch.set_wanted([this](const std::string& uid, const model::ResourceType& type,
                            const model::ObjectKey& key) {
      const queue::Demand* demand = driver.queue().demand(uid);
      return demand != nullptr &&
             std::ranges::any_of(demand->items, [&](const queue::ItemInfo& item) {
               return item.kind == type.kind && item.key == key;
             });
    });
  }

  MetricsRegistry own_registry;
  QueueMetrics metrics;
  QueueDriver driver;
  ItemWatch watch;
};

std::vector<model::WrapperApi> apis_of(const QueueControllersOptions& options) {
  std::vector<model::WrapperApi> apis{model::WrapperApi::workload_v1beta1};
  if (options.legacy_group) {
    apis.push_back(model::WrapperApi::mcad_v1beta1);
  }
  return apis;
}

std::string controller_name(model::WrapperApi api) {
  return api == model::WrapperApi::mcad_v1beta1 ? "mcad-appwrappers" : "appwrappers";
}

void add_app_wrappers(runtime::Manager& manager, const std::shared_ptr<Shared>& shared,
                      const QueueControllersOptions& options, model::WrapperApi api) {
  const model::ResourceType type = app_wrapper_type(api);
  auto own_writes = std::make_shared<OwnWrites>();
  // New ones are told by the driver, starts before refusals.
  const auto news = [own_writes](const runtime::ObjectChange& change) {
    return change.old != nullptr && change.now != nullptr && !own_writes->is_own(*change.now);
  };
  queue::InstrumentOptions items{.api = api};
  if (options.queue.binds != queue::Binds::nothing) {
    items.scheduler_name = queue::kSchedulerName;
  }
  AppWrapperController::Parts parts{.driver = shared->driver,
                                    .watch = shared->watch,
                                    .metrics = shared->metrics,
                                    .events = manager.events(),
                                    .own_writes = own_writes,
                                    .items = std::move(items),
                                    .machine = options.machine,
                                    .logger = options.logger};
  if (options.queue.user_check) {
    parts.submitters = options.submitters;
  }
  AppWrapperController& controller = manager.controller(controller_name(api))
                                         .reconciles(type, news)
                                         .workers(options.workers)
                                         .retries({.backoff_max = kRetryAtLeastEvery})
                                         .with<AppWrapperController>(std::move(parts));
  shared->driver.set_waker(api, controller.waker());
}

void add_quota(runtime::Manager& manager, const std::shared_ptr<Shared>& shared) {
  const model::ResourceType type = model::resource_type<model::QuotaSubtree>();
  QuotaSource source{[driver = &shared->driver](const model::QuotaSubtree& subtree)
                         -> std::optional<model::QuotaSubtreeStatus> {
    if (!driver->active()) {
      return std::nullopt;
    }
    return driver->queue().quota_status(subtree);
  }};
  QuotaController& controller =
      manager.controller("quotasubtrees").reconciles(type).with<QuotaController>(std::move(source));
  auto pulse = std::make_shared<QuotaPulse>(manager.cache().informer(type), controller.waker());
  shared->driver.on_decided([pulse] { pulse->changed(); });
  manager.add_work([pulse] { return pulse->run(); });
}

}  // namespace

std::shared_ptr<QueueDriver> add_queue_controllers(runtime::Manager& manager,
                                                   QueueControllersOptions options) {
  DriverOptions driver_options{.queue = options.queue,
                               .submitters = options.submitters,
                               .apis = apis_of(options),
                               .training_jobs = options.training_jobs,
                               .quota_subtrees = options.quota_subtrees,
                               .ns = options.ns,
                               .trim = options.trim_caches,
                               .events = &manager.events(),
                               .logger = options.logger};
  auto shared =
      std::make_shared<Shared>(manager, options.metrics, std::move(driver_options), options.logger);
  for (const model::WrapperApi api : apis_of(options)) {
    add_app_wrappers(manager, shared, options, api);
  }
  if (options.quota_subtrees) {
    add_quota(manager, shared);
  }
  manager.add_work([shared] { return shared->driver.run(); });
  manager.add_work([shared] { return shared->watch.run(); });
  return {shared, &shared->driver};
}

}  // namespace codeflare::controllers
