#include "apiserver/store/internal/wal_file.h"

#include "base/check.h"

#include <algorithm>
#include <cstddef>

namespace codeflare::apiserver {

namespace {

constexpr int kChunkBytes = 1 << 16;

}  // namespace

void WalFile::CloseFile::operator()(sqlite3_file* file) const {
  if (file->pMethods != nullptr) {
    file->pMethods->xClose(file);
  }
}

Error WalFile::error(const char* what, int code) const {
  bool full = (code & 0xff) == SQLITE_FULL;
  std::string message = std::string(what) + " " + path_ + ": " + sqlite3_errstr(code) +
                        " (SQLite " + std::to_string(code) + ")";
  return full ? resource_exhausted(std::move(message)) : internal_error(std::move(message));
}

Result<WalFile> WalFile::open(const std::string& vfs, const std::string& database) {
  sqlite3_vfs* layer = sqlite3_vfs_find(vfs.empty() ? nullptr : vfs.c_str());
  CHECK(layer != nullptr, "no such file layer");
  WalFile wal;
  wal.path_ = database + "-wal";
  wal.name_.reset(const_cast<char*>(sqlite3_create_filename(
      database.c_str(), (database + "-journal").c_str(), wal.path_.c_str(), 0, nullptr)));
  CHECK(wal.name_ != nullptr, "out of memory");
  auto bytes = static_cast<std::size_t>(layer->szOsFile);
  wal.memory_ = std::make_unique<std::byte[]>(bytes);
  auto* file = reinterpret_cast<sqlite3_file*>(wal.memory_.get());
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_WAL;
  int code = layer->xOpen(layer, sqlite3_filename_wal(wal.name_.get()), file, flags, nullptr);
  wal.file_.reset(file);
  if (code != SQLITE_OK) {
    return fail(wal.error("open", code));
  }
  return wal;
}

Result<void> WalFile::write_again() {
  const sqlite3_io_methods& io = *file_->pMethods;
  sqlite3_int64 size = 0;
  if (int code = io.xFileSize(file_.get(), &size); code != SQLITE_OK) {
    return fail(error("measure", code));
  }
  std::vector<char> chunk(kChunkBytes);
  for (sqlite3_int64 at = 0; at < size; at += kChunkBytes) {
    int amount = static_cast<int>(std::min<sqlite3_int64>(kChunkBytes, size - at));
    if (int code = io.xRead(file_.get(), chunk.data(), amount, at); code != SQLITE_OK) {
      return fail(error("read", code));
    }
    if (int code = io.xWrite(file_.get(), chunk.data(), amount, at); code != SQLITE_OK) {
      return fail(error("write", code));
    }
  }
  return {};
}

}  // namespace codeflare::apiserver
