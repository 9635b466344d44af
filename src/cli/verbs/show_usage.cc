#include "cli/verbs/show_usage.h"

#include "base/async/sleep.h"
#include "cli/session/output.h"
#include "cli/verbs/internal/session_flags.h"
#include "controllers/appwrapper/queue_lease.h"
#include "controllers/pods_type.h"
#include "controllers/trainingjob/names.h"
#include "controllers/usage/usage_pods.h"
#include "model/codec/core.h"
#include "model/codec/pod.h"
#include "model/usage_ledger.h"
#include "runtime/finalizer.h"

#include <chrono>
#include <map>
#include <memory>
#include <utility>

namespace codeflare::cli {

namespace {

using controllers::kPods;
using controllers::metering::metered_pod;
using controllers::metering::MeteredPod;

const model::ResourceType kLedgers = model::resource_type<model::UsageLedger>();
constexpr Duration kLookPause = std::chrono::seconds(1);

UsageBy by_of(const std::string& word) {
  return word == "queue" ? UsageBy::queue : word == "job" ? UsageBy::job : UsageBy::ns;
}

Task<Result<kube::ObjectList>> training_pods(Session& session, std::string ns) {
  kube::ListOptions options{.ns = std::move(ns),
                            .label_selector = std::string(controllers::trainingjob::kJobLabel)};
  co_return co_await session.client().list_all(kPods, std::move(options));
}

Task<Result<std::vector<NamespaceUsage>>> gather(Session& session, std::string ns) {
  Result<kube::ObjectList> ledgers = co_await session.client().list_all(kLedgers, {.ns = ns});
  if (!ledgers && ledgers.error().code == ErrorCode::not_found) {
    co_return fail(not_found(
        "the cluster does not serve UsageLedgers; run 'codeflare crds apply' and a controller"));
  }
  CO_TRY(ledgers);
  // A pod that is counted between the two reads is in neither; the next look has it.
  CO_TRY_ASSIGN(const kube::ObjectList pods, co_await training_pods(session, ns));
  std::map<std::string, NamespaceUsage> all;
  for (const kube::ObjectRef& object : ledgers->items) {
    if (object->name() != usage::kLedgerName) {
      continue;
    }
    CO_TRY_ASSIGN(const json::Document document, object->parse());
    NamespaceUsage& one = all[std::string(object->ns())];
    if (const json::Value* status = document.root.find("status")) {
      CO_TRY_ASSIGN(one.ledger, usage::read_ledger(*status));
    }
  }
  for (const kube::ObjectRef& object : pods.items) {
    const Result<model::Pod> read = object->as<model::Pod>();
    if (std::optional<MeteredPod> pod = read ? metered_pod(*read) : std::nullopt) {
      all[std::string(object->ns())].pods.push_back({.uid = std::move(pod->uid),
                                                     .queue = std::move(pod->queue),
                                                     .job = std::move(pod->job_name),
                                                     .times = pod->times,
                                                     .units = std::move(pod->units)});
    }
  }
  std::vector<NamespaceUsage> list;
  for (auto& [name, one] : all) {
    one.ns = name;
    list.push_back(std::move(one));
  }
  co_return list;
}

Task<Result<model::LeaseSpec>> queue_lease(Session& session, std::string ns) {
  const model::ObjectKey key{std::move(ns), std::string(controllers::kQueueLease)};
  Result<kube::ObjectRef> object =
      co_await session.client().get(model::resource_type<model::Lease>(), key);
  if (!object && object.error().code == ErrorCode::not_found) {
    co_return model::LeaseSpec();
  }
  CO_TRY(object);
  CO_TRY_ASSIGN(model::Lease lease, (*object)->as<model::Lease>());
  co_return std::move(lease.spec);
}

bool is_held(const model::LeaseSpec& lease, WallTime now) {
  const std::chrono::seconds duration(lease.lease_duration_seconds.value_or(0));
  return !lease.holder_identity.value_or("").empty() && lease.renew_time &&
         lease.renew_time->time + duration > now;
}

// The leader; empty: nobody. A controller that was just removed may hold the Lease still, but does
// not renew it.
Task<Result<std::string>> leader(Session& session, std::string ns) {
  CO_TRY_ASSIGN(const model::LeaseSpec first, co_await queue_lease(session, ns));
  model::LeaseSpec now = first;
  while (is_held(now, session.now())) {
    if (now.renew_time != first.renew_time) {
      co_return now.holder_identity.value_or("");
    }
    CO_TRY(co_await sleep_for(kLookPause));
    CO_TRY_ASSIGN(now, co_await queue_lease(session, ns));
  }
  co_return std::string();
}

// Nobody counts the pods any more: they must not wait for it.
Task<Result<std::string>> free_pods(Session& session, std::string controller_ns) {
  CO_TRY_ASSIGN(const std::string leads, co_await leader(session, std::move(controller_ns)));
  if (!leads.empty()) {
    co_return "nothing freed: the controller " + leads + " leads and counts the pods\n";
  }
  const runtime::Finalizer counted(kPods, std::string(usage::kFinalizer));
  CO_TRY_ASSIGN(const kube::ObjectList pods, co_await training_pods(session, ""));
  std::size_t freed = 0;
  for (const kube::ObjectRef& pod : pods.items) {
    if (!counted.on(*pod)) {
      continue;
    }
    runtime::Action action = counted.remove_from_any_version(pod->key(), pod->uid(), "");
    const Result<kube::ObjectRef> done = co_await session.client().patch(
        kPods, pod->key(), action.patch_kind, std::move(action.body));
    if (!done && done.error().code != ErrorCode::not_found) {
      co_return fail(done.error());
    }
    ++freed;
  }
  co_return std::to_string(freed) + (freed == 1 ? " pod" : " pods") +
      " freed; their usage since the last count is not in a ledger\n";
}

Task<Result<std::string>> usage_text(Session& session, UsageFlags flags) {
  if (flags.free_pods) {
    co_return co_await free_pods(session, flags.controller_ns);
  }
  std::optional<std::string> since;
  if (!flags.since.empty()) {
    CO_TRY_ASSIGN(since, since_day(flags.since, session.now()));
  }
  const UsageBy by = by_of(flags.by);
  CO_TRY_ASSIGN(const std::vector<NamespaceUsage> all,
                co_await gather(session, flags.all_namespaces ? "" : session.ns()));
  CO_TRY_ASSIGN(const std::vector<UsageRow> rows, usage_rows(all, by, since, session.now()));
  if (flags.output == "csv") {
    co_return usage_csv(rows, by);
  }
  if (flags.output == "json") {
    co_return usage_json(rows, by);
  }
  if (rows.empty()) {
    session.console().err("no usage" +
                          (flags.all_namespaces
                               ? std::string()
                               : " in namespace " + session.ns() + "; use -A for all namespaces") +
                          "\n");
  }
  co_return usage_table(rows, by);
}

void add_options(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<internal::Typed<UsageFlags>>();
  UsageFlags& flags = typed->flags;
  verb.add_option("--by", flags.by, "sum of each namespace, queue or job")
      ->check(CLI::IsMember({"namespace", "queue", "job"}))
      ->type_name("WHAT")
      ->capture_default_str();
  verb.add_option("--since", flags.since,
                  "first UTC day that counts: YYYY-MM-DD, or a number of days such as 7d "
                  "(default: all)")
      ->type_name("DAY");
  verb.add_flag("-A,--all-namespaces", flags.all_namespaces, "all namespaces");
  verb.add_flag("--free-pods", flags.free_pods,
                "let all pods go that wait to be counted, unless a controller leads");
  internal::add_controller_ns(verb, flags.controller_ns);
  verb.add_option("-o,--output", flags.output, "output format: csv, json")
      ->check(CLI::IsMember({"csv", "json"}))
      ->type_name("FORM");
  internal::finish(verb, chosen, typed, run_usage, {});
}

}  // namespace

constinit const Verb kUsageVerb = {
    .word = "usage",
    .about = "Show what TrainingJobs have used, in units times seconds",
    .examples = "codeflare usage\n  codeflare usage -A --by queue --since 30d -o csv",
    .add = add_options};

Task<int> run_usage(Session& session, UsageFlags flags) {
  const Result<std::string> text = co_await usage_text(session, std::move(flags));
  if (!text) {
    co_return report(session.console(), text.error());
  }
  session.console().out(*text);
  co_return kDone;
}

}  // namespace codeflare::cli
