#pragma once

#include "apiserver/patch/internal/field_set.h"
#include "apiserver/schema/schema.h"
#include "json/value.h"

#include <optional>
#include <string_view>

// kubectl's client-side apply leaves its configuration in an annotation. When the same person goes
// over to server-side apply, what the annotation owns is taken over without a conflict.
namespace codeflare::apiserver::internal {

// Fields of the annotation whose values are still the live ones. Nothing: no usable annotation.
std::optional<FieldSet> owned_by_last_applied(json::Arena& arena, const schema::Node& node,
                                              const json::Value& live,
                                              std::string_view api_version);

// When the object has the annotation, it now says what was applied.
void update_last_applied(json::Arena& arena, json::Value& object, const json::Value& applied);

}  // namespace codeflare::apiserver::internal
