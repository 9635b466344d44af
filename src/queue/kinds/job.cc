#include "queue/kinds/job_pods.h"
#include "queue/kinds/kinds.h"
#include "queue/kinds/pod_counts.h"

#include <algorithm>
#include <array>

namespace codeflare::queue {
namespace {

constexpr std::array<std::string_view, 2> kNameLabels = {"job-name",
                                                         "batch.kubernetes.io/job-name"};

constexpr std::array<std::string_view, 2> kCountFields = {"parallelism", "completions"};

void read_templates(TemplateReader& reader, const TemplateReader::At& spec) {
  add_job(reader, spec, 1);
}

std::optional<std::int64_t> count_pods(const PodCount& asked) {
  const std::int64_t at_once = count_in(asked.parent, "parallelism").value_or(1);
  return std::min(at_once, count_in(asked.parent, "completions").value_or(at_once));
}

}  // namespace

void add_job(TemplateReader& reader, const TemplateReader::At& job_spec, std::int64_t times) {
  const std::optional<std::int64_t> parallelism = reader.whole(job_spec, "parallelism");
  std::optional<std::int64_t> completions = reader.whole(job_spec, "completions");
  if (!parallelism && !completions) {
    completions = 1;
  }
  const std::int64_t at_once = parallelism.value_or(1);
  const std::int64_t count = completions ? std::min(at_once, *completions) : at_once;
  // Without completions its pods share a queue of work: nobody knows how many it takes.
  reader.add_template(TemplateReader::below(job_spec, "template"), count * times,
                      completions ? std::optional(*completions * times) : std::nullopt);
}

constinit const WrappedKind kJob{
    .group = "batch",
    .kind = "Job",
    .read_templates = read_templates,
    .name_labels = kNameLabels,
    .count_pods = count_pods,
    .count_fields = {.names = kCountFields},
    .life = always_ends,
    .failure = condition_failure,
    .succeeded = condition_success,
};

}  // namespace codeflare::queue
