#include "cli/verbs/update_raycluster.h"

#include "cli/verbs/internal/session_flags.h"
#include "cli/verbs/wait_raycluster.h"
#include "sdk/cluster_file.h"
#include "sdk/cluster_json.h"
#include "sdk/clusters.h"

#include <charconv>
#include <memory>
#include <utility>
#include <vector>

namespace codeflare::cli {

namespace {

using sdk::ClusterConfig;
using sdk::ClusterInfo;

void add_options(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<internal::Typed<UpdateRayClusterFlags>>();
  internal::add_cluster_flags(verb, typed->flags.cluster);
  verb.add_option("--worker-group", typed->flags.worker_group,
                  "worker group that --workers is about (default: the first)")
      ->type_name("GROUP");
  verb.add_flag("--recreate", typed->flags.recreate,
                "delete the cluster and queue it anew with the new fields, or with NAME.yaml");
  verb.add_flag("--wait", typed->flags.wait, "wait until the cluster is ready");
  internal::finish_wait(verb, chosen, typed, run_update_raycluster);
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : ", ") + word;
  }
  return text;
}

// One run of the verb.
struct Update {
  Session& session;
  UpdateRayClusterFlags flags;
  sdk::Clusters clusters;
  model::ObjectKey key;

  std::string what() const { return "raycluster/" + key.name; }
  int report(const Error& error) {
    return report_coded(session.console(), error, "raycluster " + key.name);
  }
};

// How the command ends after a change.
Task<int> changed(Update& update, std::string told) {
  Session& session = update.session;
  session.console().out(session.output() == Output::name ? update.what() + "\n"
                                                         : update.what() + " " + told + "\n");
  if (!update.flags.wait) {
    co_return kDone;
  }
  co_return co_await run_wait_raycluster(
      session, {.name = update.key.name, .timeout = update.flags.timeout});
}

Task<int> scale(Update& update, std::int64_t workers) {
  const Result<sdk::GroupScale> scaled =
      co_await update.clusters.scale(update.key, update.flags.worker_group, workers);
  if (!scaled) {
    co_return update.report(scaled.error());
  }
  if (scaled->before == scaled->after) {
    co_return co_await changed(update, "unchanged: " + std::to_string(scaled->after) +
                                           " workers in group " + scaled->group);
  }
  if (scaled->after > scaled->before) {
    update.session.console().err(
        "note: added workers are beyond the plan of the queue and start where they fit\n");
  }
  co_return co_await changed(update, "scaled: " + std::to_string(scaled->before) + " to " +
                                         std::to_string(scaled->after) + " workers in group " +
                                         scaled->group);
}

Task<int> recreate(Update& update, Result<json::Document> manifest, std::string told) {
  if (!manifest) {
    co_return update.report(manifest.error());
  }
  const Result<kube::ObjectRef> made =
      co_await update.clusters.recreate(update.key, *std::move(manifest));
  if (!made) {
    co_return update.report(made.error());
  }
  co_return co_await changed(update, std::move(told));
}

// Fields were typed: what differs decides.
Task<int> change_fields(Update& update, ClusterInfo info) {
  Session& session = update.session;
  const Result<ClusterConfig> before = sdk::definition_of(info);
  if (!before) {
    co_return update.report(before.error());
  }
  const std::optional<ClusterConfig> wanted =
      internal::read_cluster_flags(session, *update.flags.cluster, &*before);
  if (!wanted) {
    co_return kUsage;
  }
  const std::vector<std::string> fields = sdk::changed_fields(info, *wanted);
  if (fields == std::vector<std::string>{"num_workers"} && info.objects.ray &&
      !update.flags.recreate) {
    co_return co_await scale(update, wanted->num_workers);
  }
  if (!update.flags.recreate && fields.empty() && *wanted == *before) {
    co_return co_await changed(update, "unchanged");
  }
  const std::string names = fields.empty() ? "fields of its AppWrapper" : joined(fields);
  if (!update.flags.recreate) {
    co_return update.report(
        failed_precondition(update.what() + ": " + names +
                            " cannot change while the cluster exists; --recreate deletes the "
                            "cluster and queues it anew"));
  }
  Result<json::Document> manifest = co_await update.clusters.manifest_for(*wanted);
  co_return co_await recreate(update, std::move(manifest), "recreated: " + names + " changed");
}

// The fields that --workers alone sets.
std::optional<std::int64_t> workers_alone(const internal::ClusterFlags& flags) {
  if (!flags.from.empty() || flags.fields.size() != 1 ||
      flags.fields.begin()->first != "num_workers" || flags.fields.begin()->second.size() != 1) {
    return std::nullopt;
  }
  const std::string& text = flags.fields.begin()->second.front();
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(count)
                                                                  : std::nullopt;
}

}  // namespace

constinit const Verb kUpdate = {.word = "update",
                                .about = "Change work that exists",
                                .examples = "codeflare update raycluster demo --workers 4"};
constinit const Verb kUpdateRayCluster = {
    .word = "update",
    .noun = "raycluster",
    .about = "Scale the workers of a Ray cluster, or recreate it with other fields",
    .examples =
        "codeflare update raycluster demo --workers 4\n"
        "  codeflare update raycluster demo --gpus 2 --recreate --wait",
    .add = add_options};

Task<int> run_update_raycluster(Session& session, UpdateRayClusterFlags flags) {
  const internal::ClusterFlags& typed = *flags.cluster;
  if (typed.name.empty()) {
    co_return report_usage(session.console(), "NAME is missing: the name of the cluster");
  }
  const std::optional<std::int64_t> workers = workers_alone(typed);
  if (!flags.worker_group.empty() && !workers) {
    co_return report_usage(session.console(), "--worker-group needs --workers and nothing else");
  }
  if (!typed.any_field() && !flags.recreate) {
    co_return report_usage(session.console(),
                           "nothing to change: give --workers N, or fields with --recreate");
  }
  Update update{
      session, flags, {session.client(), session.discovery()}, {session.ns(), typed.name}};
  if (workers && !flags.recreate) {
    co_return co_await scale(update, *workers);
  }
  Result<ClusterInfo> info = co_await update.clusters.get(update.key);
  if (!info) {
    co_return update.report(info.error());
  }
  if (typed.any_field()) {
    co_return co_await change_fields(update, *std::move(info));
  }
  const std::string path = sdk::cluster_file_name(typed.name);
  Result<json::Document> manifest = sdk::read_cluster_file(session.env().files, path, typed.name);
  if (!manifest) {
    co_return report_file(session.console(), manifest.error());
  }
  co_return co_await recreate(update, std::move(manifest), "recreated from " + path);
}

}  // namespace codeflare::cli
