#include "model/codec/training_job.h"
#include "queue/kinds/kinds.h"
#include "queue/training_work.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::queue {
namespace {

using At = TemplateReader::At;

constexpr std::array<std::string_view, 1> kNameLabels = {"breezeml.ai/job"};

// The operator's unit and node selector join where the queue takes the AppWrapper.
void read_templates(TemplateReader& reader, const At& spec) {
  Result<model::TrainingJobSpec> read = model::from_json<model::TrainingJobSpec>(*spec.value);
  if (!read) {
    reader.problems().add_decoding(spec.pointer, read.error().message);
    return;
  }
  model::TrainingJob job;
  const At metadata = TemplateReader::below(reader.root(), "metadata");
  const std::string_view name =
      metadata.value == nullptr ? std::string_view() : metadata.value->string_or_empty("name");
  job.metadata.name = name.empty() ? "job" : name;
  job.spec = *std::move(read);
  const std::vector<std::string> problems = problems_of(job, {});
  for (const std::string& problem : problems) {
    reader.problems().add_decoding("", problem);
  }
  if (job.spec.run_policy.suspend) {
    reader.problems().add(
        spec.pointer + "/runPolicy/suspend",
        "cannot be true inside an AppWrapper; set spec.suspend of the AppWrapper");
  }
  if (!problems.empty()) {
    return;
  }
  const At pods = TemplateReader::below(TemplateReader::below(spec, "replicaSpecs"), "template");
  sched::Sizes sizes = sizes_of(job.spec);
  if (PodTemplate* added = reader.add_template(pods, sizes.min)) {
    // Another controller's jobs are made by their own rules.
    if (is_ours(job)) {
      added->sizes = std::move(sizes);
    }
    added->queue = queue_of(job.spec);
  }
}

}  // namespace

// Its bounds are followed by the queue itself.
constinit const WrappedKind kTrainingJob{
    .group = "breezeml.ai",
    .kind = "TrainingJob",
    .read_templates = read_templates,
    .name_labels = kNameLabels,
    .life = always_ends,
    .limits_may_come = true,
    .failure = condition_failure,
    .succeeded = condition_success,
};

}  // namespace codeflare::queue
