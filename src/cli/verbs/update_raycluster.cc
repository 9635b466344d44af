#include "cli/verbs/update_raycluster.h"

#include "cli/verbs/internal/session_flags.h"
#include "cli/verbs/wait_raycluster.h"
#include "sdk/cluster_file.h"
#include "sdk/cluster_json.h"
#include "sdk/clusters.h"

#include <algorithm>
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

// The fields that change while the cluster exists, as far as they were given.
struct InPlace {
  std::optional<std::int64_t> workers;
  std::optional<std::int64_t> priority;
};

std::string scale_sentence(const sdk::GroupScale& scaled) {
  const std::string group = " workers in group " + scaled.group;
  const std::string after = std::to_string(scaled.after);
  return scaled.before == scaled.after
             ? "unchanged: " + after + group
             : "scaled: " + std::to_string(scaled.before) + " to " + after + group;
}

Task<int> change_in_place(Update& update, InPlace wanted) {
  std::string told;
  if (wanted.workers) {
    const Result<sdk::GroupScale> scaled =
        co_await update.clusters.scale(update.key, update.flags.worker_group, *wanted.workers);
    if (!scaled) {
      co_return update.report(scaled.error());
    }
    if (scaled->after > scaled->before) {
      update.session.console().err(
          "note: added workers are beyond the plan of the queue and start where they fit\n");
    }
    told = scale_sentence(*scaled);
  }
  if (wanted.priority) {
    const Result<sdk::PriorityChange> change =
        co_await update.clusters.prioritize(update.key, *wanted.priority);
    if (!change) {
      co_return update.report(change.error());
    }
    told += (told.empty() ? "" : "; ") + std::string("priority ") + std::to_string(change->after) +
            " (was " + std::to_string(change->before) + ")";
  }
  co_return co_await changed(update, std::move(told));
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
  if (!update.flags.recreate && fields.empty()) {
    co_return co_await changed(update, "unchanged");
  }
  if (!update.flags.recreate && sdk::changes_in_place(info, fields)) {
    const auto has = [&](const char* field) {
      return std::ranges::find(fields, field) != fields.end();
    };
    co_return co_await change_in_place(
        update,
        {.workers = has("num_workers") ? std::optional(wanted->num_workers) : std::nullopt,
         .priority = has("priority") ? std::optional(wanted->priority.value_or(0)) : std::nullopt});
  }
  if (!update.flags.recreate) {
    co_return update.report(
        failed_precondition(update.what() + ": " + joined(fields) +
                            " cannot change while the cluster exists; --recreate deletes the "
                            "cluster and queues it anew"));
  }
  const std::string told =
      "recreated: " + (fields.empty() ? "with the same fields" : joined(fields) + " changed");
  Result<json::Document> manifest = co_await update.clusters.manifest_for(*wanted);
  co_return co_await recreate(update, std::move(manifest), told);
}

// The fields of the command line, when all of them are whole numbers that change in place: then the
// definition of the cluster is not needed.
std::optional<InPlace> typed_in_place(const internal::ClusterFlags& flags) {
  InPlace typed;
  for (const auto& [field, texts] : flags.fields) {
    const std::string& text = texts.back();
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (texts.size() != 1 || error != std::errc() || end != text.data() + text.size() ||
        (field != "num_workers" && field != "priority")) {
      return std::nullopt;
    }
    (field == "priority" ? typed.priority : typed.workers) = number;
  }
  return flags.from.empty() && !flags.fields.empty() ? std::optional(typed) : std::nullopt;
}

}  // namespace

constinit const Verb kUpdate = {.word = "update",
                                .about = "Change work that exists",
                                .examples = "codeflare update raycluster demo --workers 4"};
constinit const Verb kUpdateRayCluster = {
    .word = "update",
    .noun = "raycluster",
    .about = "Change the workers or priority of a Ray cluster, or recreate it with other fields",
    .examples =
        "codeflare update raycluster demo --workers 4\n"
        "  codeflare update raycluster demo --gpus 2 --recreate --wait",
    .add = add_options};

Task<int> run_update_raycluster(Session& session, UpdateRayClusterFlags flags) {
  const internal::ClusterFlags& typed = *flags.cluster;
  if (typed.name.empty()) {
    co_return report_usage(session.console(), "NAME is missing: the name of the cluster");
  }
  const std::optional<InPlace> in_place = typed_in_place(typed);
  if (!flags.worker_group.empty() && (!in_place || !in_place->workers || in_place->priority)) {
    co_return report_usage(session.console(), "--worker-group needs --workers and nothing else");
  }
  if (!typed.any_field() && !flags.recreate) {
    co_return report_usage(
        session.console(),
        "nothing to change: give --workers N, --priority N, or fields with --recreate");
  }
  Update update{
      session, flags, {session.client(), session.discovery()}, {session.ns(), typed.name}};
  if (in_place && !flags.recreate) {
    co_return co_await change_in_place(update, *in_place);
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
