#include "model/codec/pod.h"

#include "queue/kinds/kinds.h"

#include <utility>

namespace codeflare::queue {
namespace {

// A Pod is its own template.
void read_templates(TemplateReader& reader, const TemplateReader::At& spec) {
  Result<model::PodSpec> pod = model::from_json<model::PodSpec>(*spec.value);
  if (!pod) {
    reader.problems().add_decoding(spec.pointer, pod.error().message);
    return;
  }
  reader.add({.path = "", .count = 1, .total = 1, .spec = *std::move(pod), .labels = {}},
             spec.pointer);
}

}  // namespace

constinit const WrappedKind kPod{
    .group = "",
    .kind = "Pod",
    .read_templates = read_templates,
    .failure = phase_failure,
    .succeeded = phase_success,
};

}  // namespace codeflare::queue
