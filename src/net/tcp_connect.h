#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "base/posix.h"
#include "base/result.h"

#include <cstdint>
#include <functional>
#include <string>

namespace codeflare::net {

// Whether somebody accepts connections there: connects and closes. By a socket of another network
// where `make_socket` makes such. The deadline is the caller's.
// For real loops.
Task<Result<void>> tcp_connect(Env env, std::string host, std::uint16_t port,
                               std::function<Task<Result<FileDescriptor>>()> make_socket = {});

}  // namespace codeflare::net
