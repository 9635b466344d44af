#pragma once

#include "queue/kinds/pod_counts.h"
#include "queue/kinds/template_reader.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

// Objects with `replicas`, 1 by default, of one `template`.
namespace codeflare::queue {

void read_replicas(TemplateReader& reader, const TemplateReader::At& spec);
inline constexpr std::array<std::string_view, 1> kReplicaFields = {"replicas"};
std::optional<std::int64_t> count_replicas(const PodCount& asked);

}  // namespace codeflare::queue
