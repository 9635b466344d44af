#include "cli/verbs/scale_training.h"

#include "cli/session/output.h"
#include "cli/verbs/internal/session_flags.h"
#include "cli/views/training_view.h"
#include "model/codec/training_job.h"
#include "model/resources.h"
#include "queue/training_work.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace codeflare::cli {

namespace {

constexpr std::int64_t kSizeMax = 100'000;

void add_options(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<internal::Typed<ScaleTrainingFlags>>();
  verb.add_option("NAME,--name", typed->flags.name, "name of the TrainingJob")->required();
  verb.add_option("--min", typed->flags.min, "fewest pods (spec.minSize)")
      ->check(CLI::Range(std::int64_t{1}, kSizeMax))
      ->type_name("N");
  verb.add_option("--max", typed->flags.max, "most pods (spec.maxSize)")
      ->check(CLI::Range(std::int64_t{1}, kSizeMax))
      ->type_name("N");
  verb.add_option("--size", typed->flags.size,
                  "ceiling between min and max (spec.desiredSize); 0 removes the ceiling")
      ->check(CLI::Range(std::int64_t{0}, kSizeMax))
      ->type_name("N");
  internal::finish(verb, chosen, typed, run_scale_training, {"json", "yaml", "name"});
}

// The spec with the numbers that were asked for.
model::TrainingJob scaled(model::TrainingJob job, const ScaleTrainingFlags& flags) {
  model::TrainingJobSpec& spec = job.spec;
  spec.min_size = flags.min ? flags.min : spec.min_size;
  spec.max_size = flags.max ? flags.max : spec.max_size;
  if (flags.size) {
    spec.desired_size = *flags.size == 0 ? std::nullopt : flags.size;
  }
  return job;
}

// Why the new numbers cannot be used; empty: they can.
std::string problem_with(const model::TrainingJob& before, const model::TrainingJob& after,
                         bool new_ceiling) {
  const TrainingBounds bounds = bounds_of(after.spec);
  const std::string range = std::to_string(bounds.min) + ".." + std::to_string(bounds.max);
  if (bounds.min > bounds.max) {
    return "min " + std::to_string(bounds.min) + " is above max " + std::to_string(bounds.max) +
           "; add --max " + std::to_string(bounds.min) + " or lower --min";
  }
  if (new_ceiling && bounds.ceiling &&
      (*bounds.ceiling < bounds.min || *bounds.ceiling > bounds.max)) {
    return "size " + std::to_string(*bounds.ceiling) + " is outside min..max " + range +
           "; change --size, or add --min or --max";
  }
  // Problems that the job already had are not of these numbers.
  const std::vector<std::string> known = queue::problems_of(before, {});
  for (const std::string& problem : queue::problems_of(after, {})) {
    if (std::ranges::find(known, problem) == known.end()) {
      return problem;
    }
  }
  return "";
}

std::string patch_of(const ScaleTrainingFlags& flags) {
  std::string fields;
  const auto add = [&](std::string_view field, const std::string& value) {
    fields += (fields.empty() ? "\"" : ",\"") + std::string(field) + "\":" + value;
  };
  if (flags.min) {
    add("minSize", std::to_string(*flags.min));
  }
  if (flags.max) {
    add("maxSize", std::to_string(*flags.max));
  }
  if (flags.size) {
    add("desiredSize", *flags.size == 0 ? "null" : std::to_string(*flags.size));
  }
  return R"({"spec":{)" + fields + "}}";
}

struct Scaled {
  model::TrainingJob before;
  TypedObject after;
};

Task<Result<Scaled>> scale(Session& session, ScaleTrainingFlags flags) {
  const model::ResourceType type = model::resource_type<model::TrainingJob>();
  const model::ObjectKey key{session.ns(), flags.name};
  CO_TRY_ASSIGN(const kube::ObjectRef object, co_await session.client().get(type, key));
  CO_TRY_ASSIGN(model::TrainingJob before, object->as<model::TrainingJob>());
  if (queue::is_finished(before.status)) {
    co_return fail(failed_precondition("trainingjob " + flags.name +
                                       " has ended already; nothing was changed"));
  }
  const std::string problem = problem_with(before, scaled(before, flags), flags.size.has_value());
  if (!problem.empty()) {
    co_return fail(
        invalid_argument("trainingjob " + flags.name + ": " + problem + "; nothing was changed"));
  }
  CO_TRY_ASSIGN(kube::ObjectRef after, co_await session.client().patch(
                                           type, key, kube::PatchKind::merge, patch_of(flags)));
  co_return Scaled{std::move(before), {type, "trainingjob", std::move(after)}};
}

}  // namespace

constinit const Verb kScale = {.word = "scale",
                               .about = "Change the size of running work",
                               .examples = "codeflare scale tj bert --min 1 --max 4"};
constinit const Verb kScaleTraining = {.word = "scale",
                                       .noun = "trainingjob",
                                       .about = "Change the bounds of a TrainingJob",
                                       .examples = "codeflare scale tj bert --min 1 --max 4",
                                       .add = add_options};

Task<int> run_scale_training(Session& session, ScaleTrainingFlags flags) {
  if (!flags.min && !flags.max && !flags.size) {
    co_return report_usage(session.console(), "scale needs --min, --max or --size");
  }
  const Result<Scaled> done = co_await scale(session, flags);
  if (!done && done.error().code == ErrorCode::invalid_argument) {
    co_return report_usage(session.console(), done.error().message);
  }
  if (!done) {
    co_return report_coded(session.console(), done.error(), "trainingjob " + flags.name);
  }
  if (session.output() == Output::name) {
    session.console().out("trainingjob/" + flags.name + "\n");
    co_return kDone;
  }
  if (!is_table(session.output())) {
    session.console().out(render_objects({done->after}, session.output(), false));
    co_return kDone;
  }
  const Result<model::TrainingJob> after = done->after.object->as<model::TrainingJob>();
  if (!after) {
    co_return report_coded(session.console(), after.error(), "trainingjob " + flags.name);
  }
  session.console().out("trainingjob/" + flags.name + " scaled: " +
                        change_text(bounds_of(done->before.spec), bounds_of(after->spec)) + "\n");
  co_return kDone;
}

}  // namespace codeflare::cli
