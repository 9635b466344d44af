#pragma once

#include "base/env/env.h"
#include "net/internal/real_socket.h"

#include <string>
#include <vector>

namespace codeflare::net::internal {

// The addresses of a host name, in the system's order; a literal address needs no look-up.
Task<Result<std::vector<Endpoint>>> resolve(Env env, std::string host, std::uint16_t port);

}  // namespace codeflare::net::internal
