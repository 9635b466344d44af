#pragma once

#include "json/value.h"

namespace codeflare::json {

// Applies a JSON merge patch (RFC 7386): members of the patch replace or join those of the target,
// null removes, everything but objects replaces as a whole. The result shares nothing.
Document apply_merge_patch(const Value& target, const Value& patch);
// As above; the result lives in `arena`.
Value apply_merge_patch(Arena& arena, const Value& target, const Value& patch);

// The merge patch that turns `from` into `to`, {} when nothing changes. A merge patch cannot set a
// member to null: null members of `to` count as absent, which is what Kubernetes means by them.
Document merge_diff(const Value& from, const Value& to);

}  // namespace codeflare::json
