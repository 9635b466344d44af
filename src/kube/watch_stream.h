#pragma once

#include "base/result.h"
#include "kube/client.h"
#include "net/http.h"

#include <cstddef>
#include <memory>
#include <string_view>

namespace codeflare::kube {

// The event in one line of a watch. ERROR events and lines that are not an event are errors; the
// former carry the server's Status.
Result<WatchEvent> parse_watch_event(std::string_view line);

// Events out of the body of a watch: one JSON object per line, however the bytes are cut into
// pieces. A body that ends within a line is `unavailable`, an event beyond the limit `too_large`.
std::unique_ptr<WatchStream> make_watch_stream(net::Body body, std::size_t event_bytes_max);

}  // namespace codeflare::kube
