#include "apiserver/store/testing/power_cut_disk.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <sqlite3.h>
#include <utility>

// The disk as SQLite wants to see it. One connection at a time, so locks are always granted.

namespace codeflare::apiserver {

namespace {

struct VfsFile {
  sqlite3_file base;  // first: SQLite sees only this part
  PowerCutDisk* disk;
  PowerCutDisk::FilePtr* file;
  std::string* path;
  bool syncs_name;  // until it has done so once
};

VfsFile& of(sqlite3_file* file) {
  return *reinterpret_cast<VfsFile*>(file);
}

PowerCutDisk& disk_of(sqlite3_vfs* vfs) {
  return *static_cast<PowerCutDisk*>(vfs->pAppData);
}

int close_file(sqlite3_file* base) {
  VfsFile& file = of(base);
  delete file.file;
  delete file.path;
  return SQLITE_OK;
}

int read_file(sqlite3_file* base, void* buffer, int amount, sqlite3_int64 offset) {
  VfsFile& file = of(base);
  if (file.disk->is_dead()) {
    return SQLITE_IOERR_READ;
  }
  const std::string& content = (*file.file)->content;
  auto from = std::min(static_cast<std::size_t>(offset), content.size());
  auto wanted = static_cast<std::size_t>(amount);
  std::size_t there = std::min(wanted, content.size() - from);
  std::memcpy(buffer, content.data() + from, there);
  if (there < wanted) {
    std::memset(static_cast<char*>(buffer) + there, 0, wanted - there);
    return SQLITE_IOERR_SHORT_READ;
  }
  return SQLITE_OK;
}

int write_file(sqlite3_file* base, const void* data, int amount, sqlite3_int64 offset) {
  VfsFile& file = of(base);
  return file.disk->write_file(**file.file, static_cast<std::uint64_t>(offset),
                               {static_cast<const char*>(data), static_cast<std::size_t>(amount)});
}

int truncate_file(sqlite3_file* base, sqlite3_int64 size) {
  VfsFile& file = of(base);
  return file.disk->truncate_file(**file.file, static_cast<std::uint64_t>(size));
}

int sync_file(sqlite3_file* base, int) {
  VfsFile& file = of(base);
  int code = file.disk->sync_file(*file.path, *file.file, file.syncs_name);
  file.syncs_name = file.syncs_name && code != SQLITE_OK;
  return code;
}

int file_size(sqlite3_file* base, sqlite3_int64* size) {
  VfsFile& file = of(base);
  *size = static_cast<sqlite3_int64>((*file.file)->content.size());
  return SQLITE_OK;
}

int grant(sqlite3_file*, int) {
  return SQLITE_OK;
}

int check_reserved(sqlite3_file*, int* reserved) {
  *reserved = 0;
  return SQLITE_OK;
}

int file_control(sqlite3_file*, int, void*) {
  return SQLITE_NOTFOUND;
}

int sector_size(sqlite3_file*) {
  return 512;
}

// As SQLite assumes of disks: a write that is cut does not harm its neighbours.
int device_characteristics(sqlite3_file*) {
  return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

int map_shared(sqlite3_file* base, int region, int bytes, int extend, void volatile** memory) {
  auto& regions = (*of(base).file)->shared_memory;
  auto index = static_cast<std::size_t>(region);
  *memory = nullptr;
  if (index >= regions.size()) {
    if (extend == 0) {
      return SQLITE_OK;
    }
    regions.resize(index + 1);
  }
  if (!regions[index]) {
    regions[index] = std::make_unique<char[]>(static_cast<std::size_t>(bytes));
  }
  *memory = regions[index].get();
  return SQLITE_OK;
}

int lock_shared(sqlite3_file*, int, int, int) {
  return SQLITE_OK;
}

void barrier(sqlite3_file*) {}

int unmap_shared(sqlite3_file* base, int) {
  (*of(base).file)->shared_memory.clear();
  return SQLITE_OK;
}

const sqlite3_io_methods kMethods = {
    .iVersion = 2,
    .xClose = close_file,
    .xRead = read_file,
    .xWrite = write_file,
    .xTruncate = truncate_file,
    .xSync = sync_file,
    .xFileSize = file_size,
    .xLock = grant,
    .xUnlock = grant,
    .xCheckReservedLock = check_reserved,
    .xFileControl = file_control,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = device_characteristics,
    .xShmMap = map_shared,
    .xShmLock = lock_shared,
    .xShmBarrier = barrier,
    .xShmUnmap = unmap_shared,
};

int open_file(sqlite3_vfs* vfs, const char* name, sqlite3_file* base, int flags, int* out_flags) {
  PowerCutDisk& disk = disk_of(vfs);
  base->pMethods = nullptr;
  PowerCutDisk::Opened found;
  std::string path = name == nullptr ? "" : name;
  if (name == nullptr) {
    found.file = std::make_shared<PowerCutDisk::File>();  // temporary, nobody else sees it
  } else if (int code = disk.open_file(path, (flags & SQLITE_OPEN_CREATE) != 0, found);
             code != SQLITE_OK) {
    return code;
  }
  VfsFile& opened = of(base);
  opened.disk = &disk;
  opened.file = new PowerCutDisk::FilePtr(std::move(found.file));
  opened.path = new std::string(std::move(path));
  opened.syncs_name = found.is_new;
  base->pMethods = &kMethods;
  if (out_flags != nullptr) {
    *out_flags = flags;
  }
  return SQLITE_OK;
}

int delete_file(sqlite3_vfs* vfs, const char* name, int sync_directory) {
  return disk_of(vfs).delete_file(name, sync_directory != 0);
}

int access_file(sqlite3_vfs* vfs, const char* name, int, int* result) {
  *result = disk_of(vfs).exists(name) ? 1 : 0;
  return SQLITE_OK;
}

int full_path(sqlite3_vfs*, const char* name, int size, char* out) {
  sqlite3_snprintf(size, out, "%s", name);
  return SQLITE_OK;
}

int randomness(sqlite3_vfs* vfs, int amount, char* out) {
  for (int i = 0; i < amount; ++i) {
    out[i] = static_cast<char>(disk_of(vfs).random());
  }
  return amount;
}

int pass_time(sqlite3_vfs*, int microseconds) {
  return microseconds;
}

int current_time(sqlite3_vfs*, double* julian_day) {
  *julian_day = 2'460'000;
  return SQLITE_OK;
}

}  // namespace

std::unique_ptr<sqlite3_vfs> register_vfs(PowerCutDisk& disk, const std::string& name) {
  auto vfs = std::make_unique<sqlite3_vfs>();
  *vfs = {};
  vfs->iVersion = 1;
  vfs->szOsFile = sizeof(VfsFile);
  vfs->mxPathname = 512;
  vfs->zName = name.c_str();
  vfs->pAppData = &disk;
  vfs->xOpen = open_file;
  vfs->xDelete = delete_file;
  vfs->xAccess = access_file;
  vfs->xFullPathname = full_path;
  vfs->xRandomness = randomness;
  vfs->xSleep = pass_time;
  vfs->xCurrentTime = current_time;
  sqlite3_vfs_register(vfs.get(), 0);
  return vfs;
}

void unregister_vfs(sqlite3_vfs& vfs) {
  sqlite3_vfs_unregister(&vfs);
}

}  // namespace codeflare::apiserver
