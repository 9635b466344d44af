#pragma once

#include "base/env/env.h"
#include "base/env/file_handle.h"
#include "base/result.h"
#include "net/http.h"

#include <cstdint>
#include <functional>
#include <string>

namespace codeflare::checkpoint::internal {

struct Received {
  std::uint64_t size = 0;
  std::uint32_t crc32c = 0;
  std::uint32_t crc32 = 0;  // zlib's, only when it was asked for
};

struct ReceiveOptions {
  std::string path{};  // of the file to make
  bool crc32 = false;
  std::uint64_t free_bytes_min = 0;
  // Asked on the loop before more bytes are written.
  std::function<Result<void>(std::uint64_t)> charge{};
};

// Streams a body into a new file and syncs it. One piece is written while the next one arrives; no
// more is held. On failure the file may be there: the caller removes it.
Task<Result<Received>> receive(Env env, FileHandles& handles, ReceiveOptions options,
                               net::Body body);

}  // namespace codeflare::checkpoint::internal
