#include "apiserver/store/memory_log.h"

#include <utility>

namespace codeflare::apiserver {

class MemoryLog final : public Log {
 public:
  explicit MemoryLog(std::shared_ptr<MemoryDisk> disk) : disk_(std::move(disk)) {
    std::lock_guard lock(disk_->mutex_);
    epoch_ = disk_->epoch_;
  }

  Result<Revision> load(const Visitor& visitor) override {
    std::lock_guard lock(disk_->mutex_);
    TRY(check_fence());
    for (const auto& [created, row] : disk_->rows_) {
      TRY(visitor({.collection = row.collection,
                   .created = created,
                   .revision = row.revision,
                   .text = row.text}));
    }
    return disk_->revision_;
  }

  Result<void> append(std::span<const LogRecord> records, Revision revision) override {
    std::lock_guard lock(disk_->mutex_);
    TRY(check_fence());
    ++disk_->appends_;
    return apply(records, revision, disk_->append_fault_, false);
  }

  Result<void> rebuild(std::span<const LogRecord> objects, Revision revision) override {
    std::lock_guard lock(disk_->mutex_);
    TRY(check_fence());
    ++disk_->rebuilds_;
    return apply(objects, revision, disk_->rebuild_fault_, true);
  }

 private:
  Result<void> check_fence() const {
    if (epoch_ != disk_->epoch_) {
      return fail(internal_error("the disk was taken away"));
    }
    return {};
  }

  Result<void> apply(std::span<const LogRecord> records, Revision revision,
                     std::optional<MemoryDisk::Fault>& fault, bool replace) {
    Result<void> result;
    if (fault) {
      result = fail(fault->error);
      bool written = fault->written;
      if (--fault->count <= 0) {
        fault.reset();
      }
      if (!written) {
        return result;
      }
    }
    if (replace) {
      disk_->rows_.clear();
    }
    for (const LogRecord& record : records) {
      if (record.op == LogRecord::Op::remove) {
        disk_->rows_.erase(record.created);
      } else {
        disk_->rows_.insert_or_assign(
            record.created,
            MemoryDisk::Row{std::string(record.collection), record.revision, record.text});
      }
    }
    disk_->revision_ = revision;
    return result;
  }

  std::shared_ptr<MemoryDisk> disk_;
  std::size_t epoch_ = 0;
};

void MemoryDisk::fail_appends(Fault fault) {
  std::lock_guard lock(mutex_);
  append_fault_ = std::move(fault);
}

void MemoryDisk::fail_rebuilds(Fault fault) {
  std::lock_guard lock(mutex_);
  rebuild_fault_ = std::move(fault);
}

void MemoryDisk::crash() {
  std::lock_guard lock(mutex_);
  ++epoch_;
  append_fault_.reset();
  rebuild_fault_.reset();
}

Revision MemoryDisk::revision() const {
  std::lock_guard lock(mutex_);
  return revision_;
}

std::size_t MemoryDisk::size() const {
  std::lock_guard lock(mutex_);
  return rows_.size();
}

std::size_t MemoryDisk::appends() const {
  std::lock_guard lock(mutex_);
  return appends_;
}

std::size_t MemoryDisk::rebuilds() const {
  std::lock_guard lock(mutex_);
  return rebuilds_;
}

std::unique_ptr<Log> open_memory_log(std::shared_ptr<MemoryDisk> disk) {
  return std::make_unique<MemoryLog>(disk ? std::move(disk) : std::make_shared<MemoryDisk>());
}

}  // namespace codeflare::apiserver
