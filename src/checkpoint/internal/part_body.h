#pragma once

#include "base/env/env.h"
#include "base/env/file_handle.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/rules.h"
#include "net/http.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace codeflare::checkpoint::internal {

// Bytes of a part, chunk by chunk. A chunk that is read from its first to its last byte is compared
// with its checksum before the last piece is handed out.
class PartBody final : public net::BodyStream {
 public:
  struct Source {
    std::string path;
    Chunk chunk;
  };
  // `hold` keeps the files while the body lives.
  PartBody(Env env, FileHandles& handles, std::vector<Source> sources, ByteRange range,
           std::shared_ptr<void> hold);

  Task<Result<Bytes>> read() override;

 private:
  Result<Bytes> next_piece();  // off the loop
  Result<void> open_next();

  Env env_;
  FileHandles& handles_;
  std::vector<Source> sources_;
  ByteRange range_;
  std::shared_ptr<void> hold_;
  std::size_t at_ = 0;  // source
  std::unique_ptr<FileHandle> file_;
  std::uint64_t position_ = 0;  // in the part
  std::uint32_t crc_ = 0;
  bool whole_ = false;  // the open chunk is read from its first byte
};

}  // namespace codeflare::checkpoint::internal
