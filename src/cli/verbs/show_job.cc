#include "cli/verbs/show_job.h"

#include "cli/verbs/internal/job_flags.h"
#include "cli/views/job_view.h"
#include "cli/views/table.h"
#include "sdk/gang_jobs.h"
#include "sdk/jobs.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <tuple>
#include <utility>

namespace codeflare::cli {

namespace {

using sdk::JobInfo;

void add_list(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<internal::Typed<ListJobFlags>>();
  verb.add_flag("-A,--all-namespaces,--all", typed->flags.all_namespaces, "every namespace");
  internal::finish_job(verb, chosen, typed, run_list_job, internal::kPatienceHelp);
}

void add_status(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<internal::Typed<JobFlags>>();
  internal::add_job_name(verb, typed->flags.name);
  internal::finish_job(verb, chosen, typed, run_status_job, internal::kPatienceHelp);
}

Task<Result<sdk::JobList>> jobs_asked_for(Session& session, ListJobFlags flags) {
  sdk::Jobs jobs = internal::jobs_of(session, flags.timeout);
  if (flags.cluster.empty() && flags.address.empty()) {
    const std::string ns = flags.all_namespaces ? "" : session.ns();
    CO_TRY_ASSIGN(std::vector<JobInfo> own, co_await sdk::list_gang_jobs(session.client(), ns));
    CO_TRY_ASSIGN(sdk::JobList all, co_await jobs.list_all(ns));
    std::ranges::move(own, std::back_inserter(all.jobs));
    std::ranges::sort(all.jobs, {}, [](const JobInfo& job) {
      return std::tie(job.cluster.ns, job.name, job.cluster.name);
    });
    co_return all;
  }
  sdk::JobTarget target{.cluster = {session.ns(), flags.cluster}, .address = flags.address};
  sdk::JobList list;
  CO_TRY_ASSIGN(list.jobs, co_await jobs.list(std::move(target)));
  co_return list;
}

}  // namespace

constinit const Verb kListJob = {
    .word = "list",
    .noun = "job",
    .about = "List jobs: of 'codeflare run', of Kubernetes and of Ray clusters",
    .examples = "codeflare list job --all",
    .add = add_list};
constinit const Verb kStatusJob = {.word = "status",
                                   .noun = "job",
                                   .about = "Show the status of a job and its reason",
                                   .examples = "codeflare status job train -c demo",
                                   .add = add_status};

Task<int> run_list_job(Session& session, ListJobFlags flags) {
  if (flags.all_namespaces && !(flags.cluster.empty() && flags.address.empty())) {
    co_return report_usage(session.console(),
                           "--all lists every cluster; leave out --cluster-name and --address");
  }
  const bool all = flags.all_namespaces || !flags.address.empty();
  const Result<sdk::JobList> list = co_await jobs_asked_for(session, std::move(flags));
  if (!list) {
    co_return report_coded(session.console(), list.error());
  }
  for (const std::string& note : list->notes) {
    session.console().err("note: " + one_line(note) + "\n");
  }
  if (session.output() == Output::name) {
    for (const JobInfo& job : list->jobs) {
      session.console().out("job/" + job.name + "\n");
    }
  } else if (!is_table(session.output())) {
    const auto all_jobs = [&](json::Arena& arena) {
      json::Value array = json::Value::array();
      for (const JobInfo& job : list->jobs) {
        array.push_back(arena, sdk::to_json(arena, job));
      }
      return array;
    };
    session.console().out(machine_text(all_jobs, session.output()));
  } else if (list->jobs.empty()) {
    session.console().err(all ? "no jobs found\n"
                              : "no jobs found in namespace " + session.ns() + "\n");
  } else {
    session.console().out(render_jobs(list->jobs, session.now()));
  }
  co_return kDone;
}

Task<int> run_status_job(Session& session, JobFlags flags) {
  const Result<internal::OpenJob> opened = co_await internal::open_job(session, flags);
  if (!opened) {
    co_return report_coded(session.console(), opened.error());
  }
  const Result<JobInfo> job = co_await (*opened)->get();
  if (!job) {
    co_return report_coded(session.console(), job.error());
  }
  if (session.output() == Output::name) {
    session.console().out("job/" + job->name + "\n");
  } else if (is_table(session.output())) {
    session.console().out(render_job_status(*job, session.now()));
  } else {
    session.console().out(machine_text(
        [&](json::Arena& arena) { return sdk::to_json(arena, *job); }, session.output()));
  }
  co_return kDone;
}

}  // namespace codeflare::cli
