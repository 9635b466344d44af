#include "cli/verbs/end_run.h"

#include "cli/session/output.h"
#include "cli/verbs/explain.h"
#include "cli/verbs/internal/session_flags.h"
#include "cli/views/run_view.h"
#include "model/codec/platform.h"
#include "model/resources.h"
#include "platform/names.h"
#include "queue/marks.h"

#include <memory>
#include <utility>

namespace codeflare::cli {

namespace {

const model::ResourceType kRuns = model::resource_type<model::Run>();

template <Task<int> (*run)(Session&, RunNameFlags)>
void add_options(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<internal::Typed<RunNameFlags>>();
  verb.add_option("NAME,--name", typed->flags.names, "name of the run")->required();
  internal::finish(verb, chosen, typed, run);
}

Task<Result<model::Run>> find_run(Session& session, std::string name) {
  CO_TRY_ASSIGN(const kube::ObjectRef object,
                co_await session.client().get(kRuns, {session.ns(), std::move(name)}));
  co_return object->as<model::Run>();
}

// Patches a Run that has not ended.
Task<Result<void>> change(Session& session, std::string name, std::string patch) {
  CO_TRY_ASSIGN(const model::Run run, co_await find_run(session, name));
  if (model::is_terminal(run.status)) {
    co_return fail(failed_precondition("run " + name + " has ended already (" + run.status.phase +
                                       "); nothing was changed"));
  }
  CO_TRY(co_await session.client().patch(kRuns, {session.ns(), std::move(name)},
                                         kube::PatchKind::merge, std::move(patch)));
  co_return Result<void>();
}

Task<int> change_all(Session& session, RunNameFlags flags, std::string patch, std::string done) {
  int code = kDone;
  for (const std::string& name : flags.names) {
    std::string copy = name;
    const Result<void> changed = co_await change(session, std::move(copy), patch);
    if (!changed) {
      code = report_coded(session.console(), changed.error(), "run " + name);
    } else {
      session.console().out("run/" + name +
                            (session.output() == Output::name ? "\n" : " " + done + "\n"));
    }
  }
  co_return code;
}

}  // namespace

constinit const Verb kCancelRun = {.word = "cancel",
                                   .noun = "run",
                                   .about = "End runs and keep their status",
                                   .examples = "codeflare cancel run train",
                                   .add = add_options<run_cancel_run>};
constinit const Verb kDeleteRun = {.word = "delete",
                                   .noun = "run",
                                   .about = "Delete runs with all that belongs to them",
                                   .examples = "codeflare delete run train",
                                   .add = add_options<run_delete_run>};
constinit const Verb kHoldRun = {.word = "hold",
                                 .noun = "run",
                                 .about = "Keep runs from starting, or stop and requeue them",
                                 .examples = "codeflare hold run train",
                                 .add = add_options<run_hold_run>};
constinit const Verb kReleaseRun = {.word = "release",
                                    .noun = "run",
                                    .about = "Let held runs start",
                                    .examples = "codeflare release run train",
                                    .add = add_options<run_release_run>};
constinit const Verb kExplainRun = {
    .word = "explain",
    .noun = "run",
    .about = "Show the origin of every value and the queue's reasons",
    .examples = "codeflare explain run train",
    .add = add_options<run_explain_run>};

Task<int> run_cancel_run(Session& session, RunNameFlags flags) {
  std::string patch = R"({"metadata":{"annotations":{")" +
                      std::string(platform::kCancelAnnotation) + R"(":"true"}}})";
  co_return co_await change_all(session, std::move(flags), std::move(patch), "cancelled");
}

Task<int> run_hold_run(Session& session, RunNameFlags flags) {
  co_return co_await change_all(session, std::move(flags), R"({"spec":{"suspend":true}})", "held");
}

Task<int> run_release_run(Session& session, RunNameFlags flags) {
  co_return co_await change_all(session, std::move(flags), R"({"spec":{"suspend":false}})",
                                "released");
}

Task<int> run_delete_run(Session& session, RunNameFlags flags) {
  int code = kDone;
  for (const std::string& name : flags.names) {
    const Result<kube::ObjectRef> removed = co_await session.client().remove(
        kRuns, {session.ns(), name}, {.propagation_policy = "Background"});
    if (!removed) {
      code = report_coded(session.console(), removed.error(), "run " + name);
    } else {
      session.console().out("run/" + name +
                            (session.output() == Output::name ? "\n" : " deleted\n"));
    }
  }
  co_return code;
}

Task<int> run_explain_run(Session& session, RunNameFlags flags) {
  int code = kDone;
  for (const std::string& name : flags.names) {
    std::string copy = name;
    const Result<model::Run> run = co_await find_run(session, std::move(copy));
    if (!run) {
      code = report_coded(session.console(), run.error(), "run " + name);
      continue;
    }
    session.console().out(render_run_details(*run, session.now()));
    if (!run->status.app_wrapper.empty() && !model::is_terminal(run->status)) {
      session.console().out("\n");
      ExplainFlags explained{.kind = "appwrapper",
                             .name = run->status.app_wrapper,
                             .controller_ns = std::string(queue::kControllerNamespace)};
      const int of_queue = co_await run_explain(session, std::move(explained));
      code = of_queue == kDone ? code : of_queue;
    }
  }
  co_return code;
}

}  // namespace codeflare::cli
