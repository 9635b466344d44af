#pragma once

#include "apiserver/registry/resource.h"
#include "json/value.h"

#include <string_view>
#include <vector>

namespace codeflare::apiserver::builtin {

// The fields that field selectors may name, as upstream's field label conversions allow.
std::vector<SelectableField> selectable_fields(std::string_view group, std::string_view plural);

// Between "v1" and "events.k8s.io/v1": two views of one object.
Result<void> convert_event(json::Arena& arena, json::Value& object, std::string_view from,
                           std::string_view to);

// Between "autoscaling/v1" and "autoscaling/v2". Fields that v1 lacks travel in the annotations
// that upstream uses for them.
Result<void> convert_autoscaler(json::Arena& arena, json::Value& object, std::string_view from,
                                std::string_view to);

}  // namespace codeflare::apiserver::builtin
