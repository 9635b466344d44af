#include "cli/verbs/explain_training.h"

#include "cli/gather/explain.h"
#include "cli/verbs/internal/session_flags.h"
#include "queue/marks.h"

#include <memory>
#include <utility>

namespace codeflare::cli {

namespace {

void add_options(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<internal::Typed<ExplainTrainingFlags>>();
  verb.add_option("NAME,--name", typed->flags.name, "name of the TrainingJob")->required();
  typed->flags.controller_ns = queue::kControllerNamespace;
  internal::add_controller_ns(verb, typed->flags.controller_ns);
  internal::finish(verb, chosen, typed, run_explain_training, {});
}

}  // namespace

constinit const Verb kExplainTraining = {
    .word = "explain",
    .noun = "trainingjob",
    .about = "Explain the size of a TrainingJob and why it is not larger",
    .examples = "codeflare explain tj bert",
    .add = add_options};

Task<int> run_explain_training(Session& session, ExplainTrainingFlags flags) {
  ExplainOptions options{.name = flags.name, .controller_ns = std::move(flags.controller_ns)};
  const Result<ExplainedTraining> explained =
      co_await explain_training(session, std::move(options));
  if (!explained) {
    co_return report_coded(session.console(), explained.error(), "trainingjob " + flags.name);
  }
  session.console().out(render_training_explanation(*explained, session.now()));
  co_return kDone;
}

}  // namespace codeflare::cli
