#include "queue/kinds/kinds.h"
#include "queue/kinds/replicas.h"

#include <algorithm>
#include <array>
#include <vector>

namespace codeflare::queue {
namespace {

using At = TemplateReader::At;

constexpr std::array<std::string_view, 1> kNameLabels = {"training.kubeflow.org/job-name"};

void read_templates(TemplateReader& reader, const At& spec) {
  const At roles = TemplateReader::below(spec, "pytorchReplicaSpecs");
  if (roles.value == nullptr || !roles.value->is_object()) {
    reader.problems().add(roles.pointer, "expected an object");
    return;
  }
  // By name, Master before Worker, whatever order they were written in.
  std::vector<std::string_view> names;
  for (const json::Member& member : roles.value->members()) {
    names.push_back(member.key);
  }
  std::ranges::sort(names);
  for (const std::string_view name : names) {
    read_replicas(reader, TemplateReader::below(roles, name));
  }
}

}  // namespace

constinit const WrappedKind kPyTorchJob{
    .group = "kubeflow.org",
    .kind = "PyTorchJob",
    .read_templates = read_templates,
    .name_labels = kNameLabels,
    .count_pods = count_replicas,
    .count_fields = {.list = "pytorchReplicaSpecs", .names = kReplicaFields},
    .life = always_ends,
    .limits_may_come = true,
    .failure = condition_failure,
    .succeeded = condition_success,
};

}  // namespace codeflare::queue
