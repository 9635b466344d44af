#pragma once

#include "apiserver/rest/internal/server.h"
#include "apiserver/schema/schema.h"
#include "base/result.h"
#include "json/value.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::apiserver::internal {

enum class PatchType : std::uint8_t { json, merge, strategic, apply };

// The type that the Content-Type names; 415 for what the resource does not take.
Result<PatchType> patch_type(const Call& call);
// Values may point into `body`.
Result<json::Document> decode_patch(PatchType type, std::string_view body,
                                    std::vector<std::string>* duplicates);
// A JSON, merge or strategic patch applied to a copy; without a schema strategic means merge.
Result<json::Value> patched(PatchType type, const schema::Node* node, json::Arena& arena,
                            const json::Value& current, const json::Value& patch);

}  // namespace codeflare::apiserver::internal
