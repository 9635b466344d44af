#include "apiserver/store/testing/power_cut_disk.h"

#include <algorithm>
#include <sqlite3.h>
#include <utility>

namespace codeflare::apiserver {

namespace {

constexpr std::uint64_t kSectorBytes = 512;

class SetLock final : public FileLock {
 public:
  SetLock(std::shared_ptr<std::set<std::string>> locks, std::string path)
      : locks_(std::move(locks)), path_(std::move(path)) {}
  ~SetLock() override { locks_->erase(path_); }

 private:
  std::shared_ptr<std::set<std::string>> locks_;
  std::string path_;
};

void overwrite(std::string& content, std::uint64_t offset, std::string_view data) {
  if (content.size() < offset + data.size()) {
    content.resize(offset + data.size(), '\0');
  }
  content.replace(offset, data.size(), data);
}

Error full_error(const std::string& path) {
  return resource_exhausted("write " + path + ": no space left");
}

}  // namespace

PowerCutDisk::PowerCutDisk(std::uint64_t seed)
    : state_(seed),
      vfs_name_("power-cut-" + std::to_string(reinterpret_cast<std::uintptr_t>(this))) {
  vfs_ = register_vfs(*this, vfs_name_);
}

PowerCutDisk::~PowerCutDisk() {
  unregister_vfs(*vfs_);
}

std::uint64_t PowerCutDisk::next_random() {
  std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

bool PowerCutDisk::change() {
  if (dead_) {
    return false;
  }
  ++changes_;
  if (changes_left_ && (*changes_left_)-- == 0) {
    dead_ = true;
    changes_left_.reset();
  }
  return !dead_;
}

Result<void> PowerCutDisk::check_power(const std::string& path) const {
  if (dead_) {
    return fail(internal_error(path + ": the power is gone"));
  }
  return {};
}

// Sector by sector: kept, lost, or kept up to some byte.
void PowerCutDisk::apply(std::string& content, const File::Unsynced& write, bool may_lose) {
  if (write.truncated_to) {
    if (!may_lose || next_random() % 2 == 0) {
      content.resize(*write.truncated_to, '\0');
    }
    return;
  }
  std::uint64_t end = write.offset + write.data.size();
  for (std::uint64_t at = write.offset; at < end;) {
    std::uint64_t sector_end = std::min(end, (at / kSectorBytes + 1) * kSectorBytes);
    std::string_view sector =
        std::string_view(write.data).substr(at - write.offset, sector_end - at);
    if (may_lose) {
      std::uint64_t fate = next_random() % 8;
      if (fate < 4) {
        sector = {};
      } else if (fate == 4) {
        sector = sector.substr(0, next_random() % (sector.size() + 1));
      }
    }
    if (!sector.empty()) {
      overwrite(content, at, sector);
    }
    at = sector_end;
  }
}

void PowerCutDisk::restart() {
  // A name that was made or removed without a sync may be there or not.
  std::map<std::string, FilePtr> left = durable_names_;
  for (const auto& [path, file] : names_) {
    if (!left.contains(path) && next_random() % 2 == 0) {
      left[path] = file;
    }
  }
  for (const auto& [path, file] : durable_names_) {
    if (!names_.contains(path) && next_random() % 2 == 0) {
      left.erase(path);
    }
  }
  std::map<std::string, FilePtr> fresh;
  for (const auto& [path, file] : left) {
    auto survivor = std::make_shared<File>();
    survivor->durable = file->durable;
    for (const File::Unsynced& write : file->unsynced) {
      apply(survivor->durable, write, true);
    }
    survivor->content = survivor->durable;
    fresh[path] = std::move(survivor);
  }
  names_ = durable_names_ = std::move(fresh);
  restart_process();
}

void PowerCutDisk::restart_process() {
  locks_ = std::make_shared<std::set<std::string>>();
  changes_left_.reset();
  dead_ = full_ = false;
  failing_syncs_ = 0;
}

void PowerCutDisk::flip_bit(const std::string& path, std::uint64_t bit) {
  File& file = *names_.at(path);
  for (std::string* bytes : {&file.content, &file.durable}) {
    if (bit / 8 < bytes->size()) {
      char& byte = (*bytes)[bit / 8];
      byte = static_cast<char>(byte ^ (1 << bit % 8));
    }
  }
}

std::uint64_t PowerCutDisk::unsynced_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& [path, file] : names_) {
    for (const File::Unsynced& write : file->unsynced) {
      bytes += write.data.size();
    }
  }
  return bytes;
}

PowerCutDisk::FilePtr PowerCutDisk::find(const std::string& path) const {
  auto found = names_.find(path);
  return found == names_.end() ? nullptr : found->second;
}

int PowerCutDisk::open_file(const std::string& path, bool create, Opened& opened) {
  if (dead_) {
    return SQLITE_IOERR;
  }
  opened.file = find(path);
  if (opened.file) {
    return SQLITE_OK;
  }
  if (!create) {
    return SQLITE_CANTOPEN;
  }
  if (!change()) {
    return SQLITE_IOERR;
  }
  opened.file = names_[path] = std::make_shared<File>();
  opened.is_new = true;
  return SQLITE_OK;
}

int PowerCutDisk::write_file(File& file, std::uint64_t offset, std::string_view data) {
  if (dead_) {
    return SQLITE_IOERR_WRITE;
  }
  if (full_ && offset + data.size() > file.content.size()) {
    return SQLITE_FULL;
  }
  // Even the write during which the power goes may leave something.
  file.unsynced.push_back({offset, std::string(data)});
  if (!change()) {
    return SQLITE_IOERR_WRITE;
  }
  overwrite(file.content, offset, data);
  return SQLITE_OK;
}

int PowerCutDisk::truncate_file(File& file, std::uint64_t size) {
  if (!change()) {
    return SQLITE_IOERR_TRUNCATE;
  }
  file.unsynced.push_back({.truncated_to = size});
  file.content.resize(size, '\0');
  return SQLITE_OK;
}

int PowerCutDisk::sync_file(const std::string& path, const FilePtr& file, bool name_too) {
  if (!change()) {
    return SQLITE_IOERR_FSYNC;
  }
  ++syncs_;
  bool fails = failing_syncs_ > 0;
  failing_syncs_ -= fails ? 1 : 0;
  for (const File::Unsynced& write : file->unsynced) {
    apply(file->durable, write, fails);
  }
  file->unsynced.clear();
  if (fails) {
    return SQLITE_IOERR_FSYNC;
  }
  // Under its present name, if it still has one.
  if (name_too && find(path) == file) {
    durable_names_[path] = file;
  }
  return SQLITE_OK;
}

int PowerCutDisk::delete_file(const std::string& path, bool durably) {
  if (!change()) {
    return SQLITE_IOERR_DELETE;
  }
  if (names_.erase(path) == 0) {
    return SQLITE_IOERR_DELETE_NOENT;
  }
  if (durably) {
    durable_names_.erase(path);
  }
  return SQLITE_OK;
}

Result<std::string> PowerCutDisk::read(const std::string& path, std::size_t) {
  TRY(check_power(path));
  FilePtr file = find(path);
  if (!file) {
    return fail(not_found(path + " is not there"));
  }
  return file->content;
}

Result<void> PowerCutDisk::write(const std::string& path, std::string_view content, WriteOptions) {
  change();
  TRY(check_power(path));
  if (full_) {
    return fail(full_error(path));
  }
  auto file = std::make_shared<File>();
  file->content = file->durable = content;
  names_[path] = durable_names_[path] = std::move(file);
  return {};
}

Result<void> PowerCutDisk::create(const std::string& path, std::uint32_t) {
  change();
  TRY(check_power(path));
  if (names_.contains(path)) {
    return fail(already_exists(path + " is there already"));
  }
  // The name is lost with the power unless the file is synced.
  names_[path] = std::make_shared<File>();
  return {};
}

Result<void> PowerCutDisk::append(const std::string& path, std::string_view content) {
  Opened opened;
  if (open_file(path, true, opened) != SQLITE_OK ||
      write_file(*opened.file, opened.file->content.size(), content) != SQLITE_OK) {
    return fail(full_ ? full_error(path) : internal_error("append " + path));
  }
  return {};
}

Result<void> PowerCutDisk::sync(const std::string& path) {
  FilePtr file = find(path);
  if (!file || sync_file(path, file, true) != SQLITE_OK) {
    return fail(internal_error("sync " + path + ": input/output error"));
  }
  return {};
}

Result<void> PowerCutDisk::remove(const std::string& path) {
  change();
  TRY(check_power(path));
  if (names_.erase(path) == 0) {
    return fail(not_found(path + " is not there"));
  }
  durable_names_.erase(path);
  return {};
}

Result<void> PowerCutDisk::remove_all(const std::string& path) {
  change();
  TRY(check_power(path));
  names_.erase(path);
  durable_names_.erase(path);
  return {};
}

Result<void> PowerCutDisk::rename(const std::string& from, const std::string& to) {
  change();
  TRY(check_power(from));
  FilePtr file = find(from);
  if (!file) {
    return fail(not_found(from + " is not there"));
  }
  names_.erase(from);
  durable_names_.erase(from);
  names_[to] = durable_names_[to] = std::move(file);
  return {};
}

Result<void> PowerCutDisk::make_directories(const std::string& path, std::uint32_t) {
  return check_power(path);
}

Result<std::vector<std::string>> PowerCutDisk::list(const std::string& path) {
  TRY(check_power(path));
  std::vector<std::string> names;
  for (const auto& [name, file] : names_) {
    if (name.starts_with(path + "/")) {
      names.push_back(name.substr(path.size() + 1));
    }
  }
  return names;
}

Result<FileInfo> PowerCutDisk::info(const std::string& path) {
  TRY_ASSIGN(std::string content, read(path, 0));
  return FileInfo{.size = content.size(), .mode = 0600};
}

bool PowerCutDisk::exists(const std::string& path) {
  auto below = names_.lower_bound(path + "/");
  return names_.contains(path) || (below != names_.end() && below->first.starts_with(path + "/"));
}

Result<std::unique_ptr<FileLock>> PowerCutDisk::lock(const std::string& path) {
  TRY(check_power(path));
  if (!locks_->insert(path).second) {
    return fail(failed_precondition(path + " is locked by another process"));
  }
  return std::make_unique<SetLock>(locks_, path);
}

}  // namespace codeflare::apiserver
