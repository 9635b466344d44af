#pragma once

#include "json/value.h"
#include "model/resource_list.h"

namespace codeflare::apiserver {

// The amounts of an object like {"cpu":"2","memory":"1Gi"}; values that are not quantities are left
// out, because only validated objects get here.
model::ResourceList amounts_of(const json::Value& object);

}  // namespace codeflare::apiserver
