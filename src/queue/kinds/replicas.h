#pragma once

#include "queue/kinds/pod_counts.h"
#include "queue/kinds/template_reader.h"

#include <cstdint>
#include <optional>

// Objects with `replicas`, 1 by default, of one `template`.
namespace codeflare::queue {

void read_replicas(TemplateReader& reader, const TemplateReader::At& spec);
std::optional<std::int64_t> count_replicas(const PodCount& asked);

}  // namespace codeflare::queue
