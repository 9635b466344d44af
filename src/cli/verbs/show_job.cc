#include "cli/verbs/show_job.h"

#include "cli/gather/namespace_hint.h"
#include "cli/verbs/explain.h"
#include "cli/verbs/hold.h"
#include "cli/verbs/internal/job_flags.h"
#include "cli/verbs/internal/watch_view.h"
#include "cli/views/job_view.h"
#include "cli/views/table.h"
#include "model/codec/app_wrapper.h"
#include "queue/marks.h"
#include "sdk/gang_jobs.h"
#include "sdk/gang_state.h"
#include "sdk/job_marks.h"
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
  verb.add_flag("-w,--watch", typed->flags.watch, "show changes until Ctrl-C");
  internal::finish_job(verb, chosen, typed, run_list_job, internal::kPatienceHelp);
}

void add_status(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<internal::Typed<JobFlags>>();
  internal::add_job_name(verb, typed->flags.name);
  verb.add_flag("-w,--watch", typed->flags.watch, "show changes until the job ends");
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

template <bool hold>
void add_hold(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<internal::Typed<JobFlags>>();
  internal::add_job_name(verb, typed->flags.name);
  internal::finish_job<JobFlags>(
      verb, chosen, typed,
      [](Session& session, JobFlags flags) {
        return run_hold_job(session, std::move(flags), hold);
      },
      internal::kPatienceHelp);
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

std::string one_text(const JobInfo& job, Output output, Render render, WallTime now) {
  if (output == Output::name) {
    return "job/" + job.name + "\n";
  }
  return is_table(output)
             ? render(job, now)
             : machine_text([&](json::Arena& arena) { return sdk::to_json(arena, job); }, output);
}

std::string all_text(const std::vector<JobInfo>& jobs, Output output, WallTime now) {
  if (output == Output::name) {
    std::string names;
    for (const JobInfo& job : jobs) {
      names += "job/" + job.name + "\n";
    }
    return names;
  }
  if (is_table(output)) {
    return jobs.empty() ? "" : render_jobs(jobs, now);
  }
  return machine_text(
      [&](json::Arena& arena) {
        json::Value array = json::Value::array();
        for (const JobInfo& job : jobs) {
          array.push_back(arena, sdk::to_json(arena, job));
        }
        return array;
      },
      output);
}

Task<Result<internal::Look>> look_at(const internal::OpenJob& opened, Render render,
                                     Output output) {
  CO_TRY_ASSIGN(JobInfo job, co_await opened->get());
  const bool ended = has_ended(job.phase);
  co_return internal::Look{
      .render = [job = std::move(job), output,
                 render](WallTime now) { return one_text(job, output, render, now); },
      .ended = ended};
}

Task<int> show_one(Session& session, JobFlags flags, Render render, Output output) {
  const Result<internal::OpenJob> opened = co_await internal::open_job(session, flags);
  if (!opened) {
    co_return report_coded(session.console(), opened.error());
  }
  if (flags.watch) {
    internal::WatchedView view{.ns = session.ns(),
                               .look = [&] { return look_at(*opened, render, output); }};
    if (flags.address.empty()) {
      view.kinds = {model::resource_type<model::AppWrapper>()};
    }
    co_return co_await internal::watch_view(session, std::move(view));
  }
  const Result<internal::Look> look = co_await look_at(*opened, render, output);
  if (!look) {
    co_return report_coded(session.console(), look.error());
  }
  session.console().out(look->render(session.now()));
  co_return kDone;
}

std::string explained(const JobInfo& job, WallTime now) {
  return "job/" + job.name + " " + one_line(progress_line(job)) + "\n" +
         render_job_status(job, now);
}

// Why a suspended job is neither held nor released, with the next step; empty otherwise.
std::string why_not_held(const model::AppWrapper& wrapper) {
  if (!wrapper.spec.suspend.value_or(false)) {
    return {};
  }
  if (wrapper.metadata.annotations.contains(sdk::kStoppedAnnotation)) {
    return "was cancelled; delete the job and submit it again";
  }
  if (wrapper.metadata.annotations.contains(sdk::kSubmittingAnnotation)) {
    return "is incomplete: its code is missing; run the same 'codeflare submit job' again";
  }
  return {};
}

// Of a job that has no AppWrapper.
Task<int> report_not_queued(Session& session, JobFlags flags) {
  const Result<internal::OpenJob> opened = co_await internal::open_job(session, flags);
  if (!opened) {
    co_return report_coded(session.console(), opened.error());
  }
  const Result<JobInfo> job = co_await (*opened)->get();
  if (!job) {
    co_return report_coded(session.console(), job.error());
  }
  co_return report_coded(
      session.console(),
      failed_precondition("job '" + flags.name + "' is on " + (*opened)->where() +
                          ", not in the queue; use 'codeflare cancel job " + flags.name +
                          opened->words(session) + "'"));
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

Task<Result<internal::Look>> look_at_all(Session& session, ListJobFlags flags, bool noted,
                                         Output output) {
  CO_TRY_ASSIGN(sdk::JobList list, co_await jobs_asked_for(session, std::move(flags)));
  for (const std::string& note : list.notes) {
    if (noted) {
      session.console().err("note: " + one_line(note) + "\n");
    }
  }
  co_return internal::Look{.render = [jobs = std::move(list.jobs), output](WallTime now) {
    return all_text(jobs, output, now);
  }};
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
constinit const Verb kGetJob = {
    .word = "get",
    .noun = "job",
    .about = "Print the object of a job as the server has it, or all jobs (YAML)",
    .examples = "codeflare get job train -o json",
    .add = add_get};
constinit const Verb kExplainJob = {.word = "explain",
                                    .noun = "job",
                                    .about = "Explain why a job waits and what would start it",
                                    .examples = "codeflare explain job train",
                                    .add = add_explain};
constinit const Verb kHoldJob = {.word = "hold",
                                 .noun = "job",
                                 .about = "Keep a job from starting, or stop and requeue the job",
                                 .examples = "codeflare hold job train",
                                 .add = add_hold<true>};
constinit const Verb kReleaseJob = {.word = "release",
                                    .noun = "job",
                                    .about = "Let a held job start",
                                    .examples = "codeflare release job train",
                                    .add = add_hold<false>};

Task<int> run_list_job(Session& session, ListJobFlags flags) {
  if (flags.all_namespaces && !(flags.cluster.empty() && flags.address.empty())) {
    co_return report_usage(session.console(),
                           "--all lists every cluster; leave out --cluster-name and --address");
  }
  if (flags.watch) {
    internal::WatchedView view{.ns = flags.all_namespaces ? "" : session.ns(), .look = [&] {
                                 return look_at_all(session, flags, false, session.output());
                               }};
    if (flags.address.empty()) {
      view.kinds = {model::resource_type<model::AppWrapper>()};
    }
    co_return co_await internal::watch_view(session, std::move(view));
  }
  const bool all = flags.all_namespaces || !flags.address.empty();
  const Result<internal::Look> look =
      co_await look_at_all(session, std::move(flags), true, session.output());
  if (!look) {
    co_return report_coded(session.console(),
                           with_namespace_hint(session, look.error(), session.ns()));
  }
  const std::string text = look->render(session.now());
  if (text.empty() && is_table(session.output())) {
    session.console().err(all ? "no jobs found\n"
                              : "no jobs found in namespace " + session.ns() + "\n");
  }
  session.console().out(text);
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
  if (flags.name.empty()) {
    ListJobFlags every{std::move(flags)};
    const Result<internal::Look> all =
        co_await look_at_all(session, std::move(every), true, output);
    if (!all) {
      co_return report_coded(session.console(), all.error());
    }
    session.console().out(all->render(session.now()));
    co_return kDone;
  }
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

Task<int> run_hold_job(Session& session, JobFlags flags, bool hold) {
  const Result<kube::ObjectRef> found = co_await wrapper_of(session, flags);
  if (!found) {
    co_return report_coded(session.console(), found.error(), "job " + flags.name);
  }
  if (*found == nullptr) {
    co_return co_await report_not_queued(session, std::move(flags));
  }
  const Result<model::AppWrapper> wrapper = (*found)->as<model::AppWrapper>();
  if (const std::string why = wrapper ? why_not_held(*wrapper) : ""; !why.empty()) {
    co_return report_coded(session.console(),
                           failed_precondition("job '" + flags.name + "' " + why));
  }
  NameFlags names{.kind = "appwrapper", .names = {flags.name}};
  co_return co_await run_hold(session, std::move(names), hold);
}

}  // namespace codeflare::cli
