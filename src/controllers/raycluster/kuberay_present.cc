#include "controllers/raycluster/kuberay_present.h"

#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "controllers/raycluster/ray_names.h"
#include "kube/typed.h"
#include "kube/watcher.h"
#include "model/codec/apps.h"
#include "model/codec/core.h"
#include "model/resources.h"

#include <chrono>
#include <set>
#include <utility>

namespace codeflare::controllers::raycluster {

namespace {

using EventType = kube::WatcherEvent::Type;

// Of controller-runtime's election, in whichever namespace the operator lives.
const std::string kByLeaseName = "metadata.name=ray-operator-leader";

// When it cannot be found out whether an operator is gone.
constexpr Duration kLookAgain = std::chrono::seconds(10);

}  // namespace

KubeRayWatch::KubeRayWatch(kube::Client& client, Logger logger)
    : client_(client), logger_(std::move(logger)) {}

KubeRaySigns::Moment KubeRayWatch::moment() const {
  return {client_.env().loop.now(), client_.env().clock.wall()};
}

std::optional<std::string> KubeRayWatch::where() const {
  std::optional<std::string> found = signs_.where(moment().now);
  return found ? found : present_;
}

// After a sign.
void KubeRayWatch::evaluate() {
  const Instant now = moment().now;
  if (signs_.until(now)) {
    ends_.notify_all();
  }
  std::optional<std::string> found = signs_.where(now);
  if (!found) {
    return;  // await_end() decides about the end
  }
  const bool came = !present_;
  present_ = std::move(found);
  if (came) {
    came_at_ = now;
    logger_.warn("RayClusters are handled by the KubeRay operator from now on",
                 {{"found", *present_}});
    call_handlers();
  }
}

void KubeRayWatch::tell_gone() {
  present_.reset();
  logger_.info("the KubeRay operator is gone; this controller runs RayClusters");
  call_handlers();
}

void KubeRayWatch::call_handlers() const {
  for (const std::function<void()>& handler : handlers_) {
    handler();
  }
}

Task<Result<void>> KubeRayWatch::look() {
  kube::Api<model::Lease> leases(client_);
  CO_TRY_ASSIGN(const auto held, co_await leases.list({.field_selector = kByLeaseName}));
  // The first look finds operators by name or label; later ones only check what a watch may not
  // have told yet, and a cluster may have thousands of Deployments.
  kube::ListOptions which;
  if (looked_) {
    which.field_selector = "metadata.name=" + std::string(kOperator);
  }
  kube::Api<model::Deployment> deployments(client_);
  CO_TRY_ASSIGN(const auto deployed, co_await deployments.list(std::move(which)));
  for (const model::Lease& lease : held.items) {
    signs_.lease(lease, moment(), !looked_);
  }
  for (const model::Deployment& deployment : deployed.items) {
    if (looked_) {
      signs_.glimpse(deployment, moment().now);
    } else {
      signs_.deployment(deployment, moment().now);
    }
  }
  looked_ = true;
  evaluate();
  co_return Result<void>();
}

Task<Result<bool>> KubeRayWatch::still_ours() {
  const std::uint64_t needed = begun_ + 1;
  while (!where() && answered_ < needed) {
    if (looking_) {
      CO_TRY(co_await look_ended_.wait());
      continue;
    }
    looking_ = true;
    const std::uint64_t mine = ++begun_;
    const Result<void> looked = co_await look();
    looking_ = false;
    look_ended_.notify_all();
    CO_TRY(looked);
    answered_ = mine;
  }
  co_return !where();
}

Task<void> KubeRayWatch::follow_leases() {
  kube::Watcher watcher(client_, model::resource_type<model::Lease>(),
                        {.field_selector = kByLeaseName, .logger = &logger_});
  while (true) {
    const Result<kube::WatcherEvent> event = co_await watcher.next();
    if (!event) {
      co_return;
    }
    if (event->type != EventType::init_object && event->type != EventType::applied) {
      continue;
    }
    if (const Result<model::Lease> lease = event->object->as<model::Lease>()) {
      signs_.lease(*lease, moment(), false);
      evaluate();
    }
  }
}

Task<void> KubeRayWatch::follow_deployments() {
  kube::Watcher watcher(client_, model::resource_type<model::Deployment>(), {.logger = &logger_});
  std::set<model::ObjectKey> listed;
  while (true) {
    const Result<kube::WatcherEvent> event = co_await watcher.next();
    if (!event) {
      co_return;
    }
    if (event->type == EventType::init_begin) {
      listed.clear();
    } else if (event->type == EventType::init_done) {
      const std::set<model::ObjectKey> known = signs_.deployments();
      for (const model::ObjectKey& key : known) {
        if (!listed.contains(key)) {
          signs_.no_deployment(key, moment().now);
        }
      }
      listed.clear();
    } else if (event->type == EventType::deleted) {
      signs_.no_deployment(event->object->key(), moment().now);
    } else if (event->object != nullptr) {
      const Result<model::Deployment> deployment = event->object->as<model::Deployment>();
      if (!deployment) {
        continue;
      }
      signs_.deployment(*deployment, moment().now);
      if (event->type == EventType::init_object && KubeRaySigns::is_operator(*deployment)) {
        listed.insert(deployment->metadata.key());
      }
    }
    evaluate();
  }
}

// No event tells that an operator is gone.
Task<void> KubeRayWatch::await_end() {
  while (true) {
    const Instant now = moment().now;
    if (const std::optional<Instant> until = signs_.until(now)) {
      if (!co_await sleep_for(*until - now)) {
        co_return;
      }
    } else if (!present_ || signs_.where(now)) {
      if (!co_await ends_.wait()) {
        co_return;
      }
    } else if (!co_await look()) {
      if (!co_await sleep_for(kLookAgain)) {
        co_return;
      }
    } else if (!signs_.where(moment().now)) {
      tell_gone();
    }
  }
}

Task<void> KubeRayWatch::run() {
  const TaskContext& context = co_await current_context();
  TaskGroup group(*context.loop, context.stop);
  group.spawn(follow_leases());
  group.spawn(follow_deployments());
  group.spawn(await_end());
  co_await group.join();
}

}  // namespace codeflare::controllers::raycluster
