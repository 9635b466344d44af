#include "controllers/appwrapper/published_settings.h"

#include "base/async/sleep.h"
#include "controllers/appwrapper/queue_driver.h"
#include "json/write.h"
#include "kube/ensure_namespace.h"
#include "model/config_map.h"
#include "model/resources.h"
#include "queue/marks.h"

#include <chrono>
#include <utility>

namespace codeflare::controllers {

namespace {

constexpr Duration kTryAgain = std::chrono::seconds(30);

model::ResourceType config_maps() {
  return model::resource_type<model::ConfigMap>();
}

std::string object_json(const model::ObjectKey& key, const queue::Settings& settings) {
  std::string text;
  json::Writer w(text);
  w.begin_object().member("apiVersion", "v1").member("kind", "ConfigMap");
  w.key("metadata").begin_object().member("name", key.name).member("namespace", key.ns);
  w.end_object().key("data").begin_object().member("settings", queue::to_text(settings));
  w.end_object().end_object();
  return text;
}

std::string patch_json(const queue::Settings& settings) {
  std::string text;
  json::Writer w(text);
  w.begin_object().key("data").begin_object().member("settings", queue::to_text(settings));
  w.end_object().end_object();
  return text;
}

Task<void> publish_until_done(kube::Client& client, std::string ns, queue::Settings settings,
                              Logger logger) {
  while (true) {
    std::string where = ns;
    const Result<void> done = co_await publish_settings(client, std::move(where), settings);
    if (done || done.error().code == ErrorCode::cancelled) {
      co_return;
    }
    logger.warn("cannot publish the queue settings; 'codeflare explain' will use defaults",
                {{"error", done.error()}});
    if (done.error().code == ErrorCode::permission_denied) {
      co_return;
    }
    if (!co_await sleep_for(kTryAgain)) {
      co_return;
    }
  }
}

}  // namespace

queue::Settings settings_of(const QueueControllersOptions& options) {
  const sched::Options& core = options.queue.core;
  return {.preemption = core.preemption,
          .priority_slope = core.priority_slope,
          .holding_time = core.holding_time,
          .quota_trees = options.quota_subtrees};
}

Task<Result<void>> publish_settings(kube::Client& client, std::string ns,
                                    queue::Settings settings) {
  const model::ObjectKey key{ns, std::string(queue::kQueueConfigMap)};
  std::string patch = patch_json(settings);
  Result<kube::ObjectRef> written =
      co_await client.patch(config_maps(), key, kube::PatchKind::merge, std::move(patch));
  if (written) {
    co_return Result<void>();
  }
  if (written.error().code != ErrorCode::not_found) {
    co_return fail(std::move(written).error());
  }
  if (settings == queue::Settings()) {
    co_return Result<void>();
  }
  std::string body = object_json(key, settings);
  written = co_await client.create(config_maps(), ns, std::move(body));
  if (!written && written.error().code == ErrorCode::not_found) {
    CO_TRY(co_await kube::ensure_namespace(client, ns));
    std::string again = object_json(key, settings);
    written = co_await client.create(config_maps(), ns, std::move(again));
  }
  if (!written) {
    co_return fail(std::move(written).error());
  }
  co_return Result<void>();
}

void add_settings(runtime::Manager& manager, std::string ns, queue::Settings settings,
                  Logger logger) {
  manager.add_work([&client = manager.client(), ns = std::move(ns), settings, logger] {
    return publish_until_done(client, ns, settings, logger);
  });
}

}  // namespace codeflare::controllers
