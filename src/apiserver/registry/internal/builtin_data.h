#pragma once

#include "apiserver/registry/resource.h"
#include "json/value.h"

#include <string_view>
#include <vector>

namespace codeflare::apiserver::internal {

// What field selectors may name, as upstream's field label conversions allow it.
std::vector<SelectableField> selectable_fields(std::string_view group, std::string_view plural);

// Between "v1" and "events.k8s.io/v1": two views of one object.
Result<void> convert_event(json::Arena& arena, json::Value& object, std::string_view from,
                           std::string_view to);

// Between "autoscaling/v1" and "autoscaling/v2". What v1 has no field for travels in the
// annotations that upstream uses for it.
Result<void> convert_autoscaler(json::Arena& arena, json::Value& object, std::string_view from,
                                std::string_view to);

}  // namespace codeflare::apiserver::internal
