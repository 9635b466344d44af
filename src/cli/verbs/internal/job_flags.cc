#include "cli/verbs/internal/job_flags.h"

#include "up/processes.h"

#include <utility>

namespace codeflare::cli::internal {

void add_job_name(CLI::App& verb, std::string& name) {
  CLI::Option* positional = verb.add_option("NAME", name, "name of the job");
  verb.add_option("--name", name, "name of the job, instead of NAME")
      ->type_name("NAME")
      ->excludes(positional);
}

void add_job_target(CLI::App& verb, JobFlags& flags) {
  verb.add_option("-c,--cluster-name", flags.cluster,
                  "Ray cluster of a job that runs on one (default: the only one of the namespace)")
      ->type_name("NAME");
  verb.add_option("--address", flags.address,
                  "URL of the Ray dashboard, such as http://host:8265 (default: by the API server)")
      ->type_name("URL");
}

sdk::Jobs jobs_of(Session& session, Duration patience) {
  sdk::JobsOptions options{.base_directory = up::absolute_path(".").value_or("/")};
  if (patience > Duration::zero()) {
    options.client.retry_for = patience;
  }
  return {session.env(), session.service(), session.client(), session.discovery(),
          std::move(options)};
}

Task<Result<sdk::JobTarget>> job_target(Session& session, JobFlags flags) {
  if (flags.name.empty()) {
    co_return fail(invalid_argument("NAME is missing: the name of the job"));
  }
  sdk::JobTarget target{.cluster = {session.ns(), flags.cluster}, .address = flags.address};
  if (flags.cluster.empty() && flags.address.empty()) {
    std::string ns = session.ns();
    CO_TRY_ASSIGN(target.cluster, co_await jobs_of(session).only_cluster(std::move(ns)));
  }
  co_return target;
}

std::string target_words(const Session& session, const sdk::JobTarget& target) {
  if (!target.address.empty()) {
    return " --address " + target.address;
  }
  return " -c " + target.cluster.name + (session.ns_given() ? " -n " + session.ns() : "");
}

std::string OpenJob::words(const Session& session) const {
  return handle->words() + (session.ns_given() ? " -n " + session.ns() : "");
}

Task<Result<OpenJob>> open_job(Session& session, JobFlags flags) {
  OpenJob job{.jobs = std::make_unique<sdk::Jobs>(jobs_of(session, flags.timeout)), .handle = {}};
  sdk::JobName name{.ns = session.ns(),
                    .name = std::move(flags.name),
                    .cluster = std::move(flags.cluster),
                    .address = std::move(flags.address)};
  CO_TRY_ASSIGN(job.handle, co_await sdk::open_job(*job.jobs, session.client(), std::move(name)));
  co_return job;
}

}  // namespace codeflare::cli::internal
