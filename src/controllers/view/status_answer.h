#pragma once

#include "base/error.h"
#include "net/http.h"

namespace codeflare::controllers::view {

// The error as a Status. Without Retry-After: a client that can do without the answer does so at
// once.
net::Response status_answer(const Error& error);

}  // namespace codeflare::controllers::view
