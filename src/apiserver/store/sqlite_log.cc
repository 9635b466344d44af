#include "apiserver/store/sqlite_log.h"

#include "apiserver/store/internal/acknowledged.h"
#include "apiserver/store/internal/generation.h"
#include "apiserver/store/internal/recovery.h"
#include "apiserver/store/internal/sqlite_database.h"
#include "apiserver/store/snapshot.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::apiserver {

namespace {

using Durability = SqliteLogOptions::Durability;

constexpr std::uint64_t kFrameHeaderBytes = 24;
// A file that is mostly holes is written anew at start, unless it is small anyway.
constexpr std::uint64_t kSparsePagesMin = 4096;

// Work that has no room is skipped.
Result<void> unless_full(Result<void> result) {
  const bool full = !result && result.error().code == ErrorCode::resource_exhausted;
  return full ? Result<void>() : result;
}

class SqliteLog final : public Log {
 public:
  SqliteLog(DataDirectory directory, SqliteLogOptions options, std::unique_ptr<FileLock> lock)
      : directory_(std::move(directory)),
        options_(std::move(options)),
        lock_(std::move(lock)),
        fold_at_(options_.backlog_bytes_max) {}

  ~SqliteLog() override { close_database(); }

  // Finds or makes the database.
  Result<void> start();

  Result<Revision> load(const Visitor& visitor) override;
  Result<void> append(std::span<const LogRecord> records, Revision revision) override;
  Result<void> rebuild(std::span<const LogRecord> objects, Revision revision) override;
  std::uint64_t backlog_bytes() const override { return backlog_bytes_; }
  bool is_fold_due() const override { return backlog_bytes_ >= fold_at_; }
  Result<void> fold() override;
  Result<void> close() override;

 private:
  struct Statements {
    Statement begin;
    Statement put;
    Statement remove;
    Statement revision;
    Statement commit;
  };

  bool relaxed() const { return options_.durability != Durability::full; }
  // The previous process's part of the log; nothing where the generation is new.
  Result<void> open_generation(const WalState& left = {});
  Result<void> compact_when_sparse();
  Result<void> upgrade();
  Result<void> prepare_statements();
  Result<void> set_durability();
  Result<Revision> recover_revision();
  Result<void> transaction(std::span<const LogRecord> records, Revision revision);
  Result<void> checkpoint(int mode);
  void note_acknowledged();
  void close_database();
  static int on_wal(void* self, sqlite3* db, const char* name, int frames);

  DataDirectory directory_;
  SqliteLogOptions options_;
  std::unique_ptr<FileLock> lock_;
  std::uint64_t generation_ = 0;
  std::optional<Database> database_;
  std::optional<Statements> statements_;
  std::uint64_t frame_bytes_ = 0;
  // The disk had no room for the note that writes are relaxed; they are not until it has.
  bool mark_due_ = false;
  // Only while nothing is relaxed, and as far as the disk has room for it.
  std::optional<AcknowledgedRevision> acknowledged_;
  Revision revision_ = 0;  // the last one that is durable, once load() has been called
  // What is on disk is unknown: only a rebuild helps.
  bool broken_ = false;
  std::atomic<std::uint64_t> backlog_bytes_ = 0;
  std::atomic<std::uint64_t> fold_at_;
};

Result<void> SqliteLog::start() {
  TRY_ASSIGN(std::vector<std::uint64_t> generations, directory_.generations());
  if (generations.empty()) {
    generation_ = 1;
    TRY(write_generation(directory_, generation_, {.relaxed = relaxed()}));
    TRY(open_generation());
  } else {
    generation_ = generations.back();
    TRY_ASSIGN(const WalState left, make_wal_durable(directory_, generation_));
    TRY(open_generation(left));
  }
  TRY(compact_when_sparse());
  return directory_.remove_all_but(generation_);
}

Result<void> SqliteLog::open_generation(const WalState& left) {
  close_database();
  TRY_ASSIGN(Database database, open_recovered(directory_, generation_, left));
  database_.emplace(std::move(database));
  TRY(cut_torn_end(directory_, generation_, left));
  TRY(
      database_->run("PRAGMA synchronous = FULL; PRAGMA cache_size = -1024;"
                     "PRAGMA temp_store = MEMORY;"));
  std::string limit = "PRAGMA journal_size_limit = " + std::to_string(options_.backlog_bytes_max);
  TRY(database_->run(limit.c_str()));
  TRY_ASSIGN(std::uint64_t page_bytes, database_->number("PRAGMA page_size"));
  frame_bytes_ = page_bytes + kFrameHeaderBytes;
  sqlite3_wal_hook(database_->handle(), &SqliteLog::on_wal, this);
  // Starts with an empty log: what a killed process left in it is folded in. It is durable where it
  // is, so a full disk does not keep a server from starting.
  return unless_full(checkpoint(SQLITE_CHECKPOINT_TRUNCATE));
}

Result<void> SqliteLog::compact_when_sparse() {
  TRY_ASSIGN(std::uint64_t pages, database_->number("PRAGMA page_count"));
  TRY_ASSIGN(std::uint64_t free_pages, database_->number("PRAGMA freelist_count"));
  if (pages < kSparsePagesMin || free_pages * 2 < pages) {
    return {};
  }
  Result<void> copied = copy_to_generation(directory_, generation_ + 1, *database_, {});
  if (!copied) {
    // It may be that there is no room for the copy; the old file is as good as before.
    return unless_full(std::move(copied));
  }
  ++generation_;
  return open_generation();
}

Result<void> SqliteLog::prepare_statements() {
  statements_.emplace();
  TRY_ASSIGN(statements_->begin, database_->prepare("BEGIN IMMEDIATE"));
  TRY_ASSIGN(statements_->put, database_->prepare("REPLACE INTO objects VALUES (?, ?, ?, ?, ?)"));
  TRY_ASSIGN(statements_->remove, database_->prepare("DELETE FROM objects WHERE created = ?"));
  TRY_ASSIGN(statements_->revision,
             database_->prepare("UPDATE meta SET value = ? WHERE key = 'revision'"));
  TRY_ASSIGN(statements_->commit, database_->prepare("COMMIT"));
  return {};
}

Result<void> SqliteLog::set_durability() {
  const bool careful = options_.durability == Durability::full || mark_due_;
  const char* pragma = careful                                      ? "PRAGMA synchronous = FULL"
                       : options_.durability == Durability::relaxed ? "PRAGMA synchronous = NORMAL"
                                                                    : "PRAGMA synchronous = OFF";
  return database_->run(pragma);
}

// The last revision that anybody can have seen. Where writes may have been lost unnoticed it is a
// guess on the safe side: when a full disk does not take the guess, the next write brings it along,
// and until then the next start guesses the same.
Result<Revision> SqliteLog::recover_revision() {
  TRY_ASSIGN(Revision revision, read_revision(*database_));
  TRY_ASSIGN(bool was_relaxed, is_relaxed(*database_));
  if (was_relaxed && revision > 0) {
    revision += kRevisionStep;
    TRY(unless_full(write_revision(*database_, revision)));
  }
  if (was_relaxed == relaxed()) {
    return revision;
  }
  Result<void> marked = set_relaxed(*database_, relaxed());
  // Without the mark nothing may be written carelessly; with a mark too many nothing is lost.
  mark_due_ = relaxed() && !marked;
  TRY(unless_full(std::move(marked)));
  return revision;
}

Result<Revision> SqliteLog::load(const Visitor& visitor) {
  TRY(upgrade());
  TRY_ASSIGN(Revision revision, recover_revision());
  if (relaxed()) {
    TRY(AcknowledgedRevision::remove(directory_, generation_));
  }
  TRY(set_durability());
  TRY(prepare_statements());
  TRY(read_objects(*database_, visitor));
  // Not the guess, which a full disk need not have taken.
  TRY_ASSIGN(revision_, read_revision(*database_));
  note_acknowledged();
  return revision;
}

// Behind the sync that made the revision durable, never before. A note that can't be written is an
// older one: it shows less, and nothing wrong.
void SqliteLog::note_acknowledged() {
  if (relaxed()) {
    return;
  }
  if (acknowledged_) {
    std::ignore = acknowledged_->write(revision_);
    return;
  }
  auto opened = AcknowledgedRevision::open(directory_, generation_, revision_);
  if (opened) {
    acknowledged_.emplace(*std::move(opened));
  }
}

// A complete new generation, as after a failed sync: until it has its name the old one counts.
Result<void> SqliteLog::upgrade() {
  TRY_ASSIGN(std::uint64_t format, read_format(*database_));
  if (format == kFormatVersion) {
    return {};
  }
  TRY_ASSIGN(Revision revision, read_revision(*database_));
  TRY_ASSIGN(bool was_relaxed, is_relaxed(*database_));
  std::set<std::string, std::less<>> collections;
  std::vector<LogRecord> objects;
  TRY(read_objects(*database_, [&](const LogRecord& record) -> Result<void> {
    objects.push_back(record);
    objects.back().collection = *collections.emplace(record.collection).first;
    objects.back().text = Bytes::from(std::string(record.text.view()));
    return {};
  }));
  Result<void> written =
      write_generation(directory_, generation_ + 1,
                       {.objects = objects, .revision = revision, .relaxed = was_relaxed});
  if (!written) {
    return fail(std::move(written).error().with_context("storage format " + std::to_string(format) +
                                                        " must be written anew as " +
                                                        std::to_string(kFormatVersion)));
  }
  ++generation_;
  TRY(open_generation());
  return directory_.remove_all_but(generation_);
}

Result<void> SqliteLog::append(std::span<const LogRecord> records, Revision revision) {
  if (broken_) {
    return fail(internal_error(database_ ? database_->path() + " must be rebuilt first"
                                         : "there is no database"));
  }
  if (mark_due_ && set_relaxed(*database_, true)) {
    mark_due_ = false;
    TRY(set_durability());
  }
  Result<void> result = transaction(records, revision);
  if (result) {
    revision_ = revision;
    note_acknowledged();
    return result;
  }
  broken_ = result.error().code != ErrorCode::resource_exhausted;
  if (!broken_ && sqlite3_get_autocommit(database_->handle()) == 0) {
    broken_ = !database_->run("ROLLBACK");
  }
  if (broken_) {
    // The original code might allow a retry; a broken log allows none.
    return fail(internal_error(result.error().message));
  }
  return result;
}

Result<void> SqliteLog::transaction(std::span<const LogRecord> records, Revision revision) {
  TRY(statements_->begin.run());
  for (const LogRecord& record : records) {
    if (record.op == LogRecord::Op::remove) {
      statements_->remove.bind(1, record.created);
      TRY(statements_->remove.run());
      continue;
    }
    bind_object(statements_->put, record);
    TRY(statements_->put.run());
  }
  statements_->revision.bind(1, revision);
  TRY(statements_->revision.run());
  return statements_->commit.run();
}

Result<void> SqliteLog::rebuild(std::span<const LogRecord> objects, Revision revision) {
  broken_ = true;
  close_database();
  // A number is used once: an attempt that failed at its very end may have left its file.
  ++generation_;
  TRY(write_generation(directory_, generation_,
                       {.objects = objects, .revision = revision, .relaxed = relaxed()}));
  mark_due_ = false;
  TRY(open_generation());
  TRY(set_durability());
  TRY(prepare_statements());
  revision_ = revision;
  note_acknowledged();
  broken_ = false;
  // The highest generation wins anyway; the next start tries again.
  std::ignore = directory_.remove_all_but(generation_);
  return {};
}

Result<void> SqliteLog::fold() {
  if (broken_) {
    return fail(internal_error("there is no database"));
  }
  Result<void> folded = checkpoint(SQLITE_CHECKPOINT_PASSIVE);
  broken_ = !folded && folded.error().code != ErrorCode::resource_exhausted;
  return folded;
}

Result<void> SqliteLog::checkpoint(int mode) {
  // Where the database gets newer pages than what is left of a damaged log, that must show.
  if (acknowledged_) {
    std::ignore = acknowledged_->sync();
  }
  int frames = 0;
  int folded = 0;
  int code = sqlite3_wal_checkpoint_v2(database_->handle(), "main", mode, &frames, &folded);
  // Busy: somebody takes a snapshot and still needs the log.
  if (code != SQLITE_OK && code != SQLITE_BUSY) {
    fold_at_ = backlog_bytes_ + options_.backlog_bytes_max;
    return fail(database_->error(code));
  }
  bool complete = code == SQLITE_OK && folded == frames;
  if (complete) {
    backlog_bytes_ = 0;
  }
  fold_at_ = backlog_bytes_ + options_.backlog_bytes_max;
  return {};
}

Result<void> SqliteLog::close() {
  if (broken_ || !database_) {
    return {};
  }
  if (relaxed() && statements_) {
    TRY(set_relaxed(*database_, false));
    TRY(database_->run("PRAGMA synchronous = FULL"));
  }
  return checkpoint(SQLITE_CHECKPOINT_TRUNCATE);
}

void SqliteLog::close_database() {
  acknowledged_.reset();
  statements_.reset();
  database_.reset();
}

int SqliteLog::on_wal(void* self, sqlite3*, const char*, int frames) {
  auto* log = static_cast<SqliteLog*>(self);
  log->backlog_bytes_ = static_cast<std::uint64_t>(frames) * log->frame_bytes_;
  return SQLITE_OK;
}

}  // namespace

Result<std::unique_ptr<FileLock>> lock_data_directory(FileSystem& files,
                                                      const std::string& directory) {
  TRY(files.make_directories(directory, 0700));
  return DataDirectory{files, directory, {}}.lock();
}

Result<std::unique_ptr<Log>> open_sqlite_log(FileSystem& files, SqliteLogOptions options,
                                             std::unique_ptr<FileLock> lock) {
  DataDirectory directory{files, options.directory, options.vfs};
  auto log = std::make_unique<SqliteLog>(std::move(directory), std::move(options), std::move(lock));
  TRY(log->start());
  return log;
}

Result<std::unique_ptr<Log>> open_sqlite_log(FileSystem& files, SqliteLogOptions options) {
  TRY_ASSIGN(std::unique_ptr<FileLock> lock, lock_data_directory(files, options.directory));
  return open_sqlite_log(files, std::move(options), std::move(lock));
}

}  // namespace codeflare::apiserver
