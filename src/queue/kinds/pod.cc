#include "model/codec/pod.h"

#include "queue/kinds/kinds.h"

#include <string_view>
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

// Its containers restart indefinitely unless it says otherwise.
Life life(const json::Value& pod) {
  const json::Value* spec = pod.find("spec");
  const std::string_view policy =
      spec == nullptr ? std::string_view() : spec->string_or_empty("restartPolicy");
  return policy == "Never" || policy == "OnFailure" ? Life::ends : Life::restarts;
}

}  // namespace

constinit const WrappedKind kPod{
    .group = "",
    .kind = "Pod",
    .read_templates = read_templates,
    .life = life,
    .limits_may_come = true,
    .failure = phase_failure,
    .succeeded = phase_success,
};

}  // namespace codeflare::queue
