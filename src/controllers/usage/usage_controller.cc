#include "controllers/usage/usage_controller.h"

#include "controllers/pods_type.h"
#include "json/merge_patch.h"
#include "json/parse.h"
#include "json/write.h"
#include "model/codec/core.h"
#include "model/codec/node.h"
#include "model/condition.h"
#include "model/training_job.h"
#include "model/usage_ledger.h"
#include "runtime/finalizer.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace codeflare::controllers::metering {

namespace {

using runtime::Action;
using runtime::Next;
using runtime::Plan;

const runtime::ResourceType kLedgers = model::resource_type<model::UsageLedger>();
const runtime::ResourceType kJobs = model::resource_type<model::TrainingJob>();
const runtime::ResourceType kNodes = model::resource_type<model::Node>();
const runtime::ResourceType kLeases = model::resource_type<model::Lease>();
const runtime::Finalizer kCounted(kPods, std::string(usage::kFinalizer));

constexpr const char* kNodeLeases = "kube-node-lease";
constexpr Duration kCatchUpPause = std::chrono::seconds(1);
// A node that is up tells the end of a pod that was deleted with grace 0 within this time.
constexpr Duration kNodeAnswers = std::chrono::seconds(60);
constexpr Duration kLookAgain = std::chrono::seconds(5);

std::string new_ledger(const model::ObjectKey& key) {
  std::string text;
  json::Writer w(text);
  w.begin_object().member("apiVersion", kLedgers.api_version()).member("kind", kLedgers.kind);
  w.key("metadata").begin_object().member("name", key.name).member("namespace", key.ns);
  w.end_object().end_object();
  return text;
}

// Rejected when somebody wrote since: totals are never added twice.
std::string status_patch(const kube::Object& object, const json::Value* before,
                         const usage::Ledger& after) {
  const Result<json::Document> status = json::parse(usage::ledger_text(after));
  const json::Value nothing{};
  const json::Document changes =
      json::merge_diff(before == nullptr ? nothing : *before, status->root);
  std::string text;
  json::Writer w(text);
  w.begin_object().key("metadata").begin_object().member("uid", object.uid());
  w.member("resourceVersion", object.resource_version()).end_object();
  w.key("status").value(changes.root).end_object();
  return text;
}

std::string job_patch(const kube::Object& job, const std::string& usage) {
  std::string text;
  json::Writer w(text);
  w.begin_object().key("metadata").begin_object().member("uid", job.uid()).end_object();
  w.key("status").begin_object().key("usage").raw(usage).end_object().end_object();
  return text;
}

std::string usage_of(const kube::Object& job) {
  const Result<json::Document> document = job.parse();
  const json::Value* usage = document ? document->root.get({"status", "usage"}) : nullptr;
  return usage == nullptr ? std::string() : json::to_text(*usage);
}

}  // namespace

UsageReconciler::UsageReconciler(const runtime::ControllerContext& context, UsageOptions options)
    : env_(context.env),
      client_(context.client),
      actor_(context.actor),
      options_(std::move(options)),
      ledgers_(context.subject.store()),
      jobs_(context.cache.informer(kJobs).store()),
      nodes_(context.cache.informer(kNodes).store()),
      pods_(context.cache.informer(kPods), [waker = context.waker](const std::string& ns) {
        waker.wake({ns, std::string(usage::kLedgerName)});
      }) {}

Task<Result<Next>> UsageReconciler::reconcile(runtime::ObjectKey key) {
  if (key.name != usage::kLedgerName) {
    co_return Next::await_change();
  }
  if (options_.caught_up && !options_.caught_up()) {
    co_return Next::after(kCatchUpPause);
  }
  CO_TRY(co_await actor_.ready(key));
  const std::vector<MeteredPod> pods = pods_.of(key.ns);
  const runtime::ObjectRef object = ledgers_.get(key);
  if (object == nullptr) {
    co_return co_await begin_ledger(std::move(key), pods);
  }
  CO_TRY_ASSIGN(const json::Document document, object->parse());
  const json::Value* status = document.root.find("status");
  usage::Ledger before;
  if (status != nullptr) {
    CO_TRY_ASSIGN(before, usage::read_ledger(*status));
  }
  CO_TRY_ASSIGN(const Look seen, co_await look(pods));
  usage::Step step = usage::count(before, seen.pods);
  usage::forget_old(step.ledger, live_jobs(key.ns));
  Plan plan;
  if (step.ledger != before) {
    plan.actions.push_back({.verb = Action::Verb::patch,
                            .type = kLedgers,
                            .key = key,
                            .body = status_patch(*object, status, step.ledger),
                            .why = "pods have ended or are let go",
                            .write = {.subresource = "status"}});
  }
  add_releases(key, pods, step.release, plan);
  add_job_usage(key.ns, step.ledger, plan);
  CO_TRY(co_await actor_.act(key, std::move(plan)));
  co_return seen.again ? Next::after(*seen.again) : Next::await_change();
}

// A ledger exists as long as its namespace has had metered pods. A namespace that is being deleted
// takes no new one, and must not wait for its pods.
Task<Result<Next>> UsageReconciler::begin_ledger(runtime::ObjectKey key,
                                                 std::vector<MeteredPod> pods) {
  if (pods.empty()) {
    co_return Next::await_change();
  }
  Result<kube::ObjectRef> made = co_await client_.create(kLedgers, key.ns, new_ledger(key));
  if (made || made.error().code == ErrorCode::already_exists) {
    co_return Next::await_change();  // its arrival wakes us
  }
  if (made.error().code != ErrorCode::permission_denied &&
      made.error().code != ErrorCode::not_found) {
    co_return fail(std::move(made).error());
  }
  Plan plan;
  std::vector<std::string> over;
  for (const MeteredPod& pod : pods) {
    if (pod.terminal || pod.may_go) {
      over.push_back(pod.uid);
    }
  }
  options_.logger.warn("pods are let go uncounted: the namespace takes no UsageLedger",
                       {{"namespace", key.ns}, {"pods", over.size()}, {"error", made.error()}});
  add_releases(key, pods, over, plan);
  CO_TRY(co_await actor_.act(key, std::move(plan)));
  co_return Next::after(kLookAgain);
}

Task<Result<Look>> UsageReconciler::look(std::vector<MeteredPod> pods) {
  Look look;
  const WallTime now = env_.clock.wall();
  for (const MeteredPod& pod : pods) {
    usage::ObservedPod observed{.uid = pod.uid,
                                .queue = pod.queue,
                                .job_uid = pod.job_uid,
                                .job_name = pod.job_name,
                                .is_over = pod.terminal || pod.may_go,
                                .units = pod.units};
    std::optional<WallTime> lost_at;
    if (observed.is_over && pod.times.running) {
      const bool waits = pod.deleted && now < *pod.deleted + kNodeAnswers && !is_lost(pod.node);
      if (waits) {
        observed.is_over = false;
        look.again = kLookAgain;
      } else {
        CO_TRY_ASSIGN(lost_at, co_await last_heartbeat(pod));
      }
    }
    if (observed.is_over) {
      observed.interval = usage::interval_of(pod.times, lost_at);
    }
    look.pods.push_back(std::move(observed));
  }
  co_return look;
}

bool UsageReconciler::is_lost(const std::string& node) const {
  const runtime::ObjectRef object = nodes_.get("", node);
  const Result<model::Node> found =
      object == nullptr ? fail(not_found(node)) : object->as<model::Node>();
  return !found || !model::is_condition_true(found->status.conditions, "Ready");
}

// The Lease of the node, else its Ready condition, else the pod's deletion.
Task<Result<WallTime>> UsageReconciler::last_heartbeat(MeteredPod pod) {
  const WallTime now = env_.clock.wall();
  Result<kube::ObjectRef> object = co_await client_.get(kLeases, {kNodeLeases, pod.node});
  if (!object && object.error().code != ErrorCode::not_found &&
      object.error().code != ErrorCode::permission_denied) {
    co_return fail(std::move(object).error());
  }
  if (object) {
    const Result<model::Lease> lease = (*object)->as<model::Lease>();
    if (lease && lease->spec.renew_time) {
      co_return std::min(lease->spec.renew_time->time, now);
    }
  }
  if (const runtime::ObjectRef node = nodes_.get("", pod.node)) {
    const Result<json::Document> document = node->parse();
    const json::Value* conditions =
        document ? document->root.get({"status", "conditions"}) : nullptr;
    for (const json::Value& condition :
         conditions == nullptr ? std::span<const json::Value>() : conditions->items()) {
      const Result<WallTime> beat = parse_rfc3339(condition.string_or_empty("lastHeartbeatTime"));
      if (condition.string_or_empty("type") == "Ready" && beat) {
        co_return std::min(*beat, now);
      }
    }
  }
  co_return pod.deleted ? std::min(*pod.deleted, now) : now;
}

std::set<std::string> UsageReconciler::live_jobs(const std::string& ns) const {
  std::set<std::string> uids;
  for (const runtime::ObjectRef& job : jobs_.list(ns)) {
    uids.emplace(job->uid());
  }
  return uids;
}

void UsageReconciler::add_releases(const runtime::ObjectKey& key,
                                   const std::vector<MeteredPod>& pods,
                                   const std::vector<std::string>& uids, Plan& plan) const {
  const std::set<std::string_view> chosen(uids.begin(), uids.end());
  for (const MeteredPod& pod : pods) {
    if (chosen.contains(pod.uid)) {
      Action action =
          kCounted.remove_from_any_version({key.ns, pod.name}, pod.uid, "the pod is in the ledger");
      action.together = true;
      plan.actions.push_back(std::move(action));
    }
  }
}

// The ledger is the truth; what a job shows follows, and may be written twice.
void UsageReconciler::add_job_usage(const std::string& ns, const usage::Ledger& ledger,
                                    Plan& plan) {
  std::map<std::string, std::string>& shown = shown_[ns];
  std::erase_if(shown, [&](const auto& one) { return !ledger.jobs.contains(one.first); });
  for (const auto& [uid, job] : ledger.jobs) {
    std::string text = usage::totals_text(job.totals);
    if (const auto found = shown.find(uid); found != shown.end() && found->second == text) {
      continue;
    }
    const runtime::ObjectRef object = jobs_.get({ns, job.name});
    if (object != nullptr && object->uid() == uid && usage_of(*object) != text) {
      plan.actions.push_back({.verb = Action::Verb::patch,
                              .type = kJobs,
                              .key = object->key(),
                              .body = job_patch(*object, text),
                              .why = "usage of the job has changed",
                              .write = {.subresource = "status"}});
      continue;  // remembered when it is seen
    }
    shown[uid] = std::move(text);
  }
}

UsageReconciler& add_usage_controller(runtime::Manager& manager, UsageOptions options) {
  return manager.controller("usage")
      .reconciles(kLedgers)
      .follows(kPods)
      .follows(kJobs)
      .follows(kNodes)
      .with<UsageReconciler>(std::move(options));
}

}  // namespace codeflare::controllers::metering
