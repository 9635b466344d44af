#pragma once

#include "apiserver/schema/schema.h"
#include "base/result.h"
#include "json/value.h"

namespace codeflare::apiserver {

// A strategic merge patch, $-directives included, as kube-apiserver applies it. Changes `target` in
// place; memory comes from the arena.
Result<void> strategic_merge(const schema::Node& node, json::Arena& arena, json::Value& target,
                             const json::Value& patch);

}  // namespace codeflare::apiserver
