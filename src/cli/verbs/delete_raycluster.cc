#include "cli/verbs/delete_raycluster.h"

#include "cli/verbs/internal/session_flags.h"
#include "sdk/clusters.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace codeflare::cli {

namespace {

void add_options(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<internal::Typed<DeleteRayClusterFlags>>();
  CLI::Option* positional = verb.add_option("NAME", typed->flags.names, "names of the clusters");
  verb.add_option("--name", typed->flags.names, "name of a cluster, instead of NAME")
      ->type_name("NAME")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false)
      ->excludes(positional);
  verb.add_flag("--wait,!--no-wait", typed->flags.wait,
                "wait until the clusters are gone (default true)");
  verb.add_flag("--ignore-not-found", typed->flags.ignore_not_found,
                "success if a cluster does not exist");
  internal::add_dry_run(verb, typed->flags.dry_run);
  internal::finish_wait(verb, chosen, typed, run_delete_raycluster);
}

Task<Result<void>> delete_one(Session& session, std::string name, DeleteRayClusterFlags flags) {
  sdk::Clusters clusters(session.client(), session.discovery());
  const model::ObjectKey key{session.ns(), name};
  Result<void> removed = co_await clusters.remove(key, flags.dry_run);
  if (!removed && removed.error().code == ErrorCode::not_found && flags.ignore_not_found) {
    co_return Result<void>();
  }
  CO_TRY(std::move(removed));
  if (flags.wait && !flags.dry_run) {
    ProgressLine line(session.console());
    line.show("raycluster/" + name + ": waiting until its pods are gone");
    sdk::ClusterWait options{
        .goal = sdk::ClusterGoal::deleted, .timeout = flags.timeout, .observer = {}};
    CO_TRY(co_await clusters.wait(key, std::move(options)));
  }
  session.console().out("raycluster/" + name +
                        (session.output() == Output::name ? "\n"
                         : flags.dry_run                  ? " deleted (server dry run)\n"
                                                          : " deleted\n"));
  co_return Result<void>();
}

}  // namespace

constinit const Verb kDeleteRayCluster = {.word = "delete",
                                          .noun = "raycluster",
                                          .about = "Delete Ray clusters, queued or running",
                                          .examples = "codeflare delete raycluster demo",
                                          .add = add_options};

Task<int> run_delete_raycluster(Session& session, DeleteRayClusterFlags flags) {
  if (flags.names.empty()) {
    co_return report_usage(session.console(), "NAME is missing: the names of the clusters");
  }
  int code = kDone;
  for (const std::string& each : flags.names) {
    std::string name = each;
    const Result<void> done = co_await delete_one(session, std::move(name), flags);
    if (!done && done.error().code == ErrorCode::cancelled) {
      session.console().err("detached; the deletion of raycluster/" + each + " continues\n");
      co_return kInterrupted;
    }
    if (!done) {
      code = report_coded(session.console(), done.error(), "raycluster " + each);
    }
  }
  co_return code;
}

}  // namespace codeflare::cli
