#pragma once

#include "apiserver/patch/internal/managers.h"
#include "base/error.h"

#include <vector>

namespace codeflare::apiserver::internal {

// A field that somebody else owns and the configuration wants otherwise.
struct FieldConflict {
  Manager manager;
  FieldPath path;
};

// 409 with one cause per conflict.
Error conflict_error(std::vector<FieldConflict> conflicts);

}  // namespace codeflare::apiserver::internal
