#include "cli/verbs/show_job.h"

#include "cli/verbs/explain.h"
#include "cli/verbs/internal/job_flags.h"
#include "cli/views/job_view.h"
#include "cli/views/table.h"
#include "model/codec/app_wrapper.h"
#include "queue/marks.h"
#include "sdk/gang_jobs.h"
#include "sdk/gang_state.h"
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

void add_details(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<internal::Typed<JobFlags>>();
  internal::add_job_name(verb, typed->flags.name);
  internal::finish_job(verb, chosen, typed, run_details_job, internal::kPatienceHelp);
}

void add_get(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<internal::Typed<JobFlags>>();
  internal::add_job_name(verb, typed->flags.name);
  internal::finish_job(verb, chosen, typed, run_get_job, internal::kPatienceHelp);
}

void add_explain(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<internal::Typed<JobFlags>>();
  internal::add_job_name(verb, typed->flags.name);
  internal::finish_job(verb, chosen, typed, run_explain_job, internal::kPatienceHelp);
}

// The AppWrapper of a job with pods or a Ray cluster of its own; null: the job is on a Ray cluster.
Task<Result<kube::ObjectRef>> wrapper_of(Session& session, JobFlags flags) {
  if (flags.name.empty() || !flags.cluster.empty() || !flags.address.empty()) {
    co_return kube::ObjectRef();
  }
  Result<kube::ObjectRef> found = co_await session.client().get(
      model::resource_type<model::AppWrapper>(), {session.ns(), flags.name});
  if (!found) {
    const bool none = found.error().code == ErrorCode::not_found;
    co_return none ? Result<kube::ObjectRef>(kube::ObjectRef()) : std::move(found);
  }
  const Result<model::AppWrapper> wrapper = (*found)->as<model::AppWrapper>();
  co_return wrapper&& sdk::backend_of(*wrapper) ? *std::move(found) : kube::ObjectRef();
}

using Render = std::string (*)(const JobInfo&, WallTime);

Task<int> show_one(Session& session, JobFlags flags, Render render, Output output) {
  const Result<internal::OpenJob> opened = co_await internal::open_job(session, flags);
  if (!opened) {
    co_return report_coded(session.console(), opened.error());
  }
  const Result<JobInfo> job = co_await (*opened)->get();
  if (!job) {
    co_return report_coded(session.console(), job.error());
  }
  if (output == Output::name) {
    session.console().out("job/" + job->name + "\n");
  } else if (is_table(output)) {
    session.console().out(render(*job, session.now()));
  } else {
    session.console().out(
        machine_text([&](json::Arena& arena) { return sdk::to_json(arena, *job); }, output));
  }
  co_return kDone;
}

std::string explained(const JobInfo& job, WallTime now) {
  return "job/" + job.name + " " + one_line(progress_line(job)) + "\n" +
         render_job_status(job, now);
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

constinit const Verb kDetailsJob = {.word = "details",
                                    .noun = "job",
                                    .about = "Show status, requests and code package of a job",
                                    .examples = "codeflare details job train -c demo",
                                    .add = add_details};
constinit const Verb kGetJob = {.word = "get",
                                .noun = "job",
                                .about = "Print the object of a job as the server has it (YAML)",
                                .examples = "codeflare get job train -o json",
                                .add = add_get};
constinit const Verb kExplainJob = {.word = "explain",
                                    .noun = "job",
                                    .about = "Explain why a job waits and what would start it",
                                    .examples = "codeflare explain job train",
                                    .add = add_explain};

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
  co_return co_await show_one(session, std::move(flags), render_job_status, session.output());
}

Task<int> run_details_job(Session& session, JobFlags flags) {
  co_return co_await show_one(session, std::move(flags), render_job_details, session.output());
}

Task<int> run_get_job(Session& session, JobFlags flags) {
  const Output output = is_table(session.output()) ? Output::yaml : session.output();
  const Result<kube::ObjectRef> wrapper = co_await wrapper_of(session, flags);
  if (!wrapper) {
    co_return report_coded(session.console(), wrapper.error(), "job " + flags.name);
  }
  if (*wrapper == nullptr) {
    co_return co_await show_one(session, std::move(flags), render_job_details, output);
  }
  const std::vector<TypedObject> objects{
      {model::resource_type<model::AppWrapper>(), "appwrapper", *wrapper}};
  session.console().out(render_objects(objects, output, false));
  co_return kDone;
}

Task<int> run_explain_job(Session& session, JobFlags flags) {
  const Result<kube::ObjectRef> wrapper = co_await wrapper_of(session, flags);
  if (!wrapper) {
    co_return report_coded(session.console(), wrapper.error(), "job " + flags.name);
  }
  if (*wrapper == nullptr) {
    co_return co_await show_one(session, std::move(flags), explained, session.output());
  }
  ExplainFlags asked{.kind = "appwrapper",
                     .name = flags.name,
                     .controller_ns = std::string(queue::kControllerNamespace)};
  co_return co_await run_explain(session, std::move(asked));
}

}  // namespace codeflare::cli
