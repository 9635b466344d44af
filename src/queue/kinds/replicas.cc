#include "queue/kinds/replicas.h"

namespace codeflare::queue {

void read_replicas(TemplateReader& reader, const TemplateReader::At& spec) {
  reader.add_template(TemplateReader::below(spec, "template"),
                      reader.whole(spec, "replicas").value_or(1));
}

std::optional<std::int64_t> count_replicas(const PodCount& asked) {
  return count_in(asked.parent, "replicas").value_or(1);
}

}  // namespace codeflare::queue
