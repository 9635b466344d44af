#include "controllers/appwrapper/queue_feed.h"

#include "base/async/sleep.h"
#include "controllers/appwrapper/app_wrapper_object.h"
#include "controllers/appwrapper/trim.h"
#include "controllers/pods_type.h"
#include "model/codec/node.h"
#include "model/codec/pod.h"
#include "model/codec/quota_subtree.h"
#include "model/codec/training_job.h"
#include "model/resources.h"
#include "queue/machines.h"
#include "queue/marks.h"
#include "runtime/transform.h"

#include <chrono>
#include <optional>
#include <set>
#include <utility>

namespace codeflare::controllers {

using model::ObjectKey;
using model::ResourceType;
using model::WrapperApi;
using runtime::Informer;
using runtime::InformerOptions;
using runtime::ObjectChange;
using runtime::without_managed_fields;

namespace {

const ResourceType kNodes{"", "v1", "Node", "nodes", false};
const ResourceType kResourceQuotas{"", "v1", "ResourceQuota", "resourcequotas", true};
const ResourceType kConfigMaps{"", "v1", "ConfigMap", "configmaps", true};

// How long a cache may take to show what the server has, before it is asked again.
constexpr Duration kCatchUpPatience = std::chrono::seconds(10);
constexpr Duration kCatchUpPause = std::chrono::seconds(1);
constexpr std::int64_t kCatchUpPage = 500;
// A beginning that takes longer is worth a word, again and again.
constexpr Duration kSayWhyAfter = std::chrono::seconds(15);

InformerOptions pause_options(const std::string& ns) {
  InformerOptions options;
  options.watch.ns = ns;
  options.watch.field_selector = "metadata.name=" + std::string(queue::kQueueConfigMap);
  return options;
}

// All that an informer with these options watches, in pages and without its contents.
kube::ListOptions list_of(const InformerOptions& options) {
  kube::ListOptions list;
  list.ns = options.watch.ns;
  list.field_selector = options.watch.field_selector;
  list.limit = kCatchUpPage;
  list.metadata_only = true;
  return list;
}

InformerOptions with_transform(std::function<kube::ObjectRef(kube::ObjectRef)> transform) {
  InformerOptions options;
  options.transform = std::move(transform);
  return options;
}

}  // namespace

QueueFeed::QueueFeed(const Clock& clock, kube::Client& client, runtime::Cache& cache,
                     queue::Queue& queue, Listener& listener, FeedOptions options)
    : clock_(clock),
      client_(client),
      cache_(cache),
      queue_(queue),
      listener_(listener),
      options_(std::move(options)),
      logger_(options_.logger),
      // In the cache, so that this process is not ready without it: the only ConfigMap that anybody
      // here looks at.
      pause_(cache.informer(kConfigMaps, pause_options(options_.ns))) {
  if (options_.quota_subtrees) {
    watch(model::resource_type<model::QuotaSubtree>(), with_transform(without_managed_fields),
          [this](const ObjectChange& change) { quota_changed(change); });
  }
  watch(kResourceQuotas, with_transform(without_managed_fields),
        [this](const ObjectChange& change) { resource_quota_changed(change); });
  watch(kNodes, with_transform(options_.trim ? trimmed_node : without_managed_fields),
        [this](const ObjectChange& change) { node_changed(change); });
  for (const WrapperApi api : options_.apis) {
    watch(app_wrapper_type(api), with_transform(without_managed_fields),
          [this, api](const ObjectChange& change) { app_wrapper_changed(api, change); });
  }
  if (options_.training_jobs) {
    watch(model::resource_type<model::TrainingJob>(), with_transform(without_managed_fields),
          [this](const ObjectChange& change) { training_job_changed(change); });
  }
  watch(kPods, with_transform(options_.trim ? trimmed_pod : without_managed_fields),
        [this](const ObjectChange& change) { pod_changed(change); });
  sources_.push_back({&pause_, list_of(pause_options(options_.ns)),
                      [this](const ObjectChange& change) { pause_changed(change); }});
  for (const Source& source : sources_) {
    source.informer->add_handler([this, handler = source.handler](const ObjectChange& change) {
      if (filled_) {
        handler(change);
        listener_.changed();
      }
    });
  }
}

void QueueFeed::watch(const ResourceType& type, InformerOptions options, Handler handler) {
  kube::ListOptions list = list_of(options);
  sources_.push_back(
      {&cache_.informer(type, std::move(options)), std::move(list), std::move(handler)});
}

Task<bool> QueueFeed::caught_up() {
  co_return co_await all_synced() && co_await catch_up();
}

// False when stopped before.
Task<bool> QueueFeed::all_synced() {
  for (const Source& source : sources_) {
    for (;;) {
      Result<void> synced = co_await with_timeout(
          kSayWhyAfter, "first list of " + source.informer->type().qualified_name(),
          source.informer->wait_synced());
      if (synced) {
        break;
      }
      if (synced.error().code != ErrorCode::deadline_exceeded) {
        co_return false;
      }
      logger_.warn("the queue cannot start", {{"waits for", not_synced()}});
    }
  }
  co_return true;
}

std::string QueueFeed::not_synced() const {
  std::string text;
  for (const Source& source : sources_) {
    if (source.informer->synced()) {
      continue;
    }
    const std::optional<Error> error = source.informer->last_error();
    text += (text.empty() ? "" : ", ") + source.informer->type().qualified_name();
    if (source.informer == &pause_) {
      text += " " + options_.ns + "/" + std::string(queue::kQueueConfigMap);
    }
    text += ": " + (error ? error->message : "still listing");
  }
  return text;
}

// The previous leader may have written just now and our cache may lag. Without catching up the
// queue could evict work whose plan it has not seen.
Task<Result<void>> QueueFeed::catch_up() {
  for (const Source& source : sources_) {
    for (;;) {
      Result<void> caught_up = co_await catch_up(*source.informer, source.list);
      if (caught_up) {
        break;
      }
      if (caught_up.error().code == ErrorCode::cancelled) {
        co_return caught_up;
      }
      logger_.warn(
          "the queue cannot start yet",
          {{"kind", source.informer->type().qualified_name()}, {"error", caught_up.error()}});
      CO_TRY(co_await sleep_for(kCatchUpPause));
    }
  }
  co_return Result<void>();
}

Task<Result<void>> QueueFeed::catch_up(Informer& informer, kube::ListOptions list) {
  auto listing = client_.list_all(informer.type(), std::move(list));
  CO_TRY_ASSIGN(kube::ObjectList there, co_await std::move(listing));
  std::set<ObjectKey> expected;
  for (const kube::ObjectRef& object : there.items) {
    informer.note_written(*object);
    expected.insert(object->key());
  }
  const std::uint64_t revision = kube::to_revision(there.resource_version);
  for (const kube::ObjectRef& object : informer.store().list()) {
    if (object->revision() <= revision && expected.insert(object->key()).second) {
      informer.note_deleted(object->key(), std::string(object->uid()));
    }
  }
  for (const ObjectKey& key : expected) {
    CO_TRY(co_await informer.fresh(key, kCatchUpPatience));
  }
  co_return Result<void>();
}

void QueueFeed::fill() {
  for (const Source& source : sources_) {
    for (kube::ObjectRef& object : source.informer->store().list()) {
      source.handler({nullptr, std::move(object), true});
    }
  }
  filled_ = true;
}

std::string QueueFeed::problem(const std::string& uid) const {
  auto at = problems_.find(uid);
  return at == problems_.end() ? std::string() : at->second;
}

// --- what changes ---

// Whether there is something for the queue: our own status writes change nothing of what it takes
// over.
bool QueueFeed::is_news(const ObjectChange& change) {
  if (change.old != nullptr && (change.now == nullptr || change.now->uid() != change.old->uid())) {
    forget(std::string(change.old->uid()));
  }
  if (change.now == nullptr) {
    return false;
  }
  const kube::Object& now = *change.now;
  return !seen_.contains(std::string(now.uid())) || change.old == nullptr ||
         change.old->generation() != now.generation() ||
         change.old->labels_json() != now.labels_json() || change.old->deleting() != now.deleting();
}

void QueueFeed::app_wrapper_changed(WrapperApi api, const ObjectChange& change) {
  if (!is_news(change)) {
    return;
  }
  const kube::Object& now = *change.now;
  Result<model::AppWrapper> wrapper = to_app_wrapper(now);
  if (wrapper) {
    check_submitter(*wrapper);
    adopted_.learn(*wrapper);
  }
  note({std::string(now.uid()), now.key(), api}, "AppWrapper",
       wrapper ? queue_.upsert(*wrapper, clock_.wall(), api) : fail(std::move(wrapper).error()));
}

void QueueFeed::training_job_changed(const ObjectChange& change) {
  if (!is_news(change)) {
    return;
  }
  const kube::Object& now = *change.now;
  Result<model::TrainingJob> job = now.as<model::TrainingJob>();
  note({.uid = std::string(now.uid()),
        .key = now.key(),
        .kind = queue::WorkKind::training_job,
        .wrapper = job ? queue::wrapper_of(*job) : std::string()},
       "TrainingJob", job ? queue_.upsert(*job, clock_.wall()) : fail(std::move(job).error()));
}

void QueueFeed::note(const queue::WorkId& id, const char* kind, const Result<void>& taken) {
  seen_.insert(id.uid);
  if (taken) {
    problems_.erase(id.uid);
  } else {
    logger_.info("cannot queue an object",
                 {{"kind", kind}, {"object", id.key.to_string()}, {"why", taken.error().message}});
    problems_[id.uid] = taken.error().message;
  }
  listener_.work_seen(id);
}

// The queue goes by whether there is a record: one that is not believed is none.
void QueueFeed::check_submitter(model::AppWrapper& wrapper) const {
  auto record = wrapper.metadata.annotations.find(std::string(queue::kUserAnnotation));
  if (!options_.user_check || record == wrapper.metadata.annotations.end()) {
    return;
  }
  if (const Result<Submitter> known = submitter_of(wrapper, options_.submitters); !known) {
    logger_.warn("AppWrapper not dispatched",
                 {{"object", wrapper.metadata.key().to_string()}, {"why", known.error().message}});
    wrapper.metadata.annotations.erase(record);
  }
}

void QueueFeed::forget(const std::string& uid) {
  queue_.forget(uid);
  adopted_.forget(uid);
  problems_.erase(uid);
  seen_.erase(uid);
  listener_.work_gone(uid);
}

void QueueFeed::pod_gone(const kube::Object& pod) {
  queue_.remove_pod(pod.key(), pod.uid());
  const std::vector<WrapperPods::News> news = pods_.remove(pod.key());
  for (const WrapperPods::News& each : news) {
    if (queue_.demand(each.owner.uid) == nullptr) {
      pods_.forget_trouble(each.owner.uid);  // nobody will ask
    }
  }
  listener_.pods_changed(news);
}

void QueueFeed::pod_changed(const ObjectChange& change) {
  if (change.now == nullptr) {
    pod_gone(*change.old);
    return;
  }
  if (change.old != nullptr && change.old->uid() != change.now->uid()) {
    pod_gone(*change.old);
  }
  const Result<model::Pod>& read = change.as<model::Pod>();
  if (!read) {
    logger_.warn("cannot read a pod",
                 {{"pod", change.now->key().to_string()}, {"error", read.error()}});
    return;
  }
  if (adopted_.empty()) {
    take_pod(*read);
    return;
  }
  model::Pod pod = *read;
  adopted_.mark(pod);
  take_pod(pod);
}

void QueueFeed::take_pod(const model::Pod& pod) {
  // The queue ignores placeholders of codeflare-system; the controller may live elsewhere.
  const bool placeholder = pod.metadata.ns == options_.ns &&
                           pod.metadata.labels.contains(std::string(queue::kPlaceholderLabel));
  if (!placeholder) {
    queue_.upsert_pod(pod);
  }
  listener_.pods_changed(pods_.upsert(pod));
}

void QueueFeed::node_changed(const ObjectChange& change) {
  if (change.now == nullptr) {
    queue_.remove_node(change.old->name());
    return;
  }
  const Result<model::Node>& node = change.as<model::Node>();
  if (!node) {
    logger_.warn("cannot read a node", {{"node", change.now->name()}, {"error", node.error()}});
    return;
  }
  queue_.upsert_node(*node);
}

void QueueFeed::quota_changed(const ObjectChange& change) {
  if (change.now == nullptr) {
    queue_.remove_quota(change.old->key());
    return;
  }
  Result<model::QuotaSubtree> subtree = change.now->as<model::QuotaSubtree>();
  if (!subtree) {
    logger_.warn("cannot read a QuotaSubtree",
                 {{"object", change.now->key().to_string()}, {"error", subtree.error()}});
    return;
  }
  queue_.upsert_quota(*subtree);
}

void QueueFeed::resource_quota_changed(const ObjectChange& change) {
  const Result<json::Document> quota =
      change.now == nullptr ? Result<json::Document>(json::Document()) : change.now->parse();
  const std::optional<queue::QuotaRule> rule =
      quota ? queue::quota_rule(quota->root) : std::nullopt;
  if (rule) {
    queue_.set_resource_quota(change.now->key(), *rule);
  } else {
    queue_.remove_resource_quota((change.now != nullptr ? change.now : change.old)->key());
  }
}

void QueueFeed::pause_changed(const ObjectChange& change) {
  const bool paused = change.now != nullptr && change.now->string_at({"data", "paused"}) == "true";
  if (paused != queue_.paused()) {
    logger_.info(paused ? "the queue is paused" : "the queue is resumed");
    queue_.set_paused(paused);
  }
}

}  // namespace codeflare::controllers
