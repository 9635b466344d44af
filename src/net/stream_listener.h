#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "base/result.h"
#include "net/byte_stream.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace codeflare::net {

// A TCP port whose connections are handed over as streams. For real loops.
//   TRY_ASSIGN(auto listener, StreamListener::open(env, "127.0.0.1", 0));
//   co_await listener->serve([&](ByteStream& connection) { return talk(connection); });
class StreamListener {
 public:
  // Port 0: any that is free.
  static Result<std::unique_ptr<StreamListener>> open(Env env, const std::string& address,
                                                      std::uint16_t port);
  virtual ~StreamListener() = default;

  virtual std::uint16_t port() const = 0;
  // Runs `talk` for every connection, several at a time, until the task is stopped; a connection
  // closes when its `talk` returns.
  virtual Task<void> serve(std::function<Task<void>(ByteStream& connection)> talk) = 0;
};

}  // namespace codeflare::net
