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

std::vector<model::WrapperApi> apis_of(const QueueControllersOptions& options) {
  std::vector<model::WrapperApi> apis{model::WrapperApi::workload_v1beta1};
  if (options.legacy_group) {
    apis.push_back(model::WrapperApi::mcad_v1beta1);
  }
  return apis;
}

// The server answers 404 for all of its objects: the definition was deleted.
bool is_gone(const runtime::Informer& informer) {
  const std::optional<Error> error = informer.last_error();
  return error && error->code == ErrorCode::not_found;
}

DefinitionGuard::Options guard_options(runtime::Manager& manager,
                                       const QueueControllersOptions& options,
                                       QueueDriver& driver) {
  DefinitionGuard::Options guard{.mend = options.mend_definitions,
                                 .on_change =
                                     [&driver](std::string why) {
                                       driver.block(queue::Reason::definition_outdated,
                                                    std::move(why));
                                     },
                                 .logger = options.logger};
  guard.gone = [&manager, apis = apis_of(options)]() -> std::optional<model::WrapperApi> {
    const auto gone = std::ranges::find_if(apis, [&](model::WrapperApi api) {
      return is_gone(manager.cache().informer(app_wrapper_type(api)));
    });
    return gone == apis.end() ? std::nullopt : std::optional(*gone);
  };
  if (options.quota_subtrees) {
    guard.quotas_gone = [&manager] {
      return is_gone(manager.cache().informer(model::resource_type<model::QuotaSubtree>()));
    };
  }
  return guard;
}

// All that the controllers share; lives as long as the manager.
struct Shared {
  Shared(runtime::Manager& manager, const QueueControllersOptions& options,
         DriverOptions driver_options)
      : metrics(options.metrics != nullptr ? *options.metrics : own_registry),
        driver(manager.env(), manager.client(), manager.cache(), metrics,
               std::move(driver_options)),
        watch(manager.env(), manager.client(), options.logger),
        definitions(manager.client(), guard_options(manager, options, driver)) {
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

  std::shared_ptr<RemoteCopies> copies;
  MetricsRegistry own_registry;
  QueueMetrics metrics;
  QueueDriver driver;
  ItemWatch watch;
  DefinitionGuard definitions;
};

std::string controller_name(model::WrapperApi api) {
  return api == model::WrapperApi::mcad_v1beta1 ? "mcad-appwrappers" : "appwrappers";
}

void add_app_wrappers(runtime::Manager& manager, const std::shared_ptr<Shared>& shared,
                      const QueueControllersOptions& options, model::WrapperApi api) {
  const model::ResourceType type = app_wrapper_type(api);
  auto own_writes = std::make_shared<OwnWrites>();
  // The driver reports new ones, starts before rejections.
  const auto news = [own_writes](const runtime::ObjectChange& change) {
    return change.old != nullptr && change.now != nullptr && !own_writes->is_own(*change.now);
  };
  queue::InstrumentOptions items{.api = api};
  if (options.queue.binds != queue::Binds::nothing) {
    items.scheduler_name = queue::kSchedulerName;
  }
  AppWrapperController::Parts parts{.driver = shared->driver,
                                    .watch = shared->watch,
                                    .definitions = shared->definitions,
                                    .metrics = shared->metrics,
                                    .events = manager.events(),
                                    .own_writes = own_writes,
                                    .items = std::move(items),
                                    .machine = options.machine,
                                    .copies = options.copies.get(),
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
  auto shared = std::make_shared<Shared>(manager, options, std::move(driver_options));
  shared->copies = options.copies;
  for (const model::WrapperApi api : apis_of(options)) {
    add_app_wrappers(manager, shared, options, api);
  }
  if (options.quota_subtrees) {
    add_quota(manager, shared);
  }
  manager.add_work([shared] { return shared->driver.run(); });
  manager.add_work([shared] { return shared->watch.run(); });
  manager.add_work([shared] { return shared->definitions.run(); });
  return {shared, &shared->driver};
}

}  // namespace codeflare::controllers
