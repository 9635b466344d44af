#pragma once

#include "net/memory_pair.h"

namespace codeflare::net::testing {

using net::MemoryPair;

}  // namespace codeflare::net::testing
