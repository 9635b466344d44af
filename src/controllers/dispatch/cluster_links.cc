#include "controllers/dispatch/cluster_links.h"

#include "base/async/sleep.h"
#include "controllers/appwrapper/app_wrapper_object.h"
#include "controllers/dispatch/copy_object.h"
#include "model/codec/core.h"
#include "model/codec/managed_cluster.h"
#include "model/codec/node.h"
#include "model/codec/pod.h"
#include "model/resources.h"
#include "queue/marks.h"

#include <algorithm>
#include <utility>

namespace codeflare::controllers::dispatch {

namespace mc = model::managed_cluster;
using model::ManagedCluster;
using runtime::ObjectChange;

namespace {

constexpr Duration kTryAgain = std::chrono::seconds(2);

const model::ResourceType kSecrets{"", "v1", "Secret", "secrets", true};
const model::ResourceType kNamespaces{"", "v1", "Namespace", "namespaces", false};

std::vector<kube::ObjectRef> copies_on(const Worker& worker, WorkKind kind) {
  const runtime::Informer* copies = worker.copies(kind);
  return copies == nullptr ? std::vector<kube::ObjectRef>() : copies->store().list();
}

bool is_deleting(const ManagedCluster& cluster) {
  return cluster.metadata.deleting();
}

// Its work is queued again.
bool is_left(const ManagedCluster& cluster) {
  return cluster.spec.lost || (cluster.spec.paused && cluster.spec.evict);
}

}  // namespace

ClusterLinks::ClusterLinks(runtime::Manager& manager, LinkOptions options)
    : manager_(manager),
      env_(manager.env()),
      options_(std::move(options)),
      logger_(options_.logger),
      managed_(manager.cache().informer(model::resource_type<ManagedCluster>())),
      finalizer_(model::resource_type<ManagedCluster>(), std::string(mc::kFinalizer)) {
  managed_.add_handler([this](const ObjectChange&) { touch(); });
  if (options_.metrics != nullptr) {
    metrics_ = std::make_unique<ClusterMetrics>(*options_.metrics);
  }
}

ClusterLinks::~ClusterLinks() = default;

void ClusterLinks::touch() {
  dirty_ = true;
  changed_.notify_all();
}

Task<Result<void>> ClusterLinks::change_or_time(Duration most) {
  // Coroutine members keep the state; the wait itself is a task of its own for its deadline.
  struct Wait {
    static Task<Result<void>> run(ClusterLinks& links) {
      while (!links.dirty_) {
        CO_TRY(co_await links.changed_.wait());
      }
      co_return Result<void>();
    }
  };
  auto waiting = Wait::run(*this);
  Result<void> woken = co_await with_timeout(most, "change", std::move(waiting));
  if (!woken && woken.error().code == ErrorCode::deadline_exceeded) {
    co_return Result<void>();
  }
  co_return woken;
}

Task<void> ClusterLinks::run() {
  const TaskContext& context = co_await current_context();
  TaskGroup group(*context.loop, context.stop);
  if (co_await managed_.wait_synced() && co_await learn_hub()) {
    Instant collected = env_.loop.now();
    while (!context.stop.stop_requested()) {
      dirty_ = false;
      if (managed_.store().size() > 0) {
        watch_secrets(group);
      }
      co_await bring_up_to_date();
      begun_ = true;
      // Before the fences: strays go even if a fence fails each time.
      if (env_.loop.now() - collected >= options_.collect_every) {
        collect();
        collected = env_.loop.now();
      }
      keep_fences();
      tell_clusters();
      end_notes();
      co_await keep_status();
      const bool idle = records_.empty();
      if (!co_await change_or_time(idle ? Duration(std::chrono::hours(24))
                                        : options_.status_every)) {
        break;
      }
    }
  }
  for (auto& [name, record] : records_) {
    if (record.group != nullptr) {
      co_await record.group->close();
    }
  }
  co_await group.close();
}

// The identity of the hub, which copies name as their origin. Needed only once there is a worker.
Task<bool> ClusterLinks::learn_hub() {
  const TaskContext& context = co_await current_context();
  while (!context.stop.stop_requested()) {
    while (managed_.store().size() == 0 && options_.local) {
      dirty_ = false;
      if (!co_await change_or_time(std::chrono::hours(24))) {
        co_return false;
      }
    }
    const Result<kube::ObjectRef> system =
        co_await manager_.client().get(kNamespaces, {"", "kube-system"});
    if (system) {
      hub_ = (*system)->uid();
      co_return true;
    }
    logger_.warn("cannot read the identity of this cluster", {{"error", system.error()}});
    if (!co_await sleep_for(kTryAgain)) {
      co_return false;
    }
  }
  co_return false;
}

void ClusterLinks::watch_secrets(TaskGroup& group) {
  if (secrets_ != nullptr) {
    return;
  }
  runtime::InformerOptions options;
  options.watch.ns = options_.secret_ns;
  secrets_ = std::make_unique<runtime::Informer>(env_, manager_.client(), kSecrets, options);
  secrets_->add_handler([this](const ObjectChange&) { touch(); });
  group.spawn(secrets_->run());
}

// --- workers come, change and go ---

Task<void> ClusterLinks::bring_up_to_date() {
  std::map<std::string, ManagedCluster> wanted;
  for (const kube::ObjectRef& object : managed_.store().list()) {
    Result<ManagedCluster> read = object->as<ManagedCluster>();
    if (read) {
      wanted.emplace(std::string(object->name()), *std::move(read));
    } else {
      logger_.warn("cannot read a ManagedCluster",
                   {{"object", object->name()}, {"error", read.error()}});
    }
  }
  if (!wanted.empty() && !secrets_->synced()) {
    const Result<void> synced = co_await with_timeout(
        std::chrono::seconds(5), "first list of Secrets", secrets_->wait_synced());
    if (!synced) {
      touch();  // its handler may have nothing to tell
      logger_.warn("cannot read Secrets with kubeconfigs",
                   {{"namespace", options_.secret_ns}, {"error", synced.error()}});
    }
  }
  std::vector<std::string> gone;
  for (const auto& [name, record] : records_) {
    if (!wanted.contains(name)) {
      gone.push_back(name);
    }
  }
  for (std::string& name : gone) {
    co_await drop(std::move(name));
  }
  for (auto& [name, object] : wanted) {
    co_await bring_worker(name, std::move(object));
  }
}

Task<void> ClusterLinks::bring_worker(std::string name, ManagedCluster object) {
  Record& known = records_[name];
  const bool same =
      known.worker != nullptr && known.object && known.object->metadata.uid == object.metadata.uid;
  Source source = source_of(object);
  take_object(known, std::move(object));
  const bool kept = same && known.worker->kubeconfig() == source.kubeconfig &&
                    (!source.kubeconfig.empty() || known.worker->state() == source.problem);
  const bool free_again =
      !known.twice.empty() && known.twice != mc::kLocal && !records_.contains(known.twice);
  if (kept && !free_again) {
    co_return;
  }
  co_await end_worker(name);
  Record& record = records_[name];
  record.worker = make_worker(*record.object, std::move(source));
  record.twice.clear();
  const TaskContext& context = co_await current_context();
  record.group = std::make_unique<TaskGroup>(*context.loop, context.stop);
  record.group->spawn(record.worker->run());
}

void ClusterLinks::take_object(Record& record, ManagedCluster object) {
  const bool leaves = is_left(object) && (!record.object || !is_left(*record.object));
  if (!record.object) {
    record.silent_from = env_.clock.now();
  }
  record.object = std::move(object);
  if (leaves) {
    wake_work(record.object->metadata.name);
  }
}

// The kubeconfig, or why there is none.
ClusterLinks::Source ClusterLinks::source_of(const ManagedCluster& object) const {
  const auto problem = [](std::string_view reason, std::string message) {
    return Source{.problem = {.reason = std::string(reason), .message = std::move(message)}};
  };
  if (object.metadata.name == mc::kLocal) {
    return problem(mc::kReasonNameInvalid,
                   "the name `local` means this cluster; create the ManagedCluster with another "
                   "name");
  }
  const std::string secret = options_.secret_ns + "/" + mc::secret_name(object);
  const kube::ObjectRef found =
      secrets_ == nullptr ? nullptr
                          : secrets_->store().get(options_.secret_ns, mc::secret_name(object));
  if (found == nullptr) {
    return problem(mc::kReasonSecretMissing,
                   "Secret " + secret + " not found; create it with the cluster's kubeconfig " +
                       "under the key kubeconfig, or run codeflare cluster add");
  }
  const Result<model::Secret> read = found->as<model::Secret>();
  if (!read || !read->data.contains(mc::kSecretKey)) {
    return problem(mc::kReasonSecretMissing, "Secret " + secret + " has no key kubeconfig");
  }
  return {.kubeconfig = read->data.find(mc::kSecretKey)->second.bytes};
}

std::unique_ptr<Worker> ClusterLinks::make_worker(const ManagedCluster& object, Source source) {
  Worker::Listener& listener = *this;
  Worker::Options options{.name = object.metadata.name,
                          .hub = hub_,
                          .kubeconfig = std::move(source.kubeconfig),
                          .expected_id = object.status.cluster_id,
                          .times = options_.times,
                          .training_jobs = options_.training_jobs,
                          .logger = logger_};
  if (options.kubeconfig.empty()) {
    return std::make_unique<Worker>(env_, listener, nullptr, std::move(source.problem), options);
  }
  const std::string origin = "Secret " + options_.secret_ns + "/" + mc::secret_name(object);
  Result<std::unique_ptr<kube::Connection>> connection =
      options_.connect(env_, options.kubeconfig, origin);
  LinkState state{.reason = std::string(mc::kReasonConnecting),
                  .message = "waiting for the first answer"};
  if (!connection) {
    state = {.reason = std::string(mc::kReasonSecretInvalid),
             .message = connection.error().message};
  }
  return std::make_unique<Worker>(env_, listener, connection ? *std::move(connection) : nullptr,
                                  std::move(state), options);
}

Task<void> ClusterLinks::end_worker(std::string name) {
  const auto at = records_.find(name);
  if (at == records_.end() || at->second.group == nullptr) {
    co_return;
  }
  co_await at->second.group->close();
  Record& record = records_[name];
  record.group.reset();
  record.worker.reset();
  record.busy = false;
  record.fed = false;
  record.silent_from = env_.clock.now();
}

bool ClusterLinks::start_errand(const std::string& name, Task<void> errand) {
  Record& record = records_[name];
  if (record.busy || record.group == nullptr) {
    return false;
  }
  record.busy = true;
  record.group->spawn(run_errand(name, std::move(errand)));
  return true;
}

// The record stays until its group is closed.
Task<void> ClusterLinks::run_errand(std::string name, Task<void> errand) {
  co_await std::move(errand);
  records_[name].busy = false;
}

// Nodes stay as long as work holds places there.
Task<void> ClusterLinks::drop(std::string name) {
  co_await end_worker(name);
  Record& record = records_[name];
  record.object.reset();
  if (!driver_->active() || !driver_->queue().held_in(name).empty()) {
    co_return;
  }
  driver_->apply([&](queue::Queue& queue) {
    for (const std::string& uid : record.pods) {
      queue.remove_pod({}, uid);
    }
    for (const std::string& node : record.nodes) {
      queue.remove_node(node);
    }
  });
  records_.erase(name);
  if (metrics_ != nullptr) {
    metrics_->gone(name);
  }
}

// --- what workers tell ---

void ClusterLinks::check_twice(Worker& worker) {
  if (!worker.state().connected) {
    return;
  }
  std::string whose = worker.id() == hub_ ? std::string(mc::kLocal) : "";
  for (const auto& [name, record] : records_) {
    if (record.worker != nullptr && record.worker.get() != &worker && record.twice.empty() &&
        record.worker->id() == worker.id()) {
      whose = name;
    }
  }
  if (whose.empty()) {
    return;
  }
  records_.find(worker.name())->second.twice = whose;
  worker.refuse({.reason = std::string(mc::kReasonManagedTwice),
                 .message = whose == mc::kLocal
                                ? "the kubeconfig leads to this cluster itself, which is `local`"
                                : "this cluster is ManagedCluster " + whose + " already"});
}

void ClusterLinks::link_changed(Worker& worker) {
  const auto at = records_.find(worker.name());
  if (at == records_.end() || at->second.worker.get() != &worker) {
    return;
  }
  check_twice(worker);
  Record& record = at->second;
  if (worker.state().connected) {
    worker.expect(worker.id());
  }
  if (worker.usable() && !record.fed) {
    feed(record);
  }
  if (worker.usable()) {
    record.lost_since.reset();
  } else if (!record.lost_since && record.was_usable) {
    record.lost_since = std::chrono::floor<std::chrono::seconds>(env_.clock.wall());
    if (metrics_ != nullptr) {
      metrics_->lost(worker.name());
    }
  }
  const bool news = worker.usable() != record.was_usable || !worker.usable();
  record.was_usable = worker.usable();
  tell_clusters();
  if (news) {
    wake_work(worker.name());
  }
  touch();
}

void ClusterLinks::wake_work(const std::string& cluster) {
  for (const std::string& uid : driver_->queue().held_in(cluster)) {
    driver_->wake(uid);
  }
}

// Pods before nodes: no place is given to anybody before all that take places are known.
void ClusterLinks::feed(Record& record) {
  Worker& worker = *record.worker;
  driver_->apply([&](queue::Queue& queue) {
    record.copies.clear();
    for (const WorkKind kind : kCopyKinds) {
      for (const kube::ObjectRef& copy : copies_on(worker, kind)) {
        read_copy(record, *copy, kind);
      }
    }
    std::set<std::string> stale = record.pods;
    for (const kube::ObjectRef& pod : worker.pods().list()) {
      stale.erase(std::string(pod->uid()));
      give_pod(queue, record, *pod);
    }
    for (const std::string& uid : stale) {
      take_pod(queue, record, uid);
    }
    std::set<std::string> gone = record.nodes;
    for (const kube::ObjectRef& node : worker.nodes().list()) {
      gone.erase(worker.name() + "/" + std::string(node->name()));
      give_node(queue, record, *node);
    }
    for (const std::string& node : gone) {
      queue.remove_node(node);
      record.nodes.erase(node);
    }
  });
  record.fed = true;
  logger_.info("worker cluster in the queue", {{"cluster", worker.name()},
                                               {"nodes", record.nodes.size()},
                                               {"copies", record.copies.size()}});
}

void ClusterLinks::give_node(queue::Queue& queue, Record& record, const kube::Object& object) {
  Result<model::Node> node = object.as<model::Node>();
  if (!node) {
    logger_.warn("cannot read a node", {{"node", object.name()}, {"error", node.error()}});
    return;
  }
  node->metadata.name = record.worker->name() + "/" + node->metadata.name;
  record.nodes.insert(node->metadata.name);
  queue.upsert_node(*node);
}

// Of copies in the name of the hub's AppWrapper; the others take room, and no more. One without a
// node takes none, and its own cluster binds it.
void ClusterLinks::give_pod(queue::Queue& queue, Record& record, const kube::Object& object) {
  Result<model::Pod> pod = object.as<model::Pod>();
  if (!pod || pod->spec.node_name.empty()) {
    take_pod(queue, record, std::string(object.uid()));
    return;
  }
  const std::string prefix = record.worker->name() + "/";
  model::StringMap& labels = pod->metadata.labels;
  const auto owner = labels.find(std::string(queue::kUidLabel));
  const auto copy = owner == labels.end() ? record.copies.end() : record.copies.find(owner->second);
  if (copy == record.copies.end()) {
    pod->metadata.ns = prefix + pod->metadata.ns;
    labels.erase(std::string(queue::kUidLabel));
    labels.erase(std::string(queue::kMcadLabel));
  } else {
    owner->second = copy->second.hub_uid;
  }
  pod->metadata.name = prefix + pod->metadata.name;
  pod->spec.node_name = prefix + pod->spec.node_name;
  record.pods.insert(pod->metadata.uid);
  queue.upsert_pod(*pod);
}

void ClusterLinks::take_pod(queue::Queue& queue, Record& record, const std::string& uid) {
  if (record.pods.erase(uid) > 0) {
    queue.remove_pod({}, uid);
  }
}

void ClusterLinks::read_copy(Record& record, const kube::Object& object, WorkKind kind) {
  const Result<model::AppWrapper> copy = read_without_spec(object, kind);
  if (!copy) {
    return;
  }
  const CopyMark mark = mark_of(copy->metadata);
  if (mark.hub != hub_) {
    return;
  }
  record.copies.insert_or_assign(
      copy->metadata.uid, Copy{.key = copy->metadata.key(),
                               .hub_uid = mark.hub_uid,
                               .waiting = is_waiting_there(CopySeen{
                                   .cluster = record.worker->name(), .status = copy->status}),
                               .over = model::is_terminal(copy->status) ||
                                       is_fenced(copy->metadata) || copy->metadata.deleting(),
                               .fence = fence_of(copy->metadata)});
}

void ClusterLinks::node_changed(Worker& worker, const ObjectChange& change) {
  Record& record = records_.find(worker.name())->second;
  if (!record.fed) {
    return;
  }
  driver_->apply([&](queue::Queue& queue) {
    if (change.now != nullptr) {
      give_node(queue, record, *change.now);
      return;
    }
    const std::string name = worker.name() + "/" + std::string(change.old->name());
    record.nodes.erase(name);
    queue.remove_node(name);
  });
}

void ClusterLinks::pod_changed(Worker& worker, const ObjectChange& change) {
  Record& record = records_.find(worker.name())->second;
  if (!record.fed) {
    return;
  }
  driver_->apply([&](queue::Queue& queue) {
    if (change.old != nullptr &&
        (change.now == nullptr || change.now->uid() != change.old->uid())) {
      take_pod(queue, record, std::string(change.old->uid()));
    }
    if (change.now != nullptr) {
      give_pod(queue, record, *change.now);
    }
  });
}

void ClusterLinks::copy_changed(Worker& worker, WorkKind kind, const ObjectChange& change) {
  Record& record = records_.find(worker.name())->second;
  if (!record.fed) {
    return;
  }
  if (change.old != nullptr && (change.now == nullptr || change.now->uid() != change.old->uid())) {
    const auto at = record.copies.find(std::string(change.old->uid()));
    if (at != record.copies.end()) {
      driver_->wake(at->second.hub_uid);
      record.copies.erase(at);
    }
  }
  if (change.now == nullptr) {
    return;
  }
  const std::string uid(change.now->uid());
  const bool is_new = !record.copies.contains(uid);
  read_copy(record, *change.now, kind);
  const auto at = record.copies.find(uid);
  if (at == record.copies.end()) {
    return;
  }
  driver_->wake(at->second.hub_uid);
  if (!is_new) {
    return;
  }
  // Pods that were seen before it belong to nobody so far.
  const std::vector<kube::ObjectRef> pods = worker.pods().by_index(Worker::kByOwner, uid);
  if (!pods.empty()) {
    driver_->apply([&](queue::Queue& queue) {
      for (const kube::ObjectRef& pod : pods) {
        take_pod(queue, record, std::string(pod->uid()));
        give_pod(queue, record, *pod);
      }
    });
  }
}

void ClusterLinks::machines_changed(Worker&) {
  driver_->reconsider();
}

std::vector<queue::ClusterMachines> ClusterLinks::machines() const {
  std::vector<queue::ClusterMachines> all;
  for (const auto& [name, record] : records_) {
    const bool usable = record.worker != nullptr && record.worker->usable() && record.fed;
    if (auto machines = usable ? record.worker->machines() : std::nullopt) {
      all.push_back(*std::move(machines));
    }
  }
  return all;
}

// --- the queue's clusters ---

// The finalizer and the cluster's identity are on the hub's server. Without them another cluster
// could get this name while work is there, and its 404 would count as the end of a copy.
bool ClusterLinks::is_registered(const Record& record) const {
  const auto& finalizers = record.object->metadata.finalizers;
  return std::ranges::find(finalizers, mc::kFinalizer) != finalizers.end() &&
         record.object->status.cluster_id == record.worker->id();
}

std::string ClusterLinks::why_closed(const Record& record) const {
  if (!record.object || is_deleting(*record.object)) {
    return "is being removed";
  }
  if (record.object->spec.lost) {
    return "is declared lost";
  }
  if (record.object->spec.paused) {
    return "is paused";
  }
  if (record.worker == nullptr || !record.worker->usable() || !record.fed) {
    return "is not connected";
  }
  if (!is_registered(record)) {
    return "is being added: its finalizer and cluster ID are not written yet";
  }
  if (!is_lease_fresh(record)) {
    const std::string& problem = record.worker->lease_problem();
    return "has no fresh Lease of this hub" + (problem.empty() ? "" : ": " + problem);
  }
  return {};
}

std::string ClusterLinks::why_closed_to_training(const Record& record) const {
  if (!options_.training_jobs) {
    return "takes no TrainingJobs of this hub";
  }
  if (options_.submitters && record.object && record.object->spec.submitter != mc::kFixed) {
    return "creates copies as their submitters, and TrainingJobs have none on record; set its "
           "spec.submitter to Fixed";
  }
  return record.worker == nullptr ? "" : record.worker->training_problem();
}

void ClusterLinks::tell_clusters() {
  std::vector<queue::ClusterInfo> infos;
  if (!records_.empty() || !options_.local) {
    infos.push_back({.name = std::string(mc::kLocal),
                     .closed = options_.local ? "" : "is not used (--no-local)"});
  }
  for (const auto& [name, record] : records_) {
    queue::ClusterInfo info{.name = name,
                            .closed = why_closed(record),
                            .closed_to_training = why_closed_to_training(record)};
    if (record.object) {
      info.labels = record.object->metadata.labels;
      info.cost = record.object->spec.cost;
    }
    infos.push_back(std::move(info));
  }
  if (infos != driver_->queue().clusters()) {
    driver_->apply([&](queue::Queue& queue) { queue.set_clusters(std::move(infos)); });
  }
}

void ClusterLinks::tell_notes(const std::string& uid) {
  const auto at = notes_.find(uid);
  queue::ClusterNotes about = at == notes_.end() ? queue::ClusterNotes() : at->second.about;
  driver_->apply([&](queue::Queue& queue) { queue.set_cluster_notes(uid, std::move(about)); });
}

void ClusterLinks::end_notes() {
  const Instant now = env_.loop.now();
  for (auto& [uid, notes] : notes_) {
    const auto end = [now](auto& until, auto& names) {
      return std::erase_if(until, [&](const auto& each) {
               const bool over = now >= each.second;
               if (over) {
                 names.erase(each.first);
               }
               return over;
             }) > 0;
    };
    const bool in_again = end(notes.until, notes.about.out);
    const bool scales_again = end(notes.no_machines_until, notes.about.no_machines);
    if (in_again || scales_again) {
      tell_notes(uid);
    }
  }
}

Creation ClusterLinks::rule_out(const std::string& uid, const std::string& cluster,
                                std::string why) {
  if (metrics_ != nullptr) {
    metrics_->refused(cluster);
  }
  Notes& notes = notes_[uid];
  notes.until[cluster] = after(env_.loop.now(), options_.out_for);
  notes.about.out[cluster] = why;
  tell_notes(uid);
  return {Creation::Kind::elsewhere, "cluster " + cluster + " " + std::move(why)};
}

void ClusterLinks::avoid(const std::string& uid, const std::string& cluster) {
  if (metrics_ != nullptr) {
    metrics_->refused(cluster);
  }
  Notes& notes = notes_[uid];
  notes.about.last.insert(cluster);
  notes.about.no_machines.insert(cluster);
  notes.no_machines_until[cluster] = after(env_.loop.now(), options_.out_for);
  tell_notes(uid);
}

void ClusterLinks::forget(const std::string& uid) {
  notes_.erase(uid);
}

// --- who asks ---

std::shared_ptr<kube::Client> ClusterLinks::client(std::string_view cluster) const {
  const auto at = records_.find(cluster);
  return at == records_.end() || at->second.worker == nullptr ? nullptr
                                                              : at->second.worker->client();
}

std::vector<WorkerSeen> ClusterLinks::clusters() const {
  std::vector<WorkerSeen> seen;
  for (const auto& [name, record] : records_) {
    WorkerSeen each{.name = name};
    if (record.worker != nullptr) {
      each.connected = record.worker->usable();
      each.reason = record.worker->state().reason;
      each.message = record.worker->state().message;
    }
    seen.push_back(std::move(each));
  }
  return seen;
}

std::shared_ptr<ClusterLinks> add_links(runtime::Manager& manager, LinkOptions options) {
  return std::make_shared<ClusterLinks>(manager, std::move(options));
}

void start_links(runtime::Manager& manager, const std::shared_ptr<ClusterLinks>& links,
                 const std::shared_ptr<QueueDriver>& driver) {
  links->attach(*driver);
  manager.add_work([links, driver] { return links->run(); });
}

}  // namespace codeflare::controllers::dispatch
