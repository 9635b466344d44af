#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>

namespace codeflare::net {

// A TCP port of the address that nobody has now, and that the system has not handed out lately. The
// caller races with everybody else who takes ports.
Result<std::uint16_t> free_port(const std::string& address);

}  // namespace codeflare::net
