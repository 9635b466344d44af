#include "controllers/appwrapper/queue_driver.h"

#include "base/async/sleep.h"
#include "controllers/appwrapper/app_wrapper_object.h"
#include "controllers/appwrapper/trim.h"
#include "controllers/appwrapper/unplaced_pod.h"
#include "controllers/pods_type.h"
#include "json/write.h"
#include "model/codec/node.h"
#include "model/codec/pod.h"
#include "model/codec/quota_subtree.h"
#include "model/resources.h"
#include "queue/marks.h"
#include "runtime/transform.h"

#include <algorithm>
#include <utility>

namespace codeflare::controllers {

using model::ObjectKey;
using model::ResourceType;
using model::WrapperApi;
using queue::Standing;
using runtime::Informer;
using runtime::InformerOptions;
using runtime::ObjectChange;
using runtime::without_managed_fields;

namespace {

const ResourceType kNodes{"", "v1", "Node", "nodes", false};
const ResourceType kResourceQuotas{"", "v1", "ResourceQuota", "resourcequotas", true};
const ResourceType kConfigMaps{"", "v1", "ConfigMap", "configmaps", true};

// What can wait is looked at this often.
constexpr Duration kReleasePause = std::chrono::milliseconds(20);
// Refusals are written while the workers have less than this to do, and one in each pause however
// much there is: on a server that is busy with starts and ends each of them would come later, and
// who starts before its refusal was written needs none. So few at a time do not slow a server down
// by themselves.
constexpr std::size_t kBusyEnough = 4;
constexpr Duration kRefusalPause = std::chrono::milliseconds(200);
// More than refusals alone ever make: so many starts and ends wait that each write less is time
// won. On a slow server, where refusals wait, less is enough.
constexpr std::size_t kFlooded = 48;
constexpr std::size_t kFloodedWhenSlow = 16;
// Pod counts are nobody's business while there is more to do: each of thousands that run would have
// some every few seconds, and the server would be slower for those who start, run and end.
constexpr std::size_t kIdleEnough = 4;
constexpr Duration kIdlePause = std::chrono::milliseconds(250);
constexpr Duration kBindingPause = std::chrono::seconds(1);
constexpr Duration kBindingPauseMax = std::chrono::seconds(10);
// Pods of a gang come and go by the thousand; their counts are looked at this often.
constexpr Duration kPodsPause = std::chrono::milliseconds(250);
// How long a cache may take to show what the server has, before it is asked again.
constexpr Duration kCatchUpPatience = std::chrono::seconds(10);
constexpr Duration kCatchUpPause = std::chrono::seconds(1);
constexpr std::int64_t kCatchUpPage = 500;
// A beginning that takes longer is worth a word, again and again.
constexpr Duration kSayWhyAfter = std::chrono::seconds(15);
// Far more pods than a cluster has: neither bindings nor news of pods without a place get lost.
constexpr std::size_t kBindingsMax = std::size_t{1} << 24;
constexpr std::size_t kUnplacedMax = kBindingsMax;

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

QueueDriver::QueueDriver(Env env, kube::Client& client, runtime::Cache& cache,
                         QueueMetrics& metrics, DriverOptions options)
    : env_(env),
      client_(client),
      cache_(cache),
      metrics_(metrics),
      options_(std::move(options)),
      logger_(options_.logger),
      queue_(options_.queue),
      // In the cache, so that this process is not ready without it: the only ConfigMap that anybody
      // here looks at.
      pause_(cache.informer(kConfigMaps, pause_options(options_.ns))),
      refused_{.enough = kBusyEnough, .pause = kRefusalPause},
      idle_{.enough = kIdleEnough, .pause = kIdlePause},
      unplaced_{.enough = kBusyEnough, .pause = kRefusalPause},
      to_tell_(kUnplacedMax),
      bindings_(kBindingsMax) {
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
  watch(kPods, with_transform(options_.trim ? trimmed_pod : without_managed_fields),
        [this](const ObjectChange& change) { pod_changed(change); });
  sources_.push_back({&pause_, list_of(pause_options(options_.ns)),
                      [this](const ObjectChange& change) { pause_changed(change); }});
  for (const Source& source : sources_) {
    source.informer->add_handler([this, handler = source.handler](const ObjectChange& change) {
      if (active_) {
        handler(change);
        nudge();
      }
    });
  }
}

// Pods are heard of until the informers end, which may be after run().
QueueDriver::~QueueDriver() {
  cancel_timers();
}

void QueueDriver::cancel_timers() {
  for (std::optional<TimerId>* timer : {&wake_timer_, &release_timer_, &late_timer_}) {
    if (*timer) {
      env_.loop.cancel_timer(**timer);
      timer->reset();
    }
  }
}

void QueueDriver::watch(const ResourceType& type, InformerOptions options,
                        std::function<void(const ObjectChange&)> handler) {
  kube::ListOptions list = list_of(options);
  sources_.push_back(
      {&cache_.informer(type, std::move(options)), std::move(list), std::move(handler)});
}

void QueueDriver::set_waker(WrapperApi api, runtime::Waker waker) {
  wakers_[api] = std::move(waker);
}

Task<void> QueueDriver::run() {
  const TaskContext& context = co_await current_context();
  TaskGroup group(*context.loop, context.stop);
  work_ = &group;
  if (co_await all_synced() && co_await catch_up()) {
    feed();
    for (std::size_t i = 0; i < options_.bindings_in_flight; ++i) {
      group.spawn(bind_pods());
    }
    group.spawn(tell_unplaced_pods());
    group.spawn(decide());
  }
  co_await group.join();
  work_ = nullptr;
  cancel_timers();
}

// False when stopped before.
Task<bool> QueueDriver::all_synced() {
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

std::string QueueDriver::not_synced() const {
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

// Who led before us has written until a moment ago, and a cache may be behind: who is not known to
// hold anything would not be spared.
Task<Result<void>> QueueDriver::catch_up() {
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

Task<Result<void>> QueueDriver::catch_up(Informer& informer, kube::ListOptions list) {
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

// From here on the handlers keep it up to date.
void QueueDriver::feed() {
  for (const Source& source : sources_) {
    for (kube::ObjectRef& object : source.informer->store().list()) {
      source.handler({nullptr, std::move(object), true});
    }
  }
  active_ = true;
  logger_.info("the queue starts", {{"appwrappers", known_.size()}, {"holding", queue_.running()}});
  for (const auto& [uid, known] : known_) {
    // The others are told by the first step.
    if (queue_.kind(uid) == Standing::Kind::unknown) {
      wakers_[known.api].wake(known.key);
    }
  }
  nudge();
}

// --- what changes ---

void QueueDriver::app_wrapper_changed(WrapperApi api, const ObjectChange& change) {
  if (change.old != nullptr && (change.now == nullptr || change.now->uid() != change.old->uid())) {
    forget(std::string(change.old->uid()));
  }
  if (change.now == nullptr) {
    return;
  }
  const kube::Object& now = *change.now;
  const std::string uid(now.uid());
  const bool known = known_.contains(uid);
  // Our own status writes change nothing of what the queue takes over.
  if (known && change.old != nullptr && change.old->generation() == now.generation() &&
      change.old->labels_json() == now.labels_json() && change.old->deleting() == now.deleting()) {
    return;
  }
  known_[uid] = {now.key(), api};
  Result<model::AppWrapper> wrapper = to_app_wrapper(now);
  if (wrapper) {
    check_submitter(*wrapper);
    adopted_.learn(*wrapper);
  }
  Result<void> taken =
      wrapper ? queue_.upsert(*wrapper, env_.clock.wall(), api) : fail(std::move(wrapper).error());
  if (taken) {
    problems_.erase(uid);
  } else {
    logger_.info("cannot queue an AppWrapper",
                 {{"object", now.key().to_string()}, {"why", taken.error().message}});
    problems_[uid] = taken.error().message;
  }
  if (active_ && queue_.kind(uid) == Standing::Kind::unknown) {
    wake(uid);
  }
}

// The queue goes by whether there is a record: one that is not believed is none.
void QueueDriver::check_submitter(model::AppWrapper& wrapper) const {
  auto record = wrapper.metadata.annotations.find(std::string(queue::kUserAnnotation));
  if (!options_.queue.user_check || record == wrapper.metadata.annotations.end()) {
    return;
  }
  if (const Result<Submitter> known = submitter_of(wrapper, options_.submitters); !known) {
    logger_.warn("AppWrapper not dispatched",
                 {{"object", wrapper.metadata.key().to_string()}, {"why", known.error().message}});
    wrapper.metadata.annotations.erase(record);
  }
}

void QueueDriver::forget(const std::string& uid) {
  queue_.forget(uid);
  adopted_.forget(uid);
  metrics_.gone(uid);
  problems_.erase(uid);
  refused_.waiting.erase(uid);
  idle_.waiting.erase(uid);
  may_write_.erase(uid);
  auto known = known_.find(uid);
  if (known != known_.end()) {
    // Whoever keeps something in mind for the key hears of its end.
    wakers_[known->second.api].wake(known->second.key);
    known_.erase(known);
  }
}

void QueueDriver::pod_gone(const kube::Object& pod) {
  queue_.remove_pod(pod.key(), pod.uid());
  const std::vector<WrapperPods::News> news = pods_.remove(pod.key());
  for (const WrapperPods::News& each : news) {
    if (queue_.demand(each.owner.uid) == nullptr) {
      pods_.forget_trouble(each.owner.uid);  // nobody will ask
    }
  }
  hear(news);
}

void QueueDriver::pod_changed(const ObjectChange& change) {
  if (change.now == nullptr) {
    pod_gone(*change.old);
    return;
  }
  if (change.old != nullptr && change.old->uid() != change.now->uid()) {
    pod_gone(*change.old);
  }
  Result<model::Pod> pod = change.now->as<model::Pod>();
  if (!pod) {
    logger_.warn("cannot read a pod",
                 {{"pod", change.now->key().to_string()}, {"error", pod.error()}});
    return;
  }
  adopted_.mark(*pod);
  queue_.upsert_pod(*pod);
  hear(pods_.upsert(*pod));
}

void QueueDriver::node_changed(const ObjectChange& change) {
  if (change.now == nullptr) {
    queue_.remove_node(change.old->name());
    return;
  }
  Result<model::Node> node = change.now->as<model::Node>();
  if (!node) {
    logger_.warn("cannot read a node", {{"node", change.now->name()}, {"error", node.error()}});
    return;
  }
  queue_.upsert_node(*node);
}

void QueueDriver::quota_changed(const ObjectChange& change) {
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

void QueueDriver::resource_quota_changed(const ObjectChange& change) {
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

void QueueDriver::pause_changed(const ObjectChange& change) {
  const bool paused = change.now != nullptr && change.now->string_at({"data", "paused"}) == "true";
  if (paused != queue_.paused()) {
    logger_.info(paused ? "the queue is paused" : "the queue is resumed");
    queue_.set_paused(paused);
  }
}

// --- the reconciler's calls ---

std::string QueueDriver::problem(const std::string& uid) const {
  auto at = problems_.find(uid);
  return at == problems_.end() ? std::string() : at->second;
}

void QueueDriver::stopping(const std::string& uid) {
  queue_.stopping(uid);
  nudge();
}

void QueueDriver::withdrawn(const std::string& uid, std::optional<WallTime> not_before) {
  queue_.withdrawn(uid, env_.clock.wall(), not_before);
  pods_.forget_trouble(uid);
  nudge();
}

void QueueDriver::plan_written(const std::string& uid,
                               const std::vector<model::PlannedPlace>& places) {
  if (queue_.plan_written(uid, places)) {
    nudge();
  }
}

void QueueDriver::remove(const std::string& uid) {
  queue_.remove(uid);
  pods_.forget_trouble(uid);
  nudge();
}

void QueueDriver::item_seen(const std::string& uid, const kube::Object& item) {
  const Result<json::Document> parsed = item.parse();
  if (parsed && queue_.item_seen(uid, parsed->root)) {
    nudge();
  }
}

void QueueDriver::wake(const std::string& uid) {
  auto known = known_.find(uid);
  if (known != known_.end()) {
    wakers_[known->second.api].wake(known->second.key);
  }
}

void QueueDriver::hear(const std::vector<WrapperPods::News>& news) {
  if (!active_) {
    return;
  }
  for (const WrapperPods::News& each : news) {
    if (each.matters) {
      wake(each.owner);
    } else {
      late_.insert(each.owner);
    }
  }
  if (!late_.empty() && !late_timer_) {
    late_timer_ = env_.loop.start_timer(after(env_.loop.now(), kPodsPause), [this] {
      late_timer_.reset();
      wake_late();
    });
  }
}

void QueueDriver::wake_late() {
  for (const PodOwner& owner : std::exchange(late_, {})) {
    wake(owner);
  }
}

void QueueDriver::wake(const PodOwner& owner) {
  if (!owner.uid.empty()) {
    wake(owner.uid);
    return;
  }
  for (const auto& [api, waker] : wakers_) {
    waker.wake(owner.key);
  }
}

// --- deciding ---

void QueueDriver::nudge() {
  dirty_ = true;
  changed_.notify_all();
}

Task<void> QueueDriver::decide() {
  const TaskContext& context = co_await current_context();
  while (!context.stop.stop_requested()) {
    while (!dirty_ && !release_due_) {
      if (!co_await changed_.wait()) {
        co_return;
      }
    }
    if (std::exchange(dirty_, false)) {
      step();
    }
    release();
    // What changes in this turn of the loop is decided together.
    co_await yield();
  }
}

void QueueDriver::step() {
  const Instant begin = env_.clock.now();
  queue::StepOutcome outcome = queue_.step(env_.clock.wall());
  metrics_.stepped(env_.clock.now() - begin);
  metrics_.depth(queue_.waiting(), queue_.running());
  tell(std::move(outcome.changed));
  for (queue::Binding& binding : outcome.bindings) {
    static_cast<void>(bindings_.try_push(std::move(binding)));
  }
  for (const std::string& uid : outcome.unplaced) {
    unplaced_.add(uid, env_.loop.now());
  }
  set_wake_timer(outcome.wake_at);
  dirty_ = dirty_ || outcome.more;
  if (on_decided_) {
    on_decided_();
  }
}

void QueueDriver::tell(std::vector<queue::WrapperId> changed) {
  for (const queue::WrapperId& id : changed) {
    if (queue_.kind(id.uid) != Standing::Kind::waiting) {
      wakers_[id.api].wake(id.key);
    } else {
      refused_.add(id.uid, env_.loop.now());
    }
  }
}

std::size_t QueueDriver::unfinished() const {
  std::size_t sum = 0;
  for (const auto& [api, waker] : wakers_) {
    sum += waker.unfinished();
  }
  return sum;
}

void QueueDriver::wrote(Duration took) {
  pace_.add(took, env_.loop.now());
}

bool QueueDriver::server_is_slow() const {
  return pace_.is_slow(env_.loop.now());
}

bool QueueDriver::flooded() const {
  return unfinished() >= (server_is_slow() ? kFloodedWhenSlow : kFlooded);
}

bool QueueDriver::may_write_idly(const std::string& uid) {
  if (may_write_.erase(uid) > 0 || (idle_.uids.empty() && unfinished() < kIdleEnough)) {
    return true;
  }
  if (idle_.add(uid, env_.loop.now())) {
    set_release_timer();
  }
  return false;
}

void QueueDriver::release() {
  release_due_ = false;
  release(refused_, [this](const std::string& uid) {
    const bool waits = queue_.kind(uid) == Standing::Kind::waiting;
    if (waits) {
      wake(uid);
    }
    return waits;
  });
  release(unplaced_, [this](const std::string& uid) { return to_tell_.try_push(uid); });
  release(idle_, [this](const std::string& uid) {
    const bool known = known_.contains(uid);
    if (known) {
      may_write_.insert(uid);
      wake(uid);
    }
    return known;
  });
  if (!refused_.uids.empty() || !unplaced_.uids.empty() || !idle_.uids.empty()) {
    set_release_timer();
  }
}

void QueueDriver::set_release_timer() {
  if (!release_timer_) {
    release_timer_ = env_.loop.start_timer(after(env_.loop.now(), kReleasePause), [this] {
      release_timer_.reset();
      release_due_ = true;
      changed_.notify_all();
    });
  }
}

bool QueueDriver::Line::add(const std::string& uid, Instant now) {
  if (!waiting.insert(uid).second) {
    return false;
  }
  if (uids.empty()) {
    due = after(now, pause);
  }
  uids.push_back(uid);
  return true;
}

void QueueDriver::release(Line& line, const std::function<bool(const std::string&)>& go) {
  const Instant now = env_.loop.now();
  const auto at_leisure = [&] { return unfinished() < line.enough && !server_is_slow(); };
  while (!line.uids.empty() && (now >= line.due || at_leisure())) {
    const std::string uid = std::move(line.uids.front());
    line.uids.pop_front();
    if (line.waiting.erase(uid) > 0 && go(uid)) {
      line.due = after(now, line.pause);
    }
  }
}

void QueueDriver::set_wake_timer(std::optional<WallTime> when) {
  if (wake_timer_) {
    env_.loop.cancel_timer(*wake_timer_);
    wake_timer_.reset();
  }
  if (when) {
    const Duration delay = std::max(*when - env_.clock.wall(), Duration::zero());
    wake_timer_ = env_.loop.start_timer(after(env_.loop.now(), delay), [this] {
      wake_timer_.reset();
      nudge();
    });
  }
}

// --- binding ---

Task<void> QueueDriver::bind_pods() {
  for (;;) {
    Result<queue::Binding> binding = co_await bindings_.pop();
    if (!binding) {
      co_return;
    }
    co_await bind(*std::move(binding));
  }
}

Task<void> QueueDriver::bind(queue::Binding binding) {
  std::string body;
  json::Writer w(body);
  w.begin_object().member("apiVersion", "v1").member("kind", "Binding");
  w.key("metadata").begin_object().member("name", binding.pod.name);
  w.member("namespace", binding.pod.ns).member("uid", binding.uid).end_object();
  w.key("target").begin_object().member("apiVersion", "v1").member("kind", "Node");
  w.member("name", binding.node).end_object().end_object();
  Result<std::string> bound = co_await client_.post(kPods, binding.pod, "binding", std::move(body));
  metrics_.bound(bound.has_value());
  if (bound) {
    co_return;
  }
  if (bound.error().code != ErrorCode::cancelled) {
    logger_.info(
        "cannot bind a pod",
        {{"pod", binding.pod.to_string()}, {"node", binding.node}, {"error", bound.error()}});
  }
  // Others are bound meanwhile.
  work_->spawn(look_after(std::move(binding)));
}

// One at a time: nothing depends on it.
Task<void> QueueDriver::tell_unplaced_pods() {
  for (;;) {
    const Result<std::string> uid = co_await to_tell_.pop();
    if (!uid) {
      co_return;
    }
    const WallTime now = std::chrono::floor<std::chrono::seconds>(env_.clock.wall());
    const std::optional<queue::Queue::Unplaced> unplaced = queue_.unplaced(*uid, now);
    if (!unplaced) {
      continue;
    }
    const Result<bool> told =
        co_await tell_unplaced(client_, {unplaced->pod, *uid, unplaced->why}, now);
    if (!told && told.error().code != ErrorCode::not_found &&
        told.error().code != ErrorCode::conflict && told.error().code != ErrorCode::cancelled) {
      logger_.info("cannot write the PodScheduled condition of a pod",
                   {{"pod", unplaced->pod.to_string()}, {"error", told.error()}});
    }
    if (told && *told && options_.events != nullptr) {
      options_.events->warning({.gvk = kPods.gvk(), .key = unplaced->pod, .uid = *uid},
                               "FailedScheduling", unplaced->why);
    }
  }
}

// The answer may be lost and the cache behind: only the server knows whether the pod is bound after
// all. A place that was handed out again too early would be taken twice.
Task<void> QueueDriver::look_after(queue::Binding binding) {
  Duration pause = kBindingPause;
  while (co_await sleep_for(pause)) {
    Result<kube::ObjectRef> pod = co_await client_.get(kPods, binding.pod);
    if (!pod && pod.error().code != ErrorCode::not_found) {
      pause = std::min(pause * 2, kBindingPauseMax);  // there may be thousands of us
      continue;
    }
    if (pod && (*pod)->uid() == binding.uid && (*pod)->string_at({"spec", "nodeName"}).empty()) {
      queue_.binding_failed(binding.uid);
      nudge();
    }
    co_return;
  }
}

}  // namespace codeflare::controllers
