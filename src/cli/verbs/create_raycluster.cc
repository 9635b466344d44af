#include "cli/verbs/create_raycluster.h"

#include "base/async/sleep.h"
#include "cli/gather/namespace_hint.h"
#include "cli/verbs/internal/queue_place.h"
#include "cli/verbs/internal/session_flags.h"
#include "cli/verbs/wait_raycluster.h"
#include "cli/views/cluster_view.h"
#include "cli/views/table.h"
#include "sdk/cluster_file.h"
#include "sdk/clusters.h"

#include <chrono>
#include <memory>
#include <utility>

namespace codeflare::cli {

namespace {

void add_options(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<internal::Typed<CreateRayClusterFlags>>();
  internal::add_cluster_flags(verb, typed->flags.cluster);
  verb.add_flag("--wait", typed->flags.wait, "wait until the cluster is ready");
  internal::add_dry_run(verb, typed->flags.dry_run);
  internal::finish_wait(verb, chosen, typed, run_create_raycluster);
}

Error no_file(const std::string& path, const std::string& name) {
  return invalid_argument(path + " not found; run 'codeflare define raycluster " + name +
                          "' first, or give the sizes here, such as --workers 2");
}

// The manifest: of the options, or of the file.
Task<Result<json::Document>> manifest(Session& session, sdk::Clusters& clusters,
                                      CreateRayClusterFlags flags) {
  if (!flags.cluster->any_field()) {
    const std::string path = sdk::cluster_file_name(flags.cluster->name);
    Result<json::Document> read =
        sdk::read_cluster_file(session.env().files, path, flags.cluster->name);
    if (!read && read.error().code == ErrorCode::not_found) {
      co_return fail(no_file(path, flags.cluster->name));
    }
    co_return read;
  }
  std::optional<sdk::ClusterConfig> config = internal::read_cluster_flags(session, *flags.cluster);
  if (!config) {
    co_return fail(invalid_argument(""));  // reported
  }
  co_return co_await clusters.manifest_for(*std::move(config));
}

// The controller's first verdict on a new cluster comes within moments.
constexpr Duration kVerdictWithin = std::chrono::seconds(3);
constexpr Duration kLook = std::chrono::milliseconds(200);

Task<Result<sdk::ClusterInfo>> first_verdict(Session& session, sdk::Clusters& clusters,
                                             std::string name) {
  const Instant end = after(session.env().clock.now(), kVerdictWithin);
  while (true) {
    CO_TRY_ASSIGN(sdk::ClusterInfo info, co_await clusters.get({session.ns(), name}));
    const bool judged = info.state.phase != sdk::ClusterPhase::queued || !info.state.reason.empty();
    if (judged || session.env().clock.now() >= end) {
      co_return info;
    }
    CO_TRY(co_await sleep_for(kLook));
  }
}

// "Queued, position 2: InsufficientResources: ..."; empty when nothing is known.
Task<std::string> place_in_queue(Session& session, sdk::Clusters& clusters, std::string name) {
  const Result<sdk::ClusterInfo> info = co_await first_verdict(session, clusters, std::move(name));
  if (!info || info->wrapper.empty()) {
    co_return "";
  }
  std::string line = one_line(progress_line(info->state));
  if (info->state.phase != sdk::ClusterPhase::queued) {
    co_return line;
  }
  model::ObjectKey wrapper{info->key.ns, info->wrapper};
  const internal::QueuePlace place =
      co_await internal::queue_place(session, std::move(wrapper), false);
  const std::string queued(to_string(info->state.phase));
  if (place.position > 0 && line.starts_with(queued)) {
    line.insert(queued.size(), ", position " + std::to_string(place.position));
  }
  co_return line;
}

}  // namespace

constinit const Verb kCreateRayCluster = {
    .word = "create",
    .noun = "raycluster",
    .about = "Queue a Ray cluster: from options, else from NAME.yaml",
    .examples = "codeflare create raycluster demo --workers 2 --wait",
    .add = add_options};
constinit const Verb kSubmit = {.word = "submit",
                                .about = "Submit work to the queue",
                                .examples = "codeflare submit raycluster demo"};
constinit const Verb kSubmitRayCluster = {
    .word = "submit",
    .noun = "raycluster",
    .about = "Queue a Ray cluster: the same as 'create raycluster'",
    .examples = "codeflare submit raycluster demo --wait",
    .add = add_options};

Task<int> run_create_raycluster(Session& session, CreateRayClusterFlags flags) {
  if (flags.cluster->name.empty()) {
    co_return report_usage(session.console(), "NAME is missing: the name of the cluster");
  }
  sdk::Clusters clusters(session.client(), session.discovery());
  Result<json::Document> document = co_await manifest(session, clusters, flags);
  if (!document) {
    co_return document.error().message.empty() ? int{kUsage}
                                               : report_coded(session.console(), document.error());
  }
  const std::string name = flags.cluster->name;
  std::string ns = session.ns();
  const Result<kube::ObjectRef> made =
      co_await clusters.create(*std::move(document), std::move(ns), flags.dry_run);
  if (!made) {
    co_return report_coded(session.console(),
                           with_namespace_hint(session, made.error(), session.ns()),
                           "raycluster " + name);
  }
  const bool quiet = session.output() == Output::name;
  session.console().out(quiet ? "raycluster/" + name + "\n"
                              : "raycluster/" + name + " created" +
                                    (flags.dry_run ? " (server dry run)\n" : "\n"));
  if (flags.dry_run) {
    co_return kDone;
  }
  if (flags.wait) {
    co_return co_await run_wait_raycluster(session, {.name = name, .timeout = flags.timeout});
  }
  if (!quiet) {
    const std::string line = co_await place_in_queue(session, clusters, name);
    session.console().out((line.empty() ? "" : line + "\n") + "Next: codeflare wait raycluster " +
                          name + ", codeflare status raycluster " + name + "\n");
  }
  co_return kDone;
}

}  // namespace codeflare::cli
