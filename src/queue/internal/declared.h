#pragma once

#include "model/app_wrapper.h"
#include "queue/kinds/template_reader.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace codeflare::queue {

// The requests of one pod of an entry: a limit stands for a request that is absent or zero.
model::ResourceList effective_requests(const model::CustomPodResources& entry);

// Which template each entry speaks of (demand.h says by which rule); empty without templates.
std::vector<std::size_t> match_entries(const std::vector<model::CustomPodResources>& entries,
                                       const std::vector<PodTemplate>& templates);

// How unlike two lists are: 0 when equal, at most 1 for each resource.
double unlikeness(const model::ResourceList& a, const model::ResourceList& b);

}  // namespace codeflare::queue
