#include "cli/gather/explain.h"

#include "cli/gather/find_wrapper.h"
#include "cli/gather/leaving_pods.h"
#include "cli/gather/queue_state.h"
#include "cli/gather/view_api.h"
#include "cli/gather/work.h"
#include "cli/gather/wrappers.h"
#include "cli/views/kinds.h"
#include "cli/views/queue_view.h"
#include "json/value.h"
#include "model/codec/machines.h"
#include "model/codec/node.h"
#include "model/codec/pod.h"
#include "model/codec/quota_subtree.h"
#include "model/codec/training_job.h"
#include "model/node.h"
#include "model/pod.h"
#include "model/quota_subtree.h"
#include "model/resources.h"
#include "queue/adopted_pods.h"
#include "queue/machines.h"
#include "queue/market.h"
#include "queue/marks.h"
#include "queue/queue.h"
#include "queue/quota_scope.h"
#include "queue/report.h"
#include "queue/status_words.h"

#include <utility>

namespace codeflare::cli {

namespace {

constexpr int kStepsMax = 1000;

// All that the queue of a cluster is made of.
struct ClusterObjects {
  std::vector<kube::ObjectRef> nodes;
  std::vector<kube::ObjectRef> pods;
  std::vector<kube::ObjectRef> quota_trees;
  std::vector<kube::ObjectRef> resource_quotas;
  std::vector<GroupedWrapper> wrappers;  // of both groups
  std::vector<model::TrainingJob> training_jobs;
  std::vector<model::MachineType> machine_types;
  std::vector<model::MachineRequest> machine_requests;
};

// The objects of one kind in all namespaces, or why they could not be seen. A kind that the server
// does not have has no objects.
struct Gathered {
  std::vector<kube::ObjectRef> objects;
  std::string missing;
};

Task<Gathered> gather_one(Session& session, model::ResourceType type) {
  const std::string name = type.qualified_name();
  Result<kube::ObjectList> list = co_await session.client().list_all(std::move(type), {});
  if (list) {
    co_return Gathered{std::move(list->items), ""};
  }
  if (list.error().code == ErrorCode::not_found) {
    co_return Gathered{};
  }
  co_return Gathered{{}, name + " of all namespaces: " + list.error().message};
}

model::ResourceType resource_quotas() {
  return {.group = "", .version = "v1", .kind = "ResourceQuota", .plural = "resourcequotas"};
}

struct Gathering {
  ClusterObjects objects;
  std::vector<std::string> missing;
  // There is enough to make a queue of.
  bool enough = true;
};

void add_wrappers(const KnownKind& kind, const std::vector<kube::ObjectRef>& objects,
                  std::vector<GroupedWrapper>& to) {
  for (const kube::ObjectRef& object : objects) {
    if (Result<GroupedWrapper> wrapper = decode_wrapper(kind, object)) {
      to.push_back(*std::move(wrapper));
    }
  }
}

// Most clusters do not have them, and where they do not nobody may list them. `needed`: tell of it.
Task<void> gather_training_jobs(Session& session, Gathering& all, bool needed) {
  Gathered found = co_await gather_one(session, model::resource_type<model::TrainingJob>());
  for (const kube::ObjectRef& object : found.objects) {
    if (Result<model::TrainingJob> job = object->as<model::TrainingJob>()) {
      all.objects.training_jobs.push_back(*std::move(job));
    }
  }
  if (needed && !found.missing.empty()) {
    all.missing.push_back(std::move(found.missing));
    all.enough = false;
  }
}

// Clusters without them add no machines, and nobody has to see them.
template <typename T>
Task<std::vector<T>> gather_machines(Session& session) {
  const Gathered found = co_await gather_one(session, model::resource_type<T>());
  std::vector<T> all;
  for (const kube::ObjectRef& object : found.objects) {
    if (Result<T> each = object->as<T>()) {
      all.push_back(*std::move(each));
    }
  }
  co_return all;
}

// For one of MCAD's group or of ours.
Task<Gathering> gather(Session& session, model::WrapperApi api, bool for_training = false) {
  ProgressLine progress(session.console());
  progress.show("reading nodes, pods, AppWrappers and quota");
  Gathering all;
  const auto take = [&](Gathered part, std::vector<kube::ObjectRef>& to, bool needed) {
    to = std::move(part.objects);
    if (!part.missing.empty()) {
      all.missing.push_back(std::move(part.missing));
      all.enough = all.enough && !needed;
    }
  };
  std::vector<kube::ObjectRef> wrappers;
  take(co_await gather_one(session, model::resource_type<model::Node>()), all.objects.nodes, true);
  take(co_await gather_one(session, model::resource_type<model::Pod>()), all.objects.pods, true);
  take(co_await gather_one(session, app_wrapper_kind().type), wrappers, true);
  add_wrappers(app_wrapper_kind(), wrappers, all.objects.wrappers);
  take(co_await gather_one(session, model::resource_type<model::QuotaSubtree>()),
       all.objects.quota_trees, false);
  take(co_await gather_one(session, resource_quotas()), all.objects.resource_quotas, false);
  // Most clusters do not have them, and where they do not nobody may list them.
  Gathered others = co_await gather_one(session, legacy_app_wrapper_kind().type);
  if (api != model::WrapperApi::mcad_v1beta1) {
    others.missing.clear();
  }
  take(std::move(others), wrappers, true);
  add_wrappers(legacy_app_wrapper_kind(), wrappers, all.objects.wrappers);
  co_await gather_training_jobs(session, all, for_training);
  all.objects.machine_types = co_await gather_machines<model::MachineType>(session);
  all.objects.machine_requests = co_await gather_machines<model::MachineRequest>(session);
  co_return all;
}

queue::Queue queue_from(const ClusterObjects& objects, const queue::Settings& settings,
                        WallTime now) {
  queue::Queue queue({.core = queue::core_options(settings), .user_check = true});
  for (const kube::ObjectRef& object : objects.nodes) {
    if (const Result<model::Node> node = object->as<model::Node>()) {
      queue.upsert_node(*node);
    }
  }
  for (const kube::ObjectRef& object : objects.quota_trees) {
    const Result<model::QuotaSubtree> tree = object->as<model::QuotaSubtree>();
    if (tree && settings.quota_trees) {
      queue.upsert_quota(*tree);
    }
  }
  for (const kube::ObjectRef& object : objects.resource_quotas) {
    const Result<json::Document> document = object->parse();
    if (const auto rule = document ? queue::quota_rule(document->root) : std::nullopt) {
      queue.set_resource_quota(object->key(), *rule);
    }
  }
  queue::AdoptedPods adopted;
  for (const GroupedWrapper& wrapper : objects.wrappers) {
    adopted.learn(wrapper);
    add_to_queue(queue, wrapper, now);
  }
  for (const model::TrainingJob& job : objects.training_jobs) {
    // A job with a wrong spec waits for its owner, not in line.
    static_cast<void>(queue.upsert(job, now));
  }
  for (const kube::ObjectRef& object : objects.pods) {
    if (Result<model::Pod> pod = object->as<model::Pod>()) {
      adopted.mark(*pod);
      queue.upsert_pod(*pod);
    }
  }
  // As far as the controller would go now: then everybody who still waits has a reason.
  for (int i = 0; i < kStepsMax && queue.step(now).more; ++i) {
  }
  queue::MarketRules rules{.machines = settings.max_scaleout,
                           .budget = settings.scale_budget,
                           .namespace_budget = settings.scale_namespace_budget};
  if (rules.machines) {
    rules.machines_name = "--max-scaleout " + std::to_string(*rules.machines);
  }
  const queue::MachineMarket market =
      queue::market_of(objects.machine_types, objects.machine_requests, rules);
  queue.set_machine_notes(queue.plan_machines(market, now).notes);
  return queue;
}

std::int64_t position_among(const std::vector<GroupedWrapper>& all, const std::string& uid,
                            const queue::Settings& settings, WallTime now) {
  for (const QueueView::Entry& entry : queue_of(all, settings, false, now).entries) {
    if (entry.view.uid == uid) {
      return entry.position;
    }
  }
  return 0;
}

Task<void> add_work(Session& session, Explained& explained) {
  GroupedWrapper wrapper = explained.wrapper;
  Result<Work> work = co_await gather_work(session, std::move(wrapper));
  if (work) {
    explained.work = *std::move(work);
  } else if (explained.missing.empty()) {
    explained.missing.push_back("pods: " + work.error().message);
  }
}

}  // namespace

Task<Result<Explained>> gather_explanation(Session& session, KnownKind kind,
                                           ExplainOptions options) {
  Explained explained;
  CO_TRY_ASSIGN(
      const FoundWrapper found,
      co_await find_wrapper(session, std::move(kind), std::move(options.name), Use::read));
  CO_TRY_ASSIGN(explained.wrapper, decode_wrapper(found.kind, found.object));
  if (explained.wrapper.metadata.deleting()) {
    GroupedWrapper wrapper = explained.wrapper;
    Result<std::vector<std::string>> pods = co_await leaving_pods(session, std::move(wrapper));
    if (pods) {
      explained.leaving = *std::move(pods);
    } else {
      explained.missing.push_back("pods: " + pods.error().message);
    }
  }
  if (!view_of(explained.wrapper).waits) {
    co_await add_work(session, explained);
    co_return explained;
  }
  explained.controller_ns = options.controller_ns;
  model::ObjectMeta about = explained.wrapper.metadata;
  if (auto live = co_await ask_explanation(session, "appwrappers", std::move(about));
      live && live->report) {
    explained.live = true;
    explained.paused = live->paused;
    explained.outside = live->report->outside;
    explained.report = std::move(live->report);
    co_return explained;
  }
  const QueueNote note = co_await read_note(session, std::move(options.controller_ns));
  // Without the right to read it, the status has the controller's word.
  explained.paused =
      note.paused || (!note.unseen.empty() &&
                      view_of(explained.wrapper).reason == queue::word(queue::Reason::paused));
  Gathering gathered = co_await gather(session, explained.wrapper.api);
  explained.missing = std::move(gathered.missing);
  if (!note.unseen.empty()) {
    explained.missing.push_back("settings of the controller, defaults are used: " + note.unseen);
  }
  const WallTime now = session.now();
  const std::string& uid = explained.wrapper.metadata.uid;
  explained.position = position_among(gathered.objects.wrappers, uid, note.settings, now);
  if (!gathered.enough) {
    co_return explained;
  }
  queue::Queue queue = queue_from(gathered.objects, note.settings, now);
  Result<queue::Report> report = queue::explain(queue, uid, now);
  if (report) {
    explained.outside = report->outside;
    explained.report = *std::move(report);
  } else {
    explained.missing.push_back("placement: " + report.error().message);
  }
  co_return explained;
}

Task<Result<ExplainedTraining>> explain_training(Session& session, ExplainOptions options) {
  ExplainedTraining explained;
  CO_TRY_ASSIGN(const kube::ObjectRef object,
                co_await session.client().get(model::resource_type<model::TrainingJob>(),
                                              {session.ns(), std::move(options.name)}));
  CO_TRY_ASSIGN(explained.job, object->as<model::TrainingJob>());
  if (queue::is_finished(explained.job.status)) {
    co_return explained;
  }
  const std::string wrapper = queue::wrapper_of(explained.job);
  std::optional<LiveExplanation> live;
  // Inside an AppWrapper that one is in the queue.
  if (wrapper.empty()) {
    model::ObjectMeta about = explained.job.metadata;
    live = co_await ask_explanation(session, "trainingjobs", std::move(about));
  }
  if (live) {
    explained.planned = live->planned;
    explained.growth = std::move(live->growth);
    explained.shrinks_for = std::move(live->shrinks_for);
    explained.report = std::move(live->report);
    explained.grown = std::move(live->grown);
    co_return explained;
  }
  const QueueNote note = co_await read_note(session, std::move(options.controller_ns));
  Gathering gathered = co_await gather(session, model::WrapperApi::workload_v1beta1, true);
  explained.missing = std::move(gathered.missing);
  if (!note.unseen.empty()) {
    explained.missing.push_back("settings of the controller, defaults are used: " + note.unseen);
  }
  const std::string uid = wrapper.empty() ? explained.job.metadata.uid : wrapper;
  for (const model::TrainingJob& job : gathered.objects.training_jobs) {
    const std::int64_t min = queue::sizes_of(job.spec).min;
    if (job.metadata.uid != explained.job.metadata.uid && job.status.current_size > min) {
      explained.grown.push_back({.ns = job.metadata.ns,
                                 .name = job.metadata.name,
                                 .size = job.status.current_size,
                                 .min = min,
                                 .priority = job.spec.priority});
    }
  }
  if (!gathered.enough) {
    co_return explained;
  }
  const WallTime now = session.now();
  queue::Queue queue = queue_from(gathered.objects, note.settings, now);
  if (const auto size = queue.size(uid); size && size->planned > 0) {
    explained.planned = size->planned;
    explained.growth = queue.growth_sentence(uid, now);
    explained.shrinks_for = queue.standing(uid).shrinks_for;
  } else if (Result<queue::Report> report = queue::explain(queue, uid, now)) {
    explained.report = *std::move(report);
  } else if (report.error().code != ErrorCode::not_found) {
    explained.missing.push_back("placement: " + report.error().message);
  }
  co_return explained;
}

Task<std::map<std::string, WallTime>> expected_starts(Session& session, queue::Settings settings) {
  // Each costs a replay of the line.
  constexpr std::size_t kEstimatesMax = 50;
  std::map<std::string, WallTime> starts;
  Gathering gathered = co_await gather(session, model::WrapperApi::workload_v1beta1);
  if (!gathered.enough) {
    co_return starts;
  }
  const WallTime now = session.now();
  queue::Queue queue = queue_from(gathered.objects, settings, now);
  for (const queue::WorkId& id : queue.line(now, kEstimatesMax)) {
    const auto gang = queue.gang(id.uid);
    if (!gang) {
      continue;
    }
    const Result<sched::Estimate> estimate = queue.core().estimate(*gang, now);
    if (estimate && estimate->start) {
      starts.emplace(id.uid, *estimate->start);
    }
  }
  co_return starts;
}

}  // namespace codeflare::cli
