#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "net/internal/real_stream.h"
#include "net/url.h"

namespace codeflare::net::internal {

// Asks a SOCKS 5 proxy at the other end of the stream to pass bytes on to the endpoint, which it
// looks up itself. Reads not a byte too many.
Task<Result<void>> ask_socks(Stream& stream, const Url& proxy, const Url& endpoint);

}  // namespace codeflare::net::internal
