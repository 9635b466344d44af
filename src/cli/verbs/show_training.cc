#include "cli/verbs/show_training.h"

#include "cli/verbs/internal/session_flags.h"
#include "cli/verbs/internal/show_kind.h"
#include "cli/views/training_view.h"
#include "model/codec/training_job.h"

#include <memory>
#include <utility>

namespace codeflare::cli {

namespace {

using Flags = internal::Typed<ShowTrainingFlags>;

void add_list(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<Flags>();
  verb.add_flag("-A,--all-namespaces,--all", typed->flags.all_namespaces, "every namespace");
  verb.add_option("-l,--selector", typed->flags.selector, "only these labels: app=web,tier!=test")
      ->type_name("LABELS");
  internal::finish(verb, chosen, typed, run_list_training);
}

void add_status(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<Flags>();
  verb.add_option("NAME,--name", typed->flags.name, "name of the TrainingJob")->required();
  internal::finish(verb, chosen, typed, run_status_training);
}

}  // namespace

constinit const Verb kListTraining = {.word = "list",
                                      .noun = "trainingjob",
                                      .about = "List TrainingJobs with size and bounds",
                                      .examples = "codeflare list tj -A",
                                      .add = add_list};
constinit const Verb kStatusTraining = {.word = "status",
                                        .noun = "trainingjob",
                                        .about = "Show stage, size and reason of a TrainingJob",
                                        .examples = "codeflare status tj bert",
                                        .add = add_status};

Task<int> run_list_training(Session& session, ShowTrainingFlags flags) {
  internal::ListedKind listed{"trainingjob", flags.all_namespaces, std::move(flags.selector)};
  co_return co_await internal::list_kind<model::TrainingJob>(session, std::move(listed),
                                                             render_training_jobs);
}

Task<int> run_status_training(Session& session, ShowTrainingFlags flags) {
  internal::NamedOne which{"trainingjob", std::move(flags.name)};
  co_return co_await internal::show_one<model::TrainingJob>(session, std::move(which),
                                                            render_training_status);
}

}  // namespace codeflare::cli
