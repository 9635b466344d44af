#include "apiserver/store/internal/raw_file.h"

#include "base/check.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace codeflare::apiserver {

namespace {

// SQLite writes less than 128 KiB at a time.
constexpr std::uint64_t kChunkBytes = 1 << 16;

}  // namespace

void RawFile::CloseFile::operator()(sqlite3_file* file) const {
  if (file->pMethods != nullptr) {
    file->pMethods->xClose(file);
  }
}

Result<void> RawFile::check(const char* what, int code) const {
  if (code == SQLITE_OK) {
    return {};
  }
  bool full = (code & 0xff) == SQLITE_FULL;
  std::string message = std::string(what) + " " + path_ + ": " + sqlite3_errstr(code) +
                        " (SQLite " + std::to_string(code) + ")";
  return fail(full ? resource_exhausted(std::move(message)) : internal_error(std::move(message)));
}

Result<RawFile> RawFile::open(const Name& name) {
  sqlite3_vfs* layer = sqlite3_vfs_find(name.vfs.empty() ? nullptr : name.vfs.c_str());
  CHECK(layer != nullptr, "no such file layer");
  RawFile raw;
  raw.path_ = name.database + name.suffix;
  raw.name_.reset(const_cast<char*>(sqlite3_create_filename(
      name.database.c_str(), (name.database + "-journal").c_str(), raw.path_.c_str(), 0, nullptr)));
  CHECK(raw.name_ != nullptr, "out of memory");
  auto bytes = static_cast<std::size_t>(layer->szOsFile);
  raw.memory_ = std::make_unique<std::byte[]>(bytes);
  auto* file = reinterpret_cast<sqlite3_file*>(raw.memory_.get());
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_WAL;
  int code = layer->xOpen(layer, sqlite3_filename_wal(raw.name_.get()), file, flags, nullptr);
  raw.file_.reset(file);
  TRY(raw.check("open", code));
  return raw;
}

Result<std::uint64_t> RawFile::size() {
  sqlite3_int64 size = 0;
  TRY(check("measure", file_->pMethods->xFileSize(file_.get(), &size)));
  return static_cast<std::uint64_t>(size);
}

Result<void> RawFile::read(std::uint64_t offset, std::span<char> bytes) {
  int code = file_->pMethods->xRead(file_.get(), bytes.data(), static_cast<int>(bytes.size()),
                                    static_cast<sqlite3_int64>(offset));
  return code == SQLITE_IOERR_SHORT_READ ? Result<void>() : check("read", code);
}

Result<void> RawFile::write(std::uint64_t offset, std::string_view bytes) {
  return check("write",
               file_->pMethods->xWrite(file_.get(), bytes.data(), static_cast<int>(bytes.size()),
                                       static_cast<sqlite3_int64>(offset)));
}

Result<void> RawFile::truncate(std::uint64_t size) {
  return check("truncate",
               file_->pMethods->xTruncate(file_.get(), static_cast<sqlite3_int64>(size)));
}

Result<void> RawFile::visit(const Visitor& visitor) {
  TRY_ASSIGN(const std::uint64_t end, size());
  std::vector<char> chunk(kChunkBytes);
  for (std::uint64_t at = 0; at < end; at += kChunkBytes) {
    const std::span<char> piece = std::span(chunk).first(std::min(kChunkBytes, end - at));
    TRY(read(at, piece));
    TRY(visitor(at, {piece.data(), piece.size()}));
  }
  return {};
}

}  // namespace codeflare::apiserver
