#include "controllers/appwrapper/item_watch.h"

#include "base/async/sleep.h"
#include "controllers/appwrapper/trim.h"
#include "json/parse.h"
#include "queue/marks.h"

#include <utility>

namespace codeflare::controllers {

using kube::ObjectRef;
using model::ObjectKey;
using model::ResourceType;
using runtime::Informer;

namespace {

constexpr std::string_view kUidIndex = "uid";

// How long the first list of a kind may take before its objects are asked for one by one. Counted
// from its beginning: a kind that cannot be listed costs nobody more than that.
constexpr Duration kSyncPatience = std::chrono::seconds(5);

}  // namespace

std::string label_of(const kube::Object& object, std::string_view label) {
  if (object.labels_json().empty()) {
    return {};
  }
  const std::string text(object.labels_json());
  const Result<json::Document> labels = json::parse_in_place(text);
  return labels ? std::string(labels->root.string_or_empty(label)) : std::string();
}

bool is_owned_by(const kube::Object& object, std::string_view uid) {
  const std::string text(object.owner_references_json());
  const Result<json::Document> owners =
      text.empty() ? Result<json::Document>(json::Document()) : json::parse_in_place(text);
  if (!owners) {
    return false;
  }
  for (const json::Value& owner : owners->root.items()) {
    if (owner.string_or_empty("uid") == uid) {
      return true;
    }
  }
  return false;
}

ItemWatch::ItemWatch(Env env, kube::Client& client, Logger logger)
    : env_(env),
      client_(client),
      logger_(std::move(logger)),
      discovery_(client),
      group_(env.loop) {}

ItemWatch::~ItemWatch() = default;

Task<void> ItemWatch::run() {
  WaitList never;
  static_cast<void>(co_await never.wait());
  co_await group_.close();
}

Task<Result<ResourceType>> ItemWatch::type_of(std::string api_version, std::string kind) {
  const model::GroupVersion wanted = model::parse_api_version(api_version);
  Result<kube::ApiResource> found = co_await discovery_.find(kind, wanted.group, wanted.version);
  if (!found) {
    Error error = std::move(found).error();
    // A group that did not answer may have it: we must not give up.
    if (error.code == ErrorCode::not_found && !discovery_.failures().empty()) {
      error.code = ErrorCode::unavailable;
    }
    co_return fail(std::move(error));
  }
  if (found->type.kind != kind) {
    co_return fail(
        not_found("the server does not serve kind \"" + kind + "\" in \"" + api_version + "\""));
  }
  // Kinds that are created and never seen again, such as reviews, could not be deleted.
  for (const std::string_view verb : {"create", "get", "list", "watch", "delete"}) {
    if (!found->can(verb)) {
      co_return fail(unsupported(found->type.qualified_name() +
                                 " cannot be wrapped: the server does not support " +
                                 std::string(verb) + " for them"));
    }
  }
  co_return found->type;
}

Informer* ItemWatch::running(const ResourceType& type) const {
  auto at = informers_.find(type);
  return at == informers_.end() ? nullptr : at->second.informer.get();
}

Task<Result<Informer*>> ItemWatch::informer(ResourceType type) {
  if (group_.stop_token().stop_requested()) {
    co_return fail(unavailable("this process is about to end"));
  }
  Watched& watched = informers_[type];
  std::unique_ptr<Informer>& informer = watched.informer;
  if (informer == nullptr) {
    watched.begun = env_.loop.now();
    runtime::InformerOptions options;
    options.watch.label_selector = queue::kAppWrapperLabel;
    options.watch.logger = &logger_;
    options.transform = trimmed_item;
    informer = std::make_unique<Informer>(env_, client_, type, std::move(options));
    informer->add_index(std::string(kUidIndex),
                        [](const kube::Object& object, std::vector<std::string>& keys) {
                          keys.push_back(label_of(object, queue::kUidLabel));
                        });
    informer->add_handler(
        [this, type](const runtime::ObjectChange& change) { observe(type, change); });
    logger_.info("watching wrapped objects", {{"kind", type.qualified_name()}});
    group_.spawn(informer->run());
  }
  Informer* running = informer.get();
  if (running->synced()) {
    co_return running;
  }
  const Duration left = after(watched.begun, kSyncPatience) - env_.loop.now();
  if (left > Duration::zero()) {
    auto sync = running->wait_synced();
    Result<void> synced =
        co_await with_timeout(left, "first list of " + type.qualified_name(), std::move(sync));
    if (!synced && synced.error().code != ErrorCode::deadline_exceeded) {
      co_return fail(std::move(synced).error());
    }
  }
  co_return running->synced() ? running : nullptr;
}

void ItemWatch::observe(const ResourceType& type, const runtime::ObjectChange& change) {
  const kube::Object& object = change.now != nullptr ? *change.now : *change.old;
  const std::string uid = label_of(object, queue::kUidLabel);
  if (uid.empty()) {
    return;
  }
  if (change.now == nullptr) {
    // Anybody may write any label: only what will be asked for is remembered.
    if (wanted_ && wanted_(uid, type, object.key())) {
      departed_[uid].insert_or_assign(Departed{type, object.key()}, change.old);
    }
  } else if (auto known = departed_.find(uid); known != departed_.end()) {
    known->second.erase(Departed{type, object.key()});
  }
  const bool other_spec =
      change.now != nullptr &&
      (change.old == nullptr || change.old->generation() != change.now->generation());
  if (seen_ && other_spec && !change.now->deleting()) {
    seen_(uid, *change.now);
  }
  if (wake_) {
    wake_(uid);
  }
}

std::vector<ItemWatch::Item> ItemWatch::labelled(const std::string& uid) const {
  std::vector<Item> items;
  for (const auto& [type, watched] : informers_) {
    for (ObjectRef& object : watched.informer->store().by_index(kUidIndex, uid)) {
      items.push_back({type, std::move(object)});
    }
  }
  return items;
}

ObjectRef ItemWatch::departed(const std::string& uid, const ResourceType& type,
                              const ObjectKey& key) const {
  auto known = departed_.find(uid);
  if (known == departed_.end()) {
    return nullptr;
  }
  auto at = known->second.find(Departed{type, key});
  return at == known->second.end() ? nullptr : at->second;
}

void ItemWatch::forget(const std::string& uid) {
  departed_.erase(uid);
}

}  // namespace codeflare::controllers
