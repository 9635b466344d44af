#include "checkpoint/testing/cut_disk.h"

#include <utility>

namespace codeflare::checkpoint {

namespace {

class CutHandle final : public FileHandle {
 public:
  CutHandle(CutDisk& disk, std::unique_ptr<FileHandle> file, std::string path)
      : disk_(disk), file_(std::move(file)), path_(std::move(path)) {}

  Result<void> write_at(std::uint64_t offset, std::string_view bytes) override {
    TRY(disk_.check_full(path_));
    if (const Result<void> change = disk_.change(path_); !change) {
      // A part of the last write may have reached the disk.
      static_cast<void>(file_->write_at(offset, bytes.substr(0, bytes.size() / 2)));
      return change;
    }
    return file_->write_at(offset, bytes);
  }
  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) override {
    TRY(disk_.check_power(path_));
    return file_->read_at(offset, into);
  }
  Result<void> sync() override {
    TRY(disk_.change(path_));
    return disk_.begin_sync(path_) ? file_->sync() : Result<void>();
  }
  void begin_writing(std::uint64_t, std::uint64_t) override {}

 private:
  CutDisk& disk_;
  std::unique_ptr<FileHandle> file_;
  std::string path_;
};

}  // namespace

CutDisk::CutDisk(FileSystem& files, Random& random)
    : files_(files), handles_(**handles_of(files)), random_(random) {}

Result<void> CutDisk::check_power(const std::string& path) const {
  return dead_ ? Result<void>(fail(internal_error(path + ": the power is gone"))) : Result<void>();
}

Result<void> CutDisk::check_full(const std::string& path) const {
  return full_ ? Result<void>(fail(resource_exhausted("write " + path + ": no space left")))
               : Result<void>();
}

Result<void> CutDisk::change(const std::string& path) {
  TRY(check_power(path));
  ++changes_;
  if (changes_left_-- == 0) {
    dead_ = true;
  }
  return check_power(path);
}

bool CutDisk::begin_sync(const std::string& path) {
  if (!ignore_syncs_) {
    dirty_.erase(path);
  }
  return !ignore_syncs_;
}

// Each file that was not synced is lost, kept, or kept up to some byte.
void CutDisk::tear() {
  for (const std::string& path : dirty_) {
    Result<std::string> content = files_.read(path, SIZE_MAX);
    const std::uint64_t fate = random_.below(3);
    if (!content || fate == 0) {
      continue;
    }
    if (fate == 1) {
      content->resize(random_.below(content->size() + 1));
    }
    static_cast<void>(files_.write(path, *content));
  }
  dirty_.clear();
}

void CutDisk::revive() {
  dead_ = full_ = false;
  changes_left_ = UINT64_MAX;
}

Result<std::string> CutDisk::read(const std::string& path, std::size_t bytes_max) {
  TRY(check_power(path));
  return files_.read(path, bytes_max);
}
Result<void> CutDisk::write(const std::string& path, std::string_view content,
                            WriteOptions options) {
  TRY(check_full(path));
  TRY(change(path));
  return files_.write(path, content, options);
}
Result<void> CutDisk::create(const std::string& path, std::uint32_t mode) {
  TRY(change(path));
  return files_.create(path, mode);
}
Result<void> CutDisk::append(const std::string& path, std::string_view content) {
  TRY(check_full(path));
  TRY(change(path));
  return files_.append(path, content);
}
Result<void> CutDisk::sync(const std::string& path) {
  TRY(change(path));
  return files_.sync(path);
}
Result<void> CutDisk::remove(const std::string& path) {
  TRY(change(path));
  return files_.remove(path);
}

// The power may go after some of the files.
Result<void> CutDisk::remove_all(const std::string& path) {
  TRY(check_power(path));
  if (const Result<std::vector<std::string>> names = files_.list(path)) {
    for (const std::string& name : *names) {
      TRY(remove_all(join_path(path, name)));
    }
  }
  TRY(change(path));
  return files_.remove_all(path);
}
Result<void> CutDisk::rename(const std::string& from, const std::string& to) {
  TRY(change(from));
  return files_.rename(from, to);
}
Result<void> CutDisk::make_directories(const std::string& path, std::uint32_t mode) {
  TRY(change(path));
  return files_.make_directories(path, mode);
}
Result<std::vector<std::string>> CutDisk::list(const std::string& path) {
  TRY(check_power(path));
  return files_.list(path);
}
Result<FileInfo> CutDisk::info(const std::string& path) {
  TRY(check_power(path));
  return files_.info(path);
}
bool CutDisk::exists(const std::string& path) {
  return files_.exists(path);
}
Result<std::unique_ptr<FileLock>> CutDisk::lock(const std::string& path) {
  TRY(check_power(path));
  return files_.lock(path);
}
Result<std::unique_ptr<FileHandle>> CutDisk::open_to_read(const std::string& path) {
  TRY(check_power(path));
  TRY_ASSIGN(std::unique_ptr<FileHandle> file, handles_.open_to_read(path));
  return std::make_unique<CutHandle>(*this, std::move(file), path);
}
Result<std::unique_ptr<FileHandle>> CutDisk::open_new(const std::string& path, std::uint32_t mode) {
  TRY(change(path));
  TRY_ASSIGN(std::unique_ptr<FileHandle> file, handles_.open_new(path, mode));
  dirty_.insert(path);
  return std::make_unique<CutHandle>(*this, std::move(file), path);
}
Result<void> CutDisk::sync_directory(const std::string& path) {
  TRY(change(path));
  return handles_.sync_directory(path);
}
Result<DiskSpace> CutDisk::disk_space(const std::string& path) {
  TRY(check_power(path));
  TRY_ASSIGN(DiskSpace space, handles_.disk_space(path));
  return space;
}

}  // namespace codeflare::checkpoint
