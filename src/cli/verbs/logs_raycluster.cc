#include "cli/verbs/logs_raycluster.h"

#include "base/async/sleep.h"
#include "cli/verbs/internal/cluster_flags.h"
#include "cli/verbs/internal/log_streams.h"
#include "cli/verbs/internal/session_flags.h"
#include "cli/views/table.h"
#include "sdk/clusters.h"
#include "sdk/ray_log_files.h"
#include "up/processes.h"

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

namespace codeflare::cli {

namespace {

constexpr Duration kLook = std::chrono::milliseconds(500);

void add_options(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<internal::Typed<LogsRayClusterFlags>>();
  LogsRayClusterFlags& flags = typed->flags;
  internal::add_cluster_name(verb, flags.name);
  CLI::Option* follow =
      verb.add_flag("-f,--follow", flags.follow, "follow the logs, new pods included");
  verb.add_option("--node", flags.node, "head, worker or the name of a pod (default: all)")
      ->type_name("NODE");
  verb.add_option("--tail", flags.tail, "number of last lines to print of each pod")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 31))
      ->type_name("LINES");
  verb.add_option("--out-dir", flags.out_dir,
                  "directory for Ray's own log files, as DIR/POD/... (default: print the logs)")
      ->type_name("DIR")
      ->excludes(follow);
  internal::add_session_flags(verb, typed->session, {});
  verb.callback([&chosen, typed] {
    chosen = [typed] {
      return internal::run_waiting(
          typed->session, [&](Session& s) { return run_logs_raycluster(s, typed->flags); });
    };
  });
}

bool is_meant(const model::Pod& pod, const std::string& node) {
  return node.empty() || pod.metadata.name == node ||
         model::find_or_empty(pod.metadata.labels, "ray.io/node-type") == node;
}

// The cluster with those of its pods that are asked for.
Task<Result<sdk::ClusterInfo>> look(Session& session, LogsRayClusterFlags flags) {
  sdk::Clusters clusters(session.client(), session.discovery());
  CO_TRY_ASSIGN(sdk::ClusterInfo info, co_await clusters.get({session.ns(), flags.name}));
  std::string names;
  for (const model::Pod& pod : info.objects.pods) {
    names += (names.empty() ? "" : ", ") + pod.metadata.name;
  }
  std::erase_if(info.objects.pods,
                [&](const model::Pod& pod) { return !is_meant(pod, flags.node); });
  if (info.objects.pods.empty() && !names.empty()) {
    co_return fail(not_found("Ray cluster '" + flags.name + "' has no node '" + flags.node +
                             "'; give head, worker or one of " + names));
  }
  co_return info;
}

std::string why_silent(const sdk::ClusterInfo& info) {
  return "raycluster/" + info.key.name + ": no pod has started: " + progress_line(info.state);
}

Task<Result<void>> follow(Session& session, internal::LogStreams& streams,
                          LogsRayClusterFlags flags) {
  ProgressLine progress(session.console());
  while (true) {
    const Result<sdk::ClusterInfo> seen = co_await look(session, flags);
    if (!seen && seen.error().code == ErrorCode::not_found && streams.size() > 0) {
      co_await streams.join();
      co_return Result<void>();
    }
    if (!seen) {
      co_return fail(seen.error());
    }
    if (streams.begin(seen->objects.pods)) {
      progress.clear();
    } else if (streams.size() == 0) {
      progress.show(why_silent(*seen));
    }
    CO_TRY(co_await sleep_for(kLook));
  }
}

Task<int> download(Session& session, LogsRayClusterFlags flags) {
  const Result<sdk::ClusterInfo> info = co_await look(session, flags);
  if (!info) {
    co_return report_coded(session.console(), info.error(), "raycluster " + flags.name);
  }
  const Result<std::string> directory = up::absolute_path(flags.out_dir);
  if (!directory) {
    co_return report_file(session.console(), directory.error());
  }
  if (info->objects.pods.empty()) {
    session.console().err(why_silent(*info) + "\n");
    co_return kFailed;
  }
  int code = kDone;
  for (const model::Pod& pod : info->objects.pods) {
    const std::string& name = pod.metadata.name;
    sdk::RayNode node{
        .pod = pod.metadata.key(),
        .container = pod.spec.containers.empty() ? "" : pod.spec.containers.front().name};
    const Result<std::size_t> files = co_await sdk::download_log_files(
        session.env(), session.service(), std::move(node), *directory + "/" + name);
    if (!files && files.error().code == ErrorCode::cancelled) {
      co_return kInterrupted;
    }
    if (!files) {
      code = both(code, report_coded(session.console(), files.error().with_context("pod " + name)));
      continue;
    }
    session.console().out(flags.out_dir + "/" + name + ": " + std::to_string(*files) + " files\n");
  }
  co_return code;
}

}  // namespace

constinit const Verb kLogsRayCluster = {
    .word = "logs",
    .noun = "raycluster",
    .about = "Print the logs of a Ray cluster, or collect Ray's log files",
    .examples =
        "codeflare logs raycluster demo --node head -f\n"
        "  codeflare logs raycluster demo --out-dir logs",
    .add = add_options};

Task<int> run_logs_raycluster(Session& session, LogsRayClusterFlags flags) {
  if (flags.name.empty()) {
    co_return report_usage(session.console(), "NAME is missing: the name of the cluster");
  }
  if (!flags.out_dir.empty()) {
    co_return co_await download(session, std::move(flags));
  }
  internal::LogStreams streams(session, {.follow = flags.follow, .tail = flags.tail});
  Result<void> end;
  if (flags.follow) {
    end = co_await follow(session, streams, flags);
  } else {
    const Result<sdk::ClusterInfo> seen = co_await look(session, flags);
    if (!seen) {
      end = fail(seen.error());
    } else if (!co_await streams.read(seen->objects.pods)) {
      session.console().err(why_silent(*seen) + "\n");
    }
  }
  co_await streams.close();
  if (!end && end.error().code == ErrorCode::cancelled) {
    co_return kInterrupted;
  }
  co_return end ? streams.code()
                : report_coded(session.console(), end.error(), "raycluster " + flags.name);
}

}  // namespace codeflare::cli
