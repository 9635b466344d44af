#include "cli/verbs/cluster.h"

#include "base/async/sleep.h"
#include "base/base64.h"
#include "base/go_duration.h"
#include "cli/gather/clusters.h"
#include "cli/gather/wrappers.h"
#include "cli/session/output.h"
#include "cli/verbs/internal/hub_account.h"
#include "cli/verbs/internal/session_flags.h"
#include "cli/views/kinds.h"
#include "cli/views/managed_cluster_view.h"
#include "json/parse.h"
#include "json/write.h"
#include "kube/connect.h"
#include "kube/ensure_namespace.h"
#include "model/codec/managed_cluster.h"
#include "model/codec/training_job.h"
#include "model/managed_cluster.h"
#include "model/namespace.h"
#include "model/secret.h"
#include "model/validation.h"
#include "queue/marks.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

namespace codeflare::cli {

namespace {

namespace managed = model::managed_cluster;
using internal::apply_and_tell;
using Typed = internal::Typed<ClusterFlags>;

constexpr Duration kGoneWithin = std::chrono::seconds(30);
constexpr Duration kLookForWork = std::chrono::seconds(2);
constexpr Duration kLook = std::chrono::milliseconds(200);
constexpr std::string_view kTrainingJobPrefix = "TrainingJob ";

model::ResourceType clusters_type() {
  return model::resource_type<model::ManagedCluster>();
}
model::ResourceType secrets_type() {
  return model::resource_type<model::Secret>();
}
model::ObjectKey secret_key(const std::string& cluster) {
  return {std::string(queue::kControllerNamespace), "cluster-" + cluster};
}

// --- what was typed ---

void add_name(CLI::App& verb, const std::shared_ptr<Typed>& typed) {
  verb.add_option("NAME", typed->flags.name, "name of the worker cluster")->required();
}

void add_add(CLI::App& cluster, Chosen& chosen) {
  CLI::App* verb = cluster.add_subcommand("add", "Put a worker cluster behind this queue");
  auto typed = std::make_shared<Typed>();
  add_name(*verb, typed);
  verb->add_option("--from", typed->flags.from,
                   "kubeconfig of the worker, with the right to create roles there")
      ->required()
      ->type_name("FILE");
  verb->add_option("--from-context", typed->flags.from_context,
                   "context of that file (default: the current one)")
      ->type_name("NAME");
  verb->add_option("--label", typed->flags.labels,
                   "label that AppWrappers select clusters by; may be repeated")
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE");
  verb->add_option("--cost", typed->flags.cost, "cost; cheaper clusters first (default 0)")
      ->check(CLI::NonNegativeNumber)
      ->type_name("N");
  verb->add_flag("--create-namespaces", typed->flags.create_namespaces,
                 "create missing namespaces on the worker (default: skip the cluster)");
  verb->add_option("--redispatch-after", typed->flags.lost_after,
                   "start work elsewhere when the worker is silent for so long, at least 1m "
                   "(default: wait for the worker)")
      ->type_name("DURATION");
  verb->footer("Example:\n  codeflare cluster add east --from east.kubeconfig --label region=east");
  internal::finish(*verb, chosen, typed, run_cluster_add, {});
}

void add_options(CLI::App& cluster, Chosen& chosen) {
  cluster.require_subcommand(1);
  add_add(cluster, chosen);
  CLI::App* list = cluster.add_subcommand("list", "List worker clusters");
  list->footer("Example:\n  codeflare cluster list -o wide");
  internal::finish(*list, chosen, std::make_shared<Typed>(), run_cluster_list);
  CLI::App* drain =
      cluster.add_subcommand("drain",
                             "Send no new work to a cluster; running work continues or, "
                             "with --evict, is queued again");
  auto drained = std::make_shared<Typed>();
  add_name(*drain, drained);
  drain->add_flag("--undo", drained->flags.undo, "send work there again");
  drain->add_flag("--evict", drained->flags.evict,
                  "queue running work again; it starts anew on another cluster");
  drain->add_flag("--wait", drained->flags.wait, "wait until no AppWrapper is left there");
  drain->footer("Example:\n  codeflare cluster drain east --evict --wait");
  internal::finish(*drain, chosen, drained, run_cluster_drain, {});
  CLI::App* remove = cluster.add_subcommand("remove", "Remove a worker cluster");
  auto removed = std::make_shared<Typed>();
  add_name(*remove, removed);
  remove->add_flag("--lost", removed->flags.lost,
                   "the cluster will not come back: queue its work again. Work that still runs "
                   "there then runs twice");
  remove->footer("Example:\n  codeflare cluster remove east");
  internal::finish(*remove, chosen, removed, run_cluster_remove, {});
}

// --- checks of `add` ---

Result<model::StringMap> read_labels(const std::vector<std::string>& typed) {
  model::StringMap labels;
  for (const std::string& each : typed) {
    const std::size_t equals = each.find('=');
    if (equals == 0 || equals == std::string::npos) {
      return fail(invalid_argument("--label \"" + each + "\": expected KEY=VALUE"));
    }
    labels.insert_or_assign(each.substr(0, equals), each.substr(equals + 1));
  }
  return labels;
}

Result<void> check_name(const std::string& name) {
  const model::Complaints complaints = model::check_dns1123_label(name);
  if (!complaints.empty()) {
    return fail(invalid_argument("cluster name \"" + name + "\": " + complaints.front()));
  }
  if (name == managed::kLocal) {
    return fail(
        invalid_argument("cluster name \"local\" means the hub's own cluster; choose another"));
  }
  return {};
}

Result<void> check_lost_after(const std::string& text) {
  const std::optional<Duration> duration = go_duration(text);
  if (!text.empty() && (!duration || *duration < std::chrono::minutes(1))) {
    return fail(invalid_argument("--redispatch-after \"" + text +
                                 "\": expected a duration of at least 1m, such as 15m"));
  }
  return {};
}

// Tells clusters apart: the UID of kube-system. Empty when it may not be read.
Task<std::string> identity_of(kube::Client& client) {
  const Result<kube::ObjectRef> ns =
      co_await client.get(model::resource_type<model::Namespace>(), {"", "kube-system"});
  co_return ns ? std::string((*ns)->uid()) : std::string();
}

Task<Result<void>> check_clusters(Session& hub, kube::Client& worker) {
  const Result<kube::ObjectList> managed_here =
      co_await hub.client().list(clusters_type(), {.limit = 1});
  if (!managed_here && managed_here.error().code == ErrorCode::not_found) {
    co_return fail(failed_precondition(
        "this cluster does not serve ManagedClusters; run 'codeflare crds' and apply them, or "
        "start its controller with --install-crds"));
  }
  if (!managed_here) {
    co_return fail(managed_here.error());
  }
  const Result<kube::ObjectList> wrappers =
      co_await worker.list(app_wrapper_kind().type, {.limit = 1});
  if (!wrappers && wrappers.error().code == ErrorCode::not_found) {
    co_return fail(failed_precondition(
        "the worker does not serve AppWrappers; run 'codeflare controller --install-crds' there"));
  }
  if (!wrappers) {
    co_return fail(Error(wrappers.error()).with_context("worker"));
  }
  const std::string here = co_await identity_of(hub.client());
  if (!here.empty() && here == co_await identity_of(worker)) {
    co_return fail(invalid_argument(
        "the kubeconfig of --from leads to the hub itself; its own cluster is \"local\" already"));
  }
  co_return Result<void>();
}

std::string secret_text(const std::string& cluster, const Secret& kubeconfig) {
  const model::ObjectKey key = secret_key(cluster);
  std::string text;
  json::Writer w(text);
  w.begin_object().member("apiVersion", "v1").member("kind", "Secret");
  w.key("metadata").begin_object().member("name", key.name).member("namespace", key.ns);
  w.key("labels").begin_object().member("app.kubernetes.io/managed-by", "codeflare-cluster");
  w.end_object().end_object().member("type", "Opaque").key("data").begin_object();
  w.member(managed::kSecretKey, to_base64(kubeconfig.reveal())).end_object().end_object();
  return text;
}

std::string cluster_text(const ClusterFlags& flags, const model::StringMap& labels) {
  model::ManagedCluster cluster;
  cluster.metadata.name = flags.name;
  cluster.metadata.labels = labels;
  cluster.spec.kubeconfig_secret = secret_key(flags.name).name;
  cluster.spec.cost = flags.cost;
  if (flags.create_namespaces) {
    cluster.spec.namespaces = managed::kCreate;
  }
  if (!flags.lost_after.empty()) {
    cluster.spec.on_lost = managed::kRedispatch;
    cluster.spec.lost_after = flags.lost_after;
  }
  return model::to_json_text(cluster);
}

// --- work on a cluster ---

std::string joined(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 10;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  return names.size() <= kShown ? text
                                : text + " and " + std::to_string(names.size() - kShown) + " more";
}

// TrainingJobs with a plan there: "TrainingJob team/train (Running)".
Task<Result<std::vector<std::string>>> training_on(Session& hub, std::string cluster) {
  const Result<kube::ObjectList> list =
      co_await hub.client().list_all(model::resource_type<model::TrainingJob>(), {});
  if (!list && list.error().code != ErrorCode::not_found) {
    co_return fail(list.error());
  }
  std::vector<std::string> names;
  for (const kube::ObjectRef& object : list ? list->items : std::vector<kube::ObjectRef>()) {
    const Result<model::TrainingJob> job = object->as<model::TrainingJob>();
    if (job && job->status.plan && !job->status.plan->places.empty() &&
        managed::cluster_of_node(job->status.plan->places.front().node) == cluster) {
      names.push_back(std::string(kTrainingJobPrefix) + object->key().to_string() + " (" +
                      job->status.stage + ")");
    }
  }
  co_return names;
}

// Work with a plan there: "team/train (Running)".
Task<Result<std::vector<std::string>>> work_on(Session& hub, std::string cluster) {
  CO_TRY_ASSIGN(const WrapperList list, co_await list_groups(hub, app_wrapper_kind(), "", ""));
  std::vector<std::string> names;
  for (const GroupedWrapper& wrapper : list.wrappers) {
    if (const WrapperView view = view_of(wrapper); view.cluster == cluster) {
      names.push_back(view.full_name() + " (" + view.state + ")");
    }
  }
  CO_TRY_ASSIGN(const std::vector<std::string> training,
                co_await training_on(hub, std::move(cluster)));
  names.insert(names.end(), training.begin(), training.end());
  co_return names;
}

// "2 AppWrappers and 1 TrainingJob"
std::string count_text(const std::vector<std::string>& work) {
  const auto training = std::ranges::count_if(
      work, [](const std::string& each) { return each.starts_with(kTrainingJobPrefix); });
  std::string text;
  for (const auto& [count, kind] : {std::pair(std::ssize(work) - training, " AppWrapper"),
                                    std::pair(std::ptrdiff_t{training}, " TrainingJob")}) {
    if (count > 0) {
      text +=
          (text.empty() ? "" : " and ") + std::to_string(count) + kind + (count == 1 ? "" : "s");
    }
  }
  return text;
}

// --- the end of a cluster ---

// Names the cost of `remove --lost`.
std::string loss_text(const kube::ObjectRef& object, const std::vector<std::string>& work) {
  if (work.empty()) {
    return "the cluster has no AppWrappers; nothing runs twice\n";
  }
  const std::string seen = object->string_at({"status", "lastSeen"});
  const std::string fence = object->string_at({"status", "fence"});
  std::string text = "warning: " + count_text(work) + " of the cluster will be queued again" +
                     (seen.empty() ? "" : " (the cluster last answered at " + seen + ")") + ": " +
                     joined(work) + "\n";
  text +=
      "warning: those that still run there run twice, and what they write may be lost or mixed\n";
  if (!fence.empty()) {
    text += "note: the cluster stops them itself " + fence +
            " after its last contact with the hub, if its controller runs\n";
  }
  return text;
}

Task<Result<bool>> wait_until_gone(Session& hub, std::string name) {
  const Instant until = after(hub.env().loop.now(), kGoneWithin);
  while (true) {
    const Result<kube::ObjectRef> there = co_await hub.client().get(clusters_type(), {"", name});
    if (!there) {
      co_return there.error().code == ErrorCode::not_found ? Result<bool>(true)
                                                           : fail(there.error());
    }
    if (hub.env().loop.now() >= until) {
      co_return false;
    }
    CO_TRY(co_await sleep_for(kLook));
  }
}

// As long as it takes: running work ends when it ends.
Task<Result<void>> wait_until_empty(Session& hub, std::string name) {
  while (true) {
    std::string cluster = name;
    CO_TRY_ASSIGN(const std::vector<std::string> work, co_await work_on(hub, std::move(cluster)));
    if (work.empty()) {
      co_return Result<void>();
    }
    CO_TRY(co_await sleep_for(kLookForWork));
  }
}

// With the credentials that `add` made. Errors are printed: the cluster may be gone.
Task<Result<bool>> leave_worker(Session& hub, std::string name) {
  const Result<kube::ObjectRef> secret =
      co_await hub.client().get(secrets_type(), secret_key(name));
  if (!secret) {
    co_return secret.error().code == ErrorCode::not_found ? Result<bool>(false)
                                                          : fail(secret.error());
  }
  CO_TRY_ASSIGN(const std::string text,
                from_base64((*secret)->string_at({"data", managed::kSecretKey})));
  CO_TRY_ASSIGN(const kube::Kubeconfig kubeconfig,
                kube::parse_kubeconfig(text, "Secret " + secret_key(name).name));
  CO_TRY_ASSIGN(kube::Config config, kube::resolve_config(hub.env().files, kubeconfig));
  CO_TRY_ASSIGN(const std::unique_ptr<kube::Connection> connection,
                kube::connect(hub.env(), std::move(config)));
  kube::Client worker(hub.env(), connection->service(), {.transport_attempts_max = 2});
  co_return co_await internal::remove_hub_account(worker, std::move(name));
}

// Removes what `add` made, on the worker and here.
Task<int> clean_up(Session& hub, std::string name) {
  const std::string account = internal::hub_account_name(name);
  std::string worker = name;
  const Result<bool> left = co_await leave_worker(hub, std::move(worker));
  if (!left) {
    hub.console().err("note: the hub's account stays on the worker: " + left.error().message +
                      "; run 'kubectl delete clusterrole " + account + "' there\n");
  } else if (*left) {
    hub.console().out("clusterrole " + account + " deleted on the worker, with its account\n");
  }
  const Result<kube::ObjectRef> gone =
      co_await hub.client().remove(secrets_type(), secret_key(name));
  if (gone) {
    hub.console().out("secret codeflare-system/" + secret_key(name).name + " deleted\n");
  } else if (gone.error().code != ErrorCode::not_found) {
    co_return report(hub.console(), gone.error());
  }
  co_return kDone;
}

}  // namespace

constinit const Verb kCluster = {
    .word = "cluster",
    .about = "Add, list, drain and remove worker clusters behind this queue",
    .examples = "codeflare cluster add east --from east.kubeconfig",
    .add = add_options};

Task<int> run_cluster_add(Session& hub, ClusterFlags flags) {
  Result<kube::Config> config =
      kube::load_config(hub.env(), {.explicit_path = flags.from, .context = flags.from_context});
  if (!config) {
    // A problem of the file is a mistake of the command line.
    co_return report(hub.console(), invalid_argument(config.error().message), "--from");
  }
  Result<std::unique_ptr<kube::Connection>> connection = kube::connect(hub.env(), *config);
  if (!connection) {
    co_return report(hub.console(), connection.error(), "--from");
  }
  kube::Client worker(hub.env(), (*connection)->service());
  co_return co_await add_cluster(hub, {.client = worker, .config = *config}, std::move(flags));
}

Task<int> add_cluster(Session& hub, Worker worker, ClusterFlags flags) {
  const Result<model::StringMap> labels = read_labels(flags.labels);
  if (!labels) {
    co_return report_usage(hub.console(), labels.error().message);
  }
  if (const Result<void> good = check_name(flags.name); !good) {
    co_return report_usage(hub.console(), good.error().message);
  }
  if (const Result<void> good = check_lost_after(flags.lost_after); !good) {
    co_return report_usage(hub.console(), good.error().message);
  }
  if (const Result<void> good = co_await check_clusters(hub, worker.client); !good) {
    co_return report(hub.console(), good.error());
  }
  std::string name = flags.name;
  const Result<internal::HubToken> token = co_await internal::make_hub_account(
      worker.client, std::move(name), flags.create_namespaces,
      [&](const std::string& what) { hub.console().out("worker: " + what + "\n"); });
  if (!token) {
    co_return report(hub.console(), token.error(), "worker");
  }
  const Secret kubeconfig = internal::hub_kubeconfig(worker.config, flags.name, *token);
  const auto told = [&](const std::string& what) { hub.console().out("hub: " + what + "\n"); };
  if (const Result<void> made =
          co_await kube::ensure_namespace(hub.client(), secret_key(flags.name).ns);
      !made) {
    co_return report(hub.console(), made.error());
  }
  const Result<kube::ObjectRef> secret =
      co_await apply_and_tell(hub.client(), secrets_type(), secret_key(flags.name),
                              secret_text(flags.name, kubeconfig), told);
  if (!secret) {
    co_return report(hub.console(), secret.error());
  }
  const Result<kube::ObjectRef> cluster = co_await apply_and_tell(
      hub.client(), clusters_type(), {"", flags.name}, cluster_text(flags, *labels), told);
  if (!cluster) {
    co_return report(hub.console(), cluster.error());
  }
  if (token->expires) {
    hub.console().out("the token of the hub's account ends at " + to_rfc3339(*token->expires) +
                      "; run the same command again before\n");
  }
  hub.console().out("cluster " + flags.name + " added; run 'codeflare cluster list' to see it\n");
  co_return kDone;
}

Task<int> run_cluster_list(Session& hub, ClusterFlags /*flags*/) {
  const Result<kube::ObjectList> list = co_await hub.client().list_all(clusters_type(), {});
  if (!list && list.error().code != ErrorCode::not_found) {
    co_return report(hub.console(), list.error());
  }
  const std::vector<kube::ObjectRef> items = list ? list->items : std::vector<kube::ObjectRef>();
  if (!is_table(hub.output())) {
    std::vector<TypedObject> objects;
    for (const kube::ObjectRef& each : items) {
      objects.push_back({clusters_type(), "managedcluster", each});
    }
    hub.console().out(render_objects(objects, hub.output(), true));
    co_return kDone;
  }
  if (items.empty()) {
    hub.console().err(
        "no worker clusters; add one with 'codeflare cluster add NAME --from FILE'\n");
    co_return kDone;
  }
  hub.console().out(
      render_clusters(decode_clusters(items), hub.output() == Output::wide, hub.now()));
  co_return kDone;
}

Task<int> run_cluster_drain(Session& hub, ClusterFlags flags) {
  if (flags.undo && (flags.evict || flags.wait)) {
    co_return report_usage(hub.console(), "--undo excludes --evict and --wait");
  }
  std::string patch = flags.undo    ? R"({"spec":{"paused":false,"evict":null}})"
                      : flags.evict ? R"({"spec":{"paused":true,"evict":true}})"
                                    : R"({"spec":{"paused":true}})";
  const Result<kube::ObjectRef> changed = co_await hub.client().patch(
      clusters_type(), {"", flags.name}, kube::PatchKind::merge, std::move(patch));
  if (!changed) {
    co_return report(hub.console(), changed.error(), "cluster " + flags.name);
  }
  if (flags.undo) {
    hub.console().out("cluster " + flags.name + " gets new work again\n");
    co_return kDone;
  }
  hub.console().out("cluster " + flags.name + " gets no new work\n");
  std::string name = flags.name;
  const Result<std::vector<std::string>> work = co_await work_on(hub, std::move(name));
  if (!work) {
    hub.console().err("note: cannot list the work that is still there: " + work.error().message +
                      "\n");
  } else if (work->empty()) {
    hub.console().out("the cluster has no AppWrappers\n");
  } else {
    hub.console().out((flags.evict ? "queued again: " : "still there, until they end: ") +
                      joined(*work) + "\n");
  }
  if (!flags.wait || (work && work->empty())) {
    co_return kDone;
  }
  std::string waited = flags.name;
  const Result<void> empty = co_await wait_until_empty(hub, std::move(waited));
  if (!empty) {
    co_return report(hub.console(), empty.error());
  }
  hub.console().out("the cluster has no AppWrappers\n");
  co_return kDone;
}

Task<int> run_cluster_remove(Session& hub, ClusterFlags flags) {
  std::string name = flags.name;
  const Result<kube::ObjectRef> cluster =
      co_await hub.client().get(clusters_type(), {"", flags.name});
  const bool gone = !cluster && cluster.error().code == ErrorCode::not_found;
  if (!cluster && !gone) {
    co_return report(hub.console(), cluster.error());
  }
  const Result<kube::ObjectRef> secret =
      co_await hub.client().get(secrets_type(), secret_key(flags.name));
  if (gone && !secret) {
    co_return report(hub.console(), not_found("cluster \"" + flags.name +
                                              "\" not found; run 'codeflare cluster list'"));
  }
  const Result<std::vector<std::string>> work = co_await work_on(hub, std::move(name));
  if (!work) {
    co_return report(hub.console(), work.error());
  }
  if (!gone && !work->empty() && !flags.lost) {
    co_return report(
        hub.console(),
        failed_precondition("cluster " + flags.name + " holds " + count_text(*work) + ": " +
                            joined(*work) + "; run 'codeflare cluster drain " + flags.name +
                            "' and wait, or use --lost if the cluster will not come back"));
  }
  if (!gone && flags.lost) {
    hub.console().err(loss_text(*cluster, *work));
    const Result<kube::ObjectRef> marked =
        co_await hub.client().patch(clusters_type(), {"", flags.name}, kube::PatchKind::merge,
                                    R"({"spec":{"lost":true,"paused":true}})");
    if (!marked) {
      co_return report(hub.console(), marked.error());
    }
  }
  if (!gone) {
    const Result<kube::ObjectRef> removed =
        co_await hub.client().remove(clusters_type(), {"", flags.name});
    if (!removed && removed.error().code != ErrorCode::not_found) {
      co_return report(hub.console(), removed.error());
    }
    std::string waited = flags.name;
    const Result<bool> over = co_await wait_until_gone(hub, std::move(waited));
    if (!over) {
      co_return report(hub.console(), over.error());
    }
    if (!*over) {
      co_return report(hub.console(),
                       deadline_exceeded("cluster " + flags.name +
                                         " is still being removed; the controller of the hub waits "
                                         "for its work. Run the same command again later"));
    }
    hub.console().out("managedcluster " + flags.name + " deleted\n");
  }
  co_return co_await clean_up(hub, std::move(flags.name));
}

Task<int> run_top_clusters(Session& hub) {
  const Result<kube::ObjectList> list = co_await hub.client().list_all(clusters_type(), {});
  if (!list && list.error().code != ErrorCode::not_found) {
    co_return report(hub.console(), list.error());
  }
  std::vector<ClusterUse> uses;
  // Without the right to list nodes and pods the workers are shown alone.
  if (std::optional<ClusterUse> local = co_await use_of_this_cluster(hub)) {
    uses.push_back(*std::move(local));
  }
  for (const model::ManagedCluster& each :
       decode_clusters(list ? list->items : std::vector<kube::ObjectRef>())) {
    uses.push_back(use_of(each));
  }
  hub.console().out(
      is_table(hub.output())
          ? render_cluster_use(uses)
          : machine_text([&](json::Arena& arena) { return cluster_use_value(uses, arena); },
                         hub.output()));
  co_return kDone;
}

}  // namespace codeflare::cli
