#include "controllers/appwrapper/published_settings.h"

#include "base/async/sleep.h"
#include "controllers/appwrapper/queue_driver.h"
#include "json/parse.h"
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
constexpr Duration kFirstLook = std::chrono::seconds(2);
constexpr const char* kTraining = "training";

model::ResourceType config_maps() {
  return model::resource_type<model::ConfigMap>();
}

std::string json_of(const SettingTexts& texts) {
  std::string text;
  json::Writer w(text);
  w.begin_object();
  for (const auto& [name, value] : texts) {
    w.member(name, value);
  }
  w.end_object();
  return text;
}

void write_data(json::Writer& w, const queue::Settings& settings, const SettingTexts& training) {
  w.key("data").begin_object().member("settings", queue::to_text(settings));
  if (!training.empty()) {
    w.member(kTraining, json_of(training));
  }
  w.end_object();
}

std::string object_json(const model::ObjectKey& key, const queue::Settings& settings,
                        const SettingTexts& training) {
  std::string text;
  json::Writer w(text);
  w.begin_object().member("apiVersion", "v1").member("kind", "ConfigMap");
  w.key("metadata").begin_object().member("name", key.name).member("namespace", key.ns);
  w.end_object();
  write_data(w, settings, training);
  w.end_object();
  return text;
}

std::string patch_json(const queue::Settings& settings, const SettingTexts& training) {
  std::string text;
  json::Writer w(text);
  w.begin_object();
  write_data(w, settings, training);
  w.end_object();
  return text;
}

void add_values(const json::Value& object, SettingTexts& texts) {
  for (const auto& [name, value] : object.members()) {
    texts[std::string(name)] =
        value.is_string() ? std::string(value.as_string()) : json::to_text(value);
  }
}

void add_text(std::string_view text, SettingTexts& texts) {
  if (const Result<json::Document> document = json::parse(text)) {
    add_values(document->root, texts);
  }
}

SettingTexts all_of(const queue::Settings& settings, const SettingTexts& training) {
  SettingTexts texts = training;
  add_text(queue::to_text(settings), texts);
  return texts;
}

// Of the leader; what it does not publish is as by default.
Task<Result<SettingTexts>> leaders_settings(kube::Client& client, std::string ns) {
  kube::ListOptions which{.ns = ns,
                          .field_selector = "metadata.name=" + std::string(queue::kQueueConfigMap)};
  CO_TRY_ASSIGN(const kube::ObjectList found,
                co_await client.list(config_maps(), std::move(which)));
  SettingTexts texts = all_of({}, {});
  for (const kube::ObjectRef& object : found.items) {
    add_text(object->string_at({"data", "settings"}), texts);
    add_text(object->string_at({"data", kTraining}), texts);
  }
  co_return texts;
}

std::string value_of(const SettingTexts& texts, const std::string& name) {
  const auto found = texts.find(name);
  return found == texts.end() || found->second.empty() ? "default" : found->second;
}

// "name: OURS here, THEIRS at the leader; ..."
std::string differences(const SettingTexts& ours, const SettingTexts& theirs) {
  SettingTexts names = ours;
  names.insert(theirs.begin(), theirs.end());
  std::string text;
  for (const auto& [name, value] : names) {
    const std::string here = value_of(ours, name);
    const std::string there = value_of(theirs, name);
    if (here != there) {
      text +=
          (text.empty() ? "" : "; ") + name + ": " + here + " here, " + there + " at the leader";
    }
  }
  return text;
}

Task<void> compare(runtime::Manager& manager, std::string ns, SettingTexts ours, Logger logger) {
  std::string told;
  while (co_await sleep_for(kFirstLook)) {
    if (!manager.leading() && manager.why_not_ready().empty()) {
      const Result<SettingTexts> theirs = co_await leaders_settings(manager.client(), ns);
      std::string text = theirs ? differences(ours, *theirs) : told;
      if (text != told && !text.empty()) {
        logger.warn("settings have no effect: another controller leads with other ones",
                    {{"settings", text}});
      }
      told = std::move(text);
    }
    if (!co_await sleep_for(kTryAgain)) {
      co_return;
    }
  }
}

Task<void> publish_until_done(kube::Client& client, std::string ns, queue::Settings settings,
                              SettingTexts training, Logger logger) {
  while (true) {
    std::string where = ns;
    const Result<void> done =
        co_await publish_settings(client, std::move(where), settings, training);
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
          .quota_trees = options.quota_subtrees,
          .growth_cooldown = core.growth_cooldown,
          .elastic_policy = core.elastic_policy};
}

Task<Result<void>> publish_settings(kube::Client& client, std::string ns, queue::Settings settings,
                                    SettingTexts training) {
  const model::ObjectKey key{ns, std::string(queue::kQueueConfigMap)};
  std::string patch = patch_json(settings, training);
  Result<kube::ObjectRef> written =
      co_await client.patch(config_maps(), key, kube::PatchKind::merge, std::move(patch));
  if (written) {
    co_return Result<void>();
  }
  if (written.error().code != ErrorCode::not_found) {
    co_return fail(std::move(written).error());
  }
  if (settings == queue::Settings() && training.empty()) {
    co_return Result<void>();
  }
  std::string body = object_json(key, settings, training);
  written = co_await client.create(config_maps(), ns, std::move(body));
  if (!written && written.error().code == ErrorCode::not_found) {
    CO_TRY(co_await kube::ensure_namespace(client, ns));
    std::string again = object_json(key, settings, training);
    written = co_await client.create(config_maps(), ns, std::move(again));
  }
  if (!written) {
    co_return fail(std::move(written).error());
  }
  co_return Result<void>();
}

void add_settings(runtime::Manager& manager, std::string ns, queue::Settings settings,
                  Logger logger, SettingTexts training) {
  manager.add_work([&client = manager.client(), ns = std::move(ns), settings, logger,
                    training = std::move(training)] {
    return publish_until_done(client, ns, settings, training, logger);
  });
}

void compare_with_leader(runtime::Manager& manager, std::string ns, queue::Settings settings,
                         SettingTexts training, Logger logger) {
  manager.only_while_leading(false);
  manager.add_work([&manager, ns = std::move(ns), ours = all_of(settings, training), logger] {
    return compare(manager, ns, ours, logger);
  });
  manager.only_while_leading(true);
}

}  // namespace codeflare::controllers
