#pragma once

#include "base/result.h"
#include "json/value.h"

#include <cstddef>

namespace codeflare::json {

struct PatchOptions {
  std::size_t max_operations = 10'000;
  // Memory the operations may add to the target: `copy` can double a document each time.
  std::size_t max_growth_bytes = std::size_t{32} << 20;
  // Values touched by all operations together (looked up, shifted, copied, measured): what a
  // patch may cost. An honest patch stays far below.
  std::size_t max_work = 50'000'000;
  // `replace` adds a member that its object lacks, as in kube-apiserver and beyond RFC 6902: Ray's
  // autoscaler relies on it.
  bool replace_adds = false;
};

// Applies a JSON patch (RFC 6902) to a copy of the target: all operations or none.
// Errors name the operation: invalid_argument when the patch itself is malformed,
// failed_precondition when a `test` fails or a path leads nowhere, too_large beyond the limits
// (also for a result nested deeper than kDepthLimit).
Result<Document> apply_patch(const Value& target, const Value& patch,
                             const PatchOptions& options = {});

}  // namespace codeflare::json
