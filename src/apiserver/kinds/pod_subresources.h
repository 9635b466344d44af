#pragma once

#include "apiserver/schema/field_errors.h"
#include "json/value.h"

namespace codeflare::apiserver {

// The fields that pods/resize and pods/ephemeralcontainers may change, in upstream's words. A user
// with rights to these alone must not be able to write anything else.

// Leaves only what the containers ask for (resources, resizePolicy) different from `old`.
// Containers that were added, removed, renamed or moved stay as they are, for validate_resize() to
// reject.
void prepare_resize(json::Arena& arena, json::Value& pod, const json::Value& old);
void validate_resize(json::Arena& arena, const json::Value& pod, const json::Value& old,
                     FieldErrors& errors);

// Leaves only spec.ephemeralContainers different from `old`.
void prepare_ephemeral_containers(json::Arena& arena, json::Value& pod, const json::Value& old);
// Existing ones stay as they are.
void validate_ephemeral_containers_update(const json::Value& pod, const json::Value& old,
                                          FieldErrors& errors);

}  // namespace codeflare::apiserver
