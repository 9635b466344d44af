#include "cli/verbs/end_training.h"

#include "cli/session/output.h"
#include "cli/verbs/internal/session_flags.h"
#include "kube/typed.h"
#include "model/codec/training_job.h"
#include "queue/training_work.h"

#include <memory>
#include <utility>

namespace codeflare::cli {

namespace {

template <Task<int> (*run)(Session&, TrainingNameFlags)>
void add_options(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<internal::Typed<TrainingNameFlags>>();
  verb.add_option("NAME,--name", typed->flags.names, "names of the TrainingJobs")->required();
  internal::finish(verb, chosen, typed, run, {"name"});
}

Task<Result<std::string>> remove_one(Session& session, std::string name) {
  CO_TRY(co_await session.client().remove(model::resource_type<model::TrainingJob>(),
                                          {session.ns(), std::move(name)},
                                          {.propagation_policy = "Background"}));
  co_return "deleted";
}

Task<Result<std::string>> cancel_one(Session& session, std::string name) {
  kube::Api<model::TrainingJob> jobs(session.client(), session.ns());
  CO_TRY_ASSIGN(const model::TrainingJob job, co_await jobs.get(name));
  if (job.metadata.deleting()) {
    co_return "is already being deleted";
  }
  if (queue::is_finished(job.status)) {
    co_return "has already ended";
  }
  CO_TRY(co_await remove_one(session, std::move(name)));
  co_return "cancelled";
}

template <bool hold>
Task<Result<std::string>> hold_one(Session& session, std::string name) {
  kube::Api<model::TrainingJob> jobs(session.client(), session.ns());
  CO_TRY_ASSIGN(const model::TrainingJob job, co_await jobs.get(name));
  if (queue::is_finished(job.status)) {
    co_return fail(
        failed_precondition("trainingjob " + name + " has ended already: there is nothing to " +
                            std::string(hold ? "hold" : "release") + "; nothing was changed"));
  }
  if (job.spec.run_policy.suspend == hold) {
    co_return hold ? "is already held" : "is not held";
  }
  std::string patch =
      R"({"spec":{"runPolicy":{"suspend":)" + std::string(hold ? "true" : "false") + "}}}";
  CO_TRY(co_await session.client().patch(model::resource_type<model::TrainingJob>(),
                                         {session.ns(), std::move(name)}, kube::PatchKind::merge,
                                         std::move(patch)));
  co_return hold ? "held" : "released";
}

using One = Task<Result<std::string>> (*)(Session&, std::string);

Task<int> each_of(Session& session, TrainingNameFlags flags, One one) {
  int code = kDone;
  for (const std::string& name : flags.names) {
    std::string copy = name;
    const Result<std::string> done = co_await one(session, std::move(copy));
    if (!done) {
      code = both(code, report(session.console(), done.error(), "trainingjob " + name));
    } else {
      session.console().out("trainingjob/" + name +
                            (session.output() == Output::name ? "\n" : " " + *done + "\n"));
    }
  }
  co_return code;
}

}  // namespace

constinit const Verb kCancelTraining = {.word = "cancel",
                                        .noun = "trainingjob",
                                        .about = "Delete TrainingJobs that have not ended",
                                        .examples = "codeflare cancel tj bert",
                                        .add = add_options<run_cancel_training>};
constinit const Verb kDeleteTraining = {.word = "delete",
                                        .noun = "trainingjob",
                                        .about = "Delete TrainingJobs with their pods",
                                        .examples = "codeflare delete tj bert",
                                        .add = add_options<run_delete_training>};
constinit const Verb kHoldTraining = {
    .word = "hold",
    .noun = "trainingjob",
    .about = "Keep TrainingJobs from starting, or stop and requeue them",
    .examples = "codeflare hold tj bert",
    .add = add_options<run_hold_training>};
constinit const Verb kReleaseTraining = {.word = "release",
                                         .noun = "trainingjob",
                                         .about = "Let held TrainingJobs start",
                                         .examples = "codeflare release tj bert",
                                         .add = add_options<run_release_training>};

Task<int> run_cancel_training(Session& session, TrainingNameFlags flags) {
  co_return co_await each_of(session, std::move(flags), cancel_one);
}

Task<int> run_delete_training(Session& session, TrainingNameFlags flags) {
  co_return co_await each_of(session, std::move(flags), remove_one);
}

Task<int> run_hold_training(Session& session, TrainingNameFlags flags) {
  co_return co_await each_of(session, std::move(flags), hold_one<true>);
}

Task<int> run_release_training(Session& session, TrainingNameFlags flags) {
  co_return co_await each_of(session, std::move(flags), hold_one<false>);
}

}  // namespace codeflare::cli
