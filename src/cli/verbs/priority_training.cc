#include "cli/verbs/priority_training.h"

#include "cli/session/output.h"
#include "cli/verbs/internal/session_flags.h"
#include "kube/typed.h"
#include "model/codec/training_job.h"
#include "queue/training_work.h"

#include <memory>
#include <utility>

namespace codeflare::cli {

namespace {

void add_options(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<internal::Typed<PriorityTrainingFlags>>();
  verb.add_option("NAME,--name", typed->flags.name, "name of the TrainingJob")->required();
  verb.add_option("N", typed->flags.priority, "new priority, a whole number")->required();
  internal::finish(verb, chosen, typed, run_priority_training, {"name"});
}

// The priority until now.
Task<Result<std::int32_t>> change(Session& session, PriorityTrainingFlags flags) {
  kube::Api<model::TrainingJob> jobs(session.client(), session.ns());
  CO_TRY_ASSIGN(const model::TrainingJob job, co_await jobs.get(flags.name));
  if (queue::is_finished(job.status) || job.metadata.deleting()) {
    co_return fail(failed_precondition("has already finished; its priority was not changed"));
  }
  std::string patch = R"({"spec":{"priority":)" + std::to_string(flags.priority) + "}}";
  CO_TRY(co_await session.client().patch(model::resource_type<model::TrainingJob>(),
                                         job.metadata.key(), kube::PatchKind::merge,
                                         std::move(patch)));
  co_return job.spec.priority;
}

}  // namespace

constinit const Verb kPriorityTraining = {.word = "priority",
                                          .noun = "trainingjob",
                                          .about = "Change the priority of a TrainingJob",
                                          .examples = "codeflare priority tj bert 10",
                                          .add = add_options};

Task<int> run_priority_training(Session& session, PriorityTrainingFlags flags) {
  const Result<std::int32_t> before = co_await change(session, flags);
  if (!before) {
    co_return report_coded(session.console(), before.error(), "trainingjob " + flags.name);
  }
  session.console().out("trainingjob/" + flags.name +
                        (session.output() == Output::name
                             ? "\n"
                             : " priority " + std::to_string(flags.priority) + " (was " +
                                   std::to_string(*before) + ")\n"));
  co_return kDone;
}

}  // namespace codeflare::cli
