#include "cli/verbs/submit_own_cluster.h"

#include "cli/verbs/internal/cluster_flags.h"
#include "sdk/own_cluster_submit.h"
#include "up/processes.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>

#include <utility>

namespace codeflare::cli {

OwnClusterFlags::OwnClusterFlags() : fields(std::make_shared<internal::ClusterFlags>()) {}

void add_own_cluster_flags(CLI::App& verb, OwnClusterFlags& flags) {
  CLI::Option* own = verb.add_flag("--own-cluster", flags.wanted,
                                   "Ray cluster for this job alone, of the sizes below: queued, "
                                   "started and deleted with the job");
  verb.add_option("--ttl", flags.ttl,
                  "time after the end when the record of a job with --own-cluster is deleted "
                  "(default: kept)")
      ->type_name("SECONDS")
      ->check(CLI::NonNegativeNumber)
      ->needs(own);
  internal::add_cluster_fields(verb, flags.fields);
}

std::string contradiction(const OwnClusterFlags& flags, const DdpFlags& ddp, bool elsewhere) {
  if (!flags.wanted && flags.fields->any_field()) {
    return "options of a cluster and --from are for a cluster of the job's own: add --own-cluster";
  }
  if (flags.wanted && elsewhere) {
    return "--own-cluster makes a cluster for the job: leave out --cluster-name and --address";
  }
  if (flags.wanted && ddp.any()) {
    return "--own-cluster runs a command: give it behind --, and leave out --script and --m";
  }
  return {};
}

Task<Result<std::vector<std::string>>> submit_with_cluster(Session& session, OwnClusterFlags flags,
                                                           DdpFlags ddp, sdk::JobSpec spec) {
  internal::ClusterFlags fields = *flags.fields;
  fields.name = spec.name;
  const auto take = [&](const std::string& field, const std::string& text) {
    if (!text.empty()) {
      fields.fields[field].push_back(text);
    }
  };
  take("worker_cpus", ddp.cpu);
  take("worker_gpus", ddp.gpu ? std::to_string(*ddp.gpu) : "");
  take("image", ddp.image);
  std::optional<sdk::ClusterConfig> config = internal::read_cluster_flags(session, fields);
  if (!config) {
    co_return fail(invalid_argument(""));  // reported
  }
  sdk::OwnClusterJob own{
      .job = std::move(spec), .cluster = *std::move(config), .ttl_seconds = flags.ttl.value_or(-1)};
  std::string ns = session.ns();
  std::string here = up::absolute_path(".").value_or("/");
  co_return co_await sdk::submit_own_cluster(session.env(), session.client(), session.discovery(),
                                             std::move(own), std::move(ns), std::move(here));
}

}  // namespace codeflare::cli
