#pragma once

#include "base/error.h"

namespace codeflare::node {

// How `pod-keeper` and `node-holder` end when the system does not allow what they need. Every other
// code but 0 is a failure of the moment, of which nothing follows for the next time.
inline constexpr int kForbiddenExit = 3;

// Whether an attempt failed because the kernel does not allow it or does not know it, and would so
// again.
inline bool is_forbidden(const Error& error) {
  return error.code == ErrorCode::permission_denied || error.code == ErrorCode::unsupported ||
         error.code == ErrorCode::invalid_argument;
}

}  // namespace codeflare::node
