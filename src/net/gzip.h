#pragma once

#include "net/http.h"

namespace codeflare::net {

// Decodes a gzip stream as it is read. What one read returns is bounded, whatever the input says.
Body gunzip(Body body);

}  // namespace codeflare::net
