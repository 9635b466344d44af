#pragma once

#include "net/http.h"

#include <string>
#include <string_view>

namespace codeflare::net {

// Decodes a gzip stream as it is read. One read returns a bounded size, whatever the input says.
Body gunzip(Body body);

// The whole text as a gzip member, at a level meant for documents that are kept.
std::string gzip(std::string_view text);

}  // namespace codeflare::net
