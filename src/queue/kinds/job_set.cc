#include "queue/kinds/job_pods.h"
#include "queue/kinds/kinds.h"

#include <array>

namespace codeflare::queue {
namespace {

using At = TemplateReader::At;

constexpr std::array<std::string_view, 1> kNameLabels = {"jobset.sigs.k8s.io/jobset-name"};

void read_templates(TemplateReader& reader, const At& spec) {
  const At jobs = TemplateReader::below(spec, "replicatedJobs");
  if (jobs.value == nullptr || !jobs.value->is_array()) {
    reader.problems().add(jobs.pointer, "expected an array");
    return;
  }
  for (std::size_t i = 0; i < jobs.value->size(); ++i) {
    const At job = TemplateReader::below(jobs, i);
    const At job_spec = TemplateReader::below(TemplateReader::below(job, "template"), "spec");
    add_job(reader, job_spec, reader.whole(job, "replicas").value_or(1));
  }
}

}  // namespace

constinit const WrappedKind kJobSet{
    .group = "jobset.x-k8s.io",
    .kind = "JobSet",
    .read_templates = read_templates,
    .name_labels = kNameLabels,
    .life = always_ends,
    .failure = condition_failure,
    .succeeded = condition_success,
};

}  // namespace codeflare::queue
