#include "apiserver/store/snapshot.h"

#include "apiserver/store/internal/acknowledged.h"
#include "apiserver/store/internal/generation.h"
#include "apiserver/store/internal/recovery.h"
#include "apiserver/store/internal/stored_objects.h"

#include <algorithm>
#include <utility>

namespace codeflare::apiserver {

namespace {

// As a server would at its start; while one runs it has done so.
Result<Database> open_generation(const DataDirectory& directory, std::uint64_t generation) {
  WalState wal;
  if (Result<std::unique_ptr<FileLock>> lock = directory.lock()) {
    TRY_ASSIGN(wal, make_wal_durable(directory, generation));
  }
  return open_recovered(directory, generation, wal);
}

// The server may replace its database at any moment by the next generation.
Result<Database> open_newest(const DataDirectory& directory) {
  constexpr int kAttempts = 5;
  for (int attempt = 1;; ++attempt) {
    TRY_ASSIGN(std::vector<std::uint64_t> generations, directory.generations());
    if (generations.empty()) {
      return fail(not_found("no database in " + directory.path));
    }
    std::string path = directory.file(generations.back());
    Result<Database> database = open_generation(directory, generations.back());
    if (database || attempt == kAttempts || directory.files.exists(path)) {
      return database;
    }
  }
}

// A server's complaint about the database; its revision when there is nothing to say.
Result<Revision> check_content(Database& database) {
  TRY_ASSIGN(Revision revision, read_revision(database));
  StoredObjects stored;
  TRY(read_objects(database, [&](const LogRecord& record) -> Result<void> {
    Result<void> added = stored.add(record);
    return added ? std::move(added) : fail(added.error().with_context(database.path()));
  }));
  Result<void> checked = stored.finish(revision);
  if (!checked) {
    return fail(std::move(checked).error().with_context(database.path()));
  }
  return revision;
}

Result<Revision> copy_synced(FileSystem& files, Database& source, const std::string& path) {
  if (Result<void> removed = files.remove(path);
      !removed && removed.error().code != ErrorCode::not_found) {
    return fail(std::move(removed).error());
  }
  TRY(files.create(path, 0600));
  TRY(source.copy_to(path));
  Revision revision = 0;
  {
    TRY_ASSIGN(Database copy, open_database({.path = path, .read_only = true}));
    // Better known now than when it is needed.
    Result<Revision> checked = check_content(copy);
    if (!checked) {
      return fail(std::move(checked).error().with_context("copied from " + source.path()));
    }
    revision = *checked;
  }
  TRY(files.sync(path));
  return revision;
}

struct Snapshot {
  Database database;
  Revision revision = 0;
};

Result<Snapshot> check_snapshot(const std::string& path) {
  TRY_ASSIGN(Database database, open_database({.path = path, .read_only = true}));
  TRY_ASSIGN(Revision revision, check_content(database));
  return Snapshot{std::move(database), revision};
}

Result<Snapshot> open_snapshot(const std::string& path) {
  Result<Snapshot> snapshot = check_snapshot(path);
  if (!snapshot && snapshot.error().code == ErrorCode::data_loss) {
    snapshot.error().message +=
        "; nothing was changed: restore another file that codeflare apiserver snapshot wrote";
  }
  return snapshot;
}

}  // namespace

Result<Revision> take_snapshot(FileSystem& files, const SnapshotOptions& options) {
  DataDirectory directory{files, options.directory};
  TRY_ASSIGN(Database source, open_newest(directory));
  // Takes the name, so that nothing of somebody else's is overwritten at the end.
  TRY(files.create(options.file, 0600));
  std::string unfinished = options.file + ".unfinished";
  Result<Revision> copied = copy_synced(files, source, unfinished);
  if (copied) {
    Result<void> renamed = files.rename(unfinished, options.file);
    if (!renamed) {
      copied = fail(std::move(renamed).error());
    }
  }
  if (!copied) {
    std::ignore = files.remove(unfinished);
    std::ignore = files.remove(options.file);
    return fail(std::move(copied).error().with_context("snapshot " + options.file));
  }
  return copied;
}

Result<Revision> restore_snapshot(FileSystem& files, const RestoreOptions& options) {
  if (!files.exists(options.file)) {
    return fail(not_found("there is no snapshot " + options.file));
  }
  TRY_ASSIGN(Snapshot snapshot, open_snapshot(options.file));
  Revision revision = snapshot.revision;

  DataDirectory directory{files, options.directory};
  TRY(files.make_directories(options.directory, 0700));
  TRY_ASSIGN(std::unique_ptr<FileLock> lock, directory.lock());
  TRY_ASSIGN(std::vector<std::uint64_t> generations, directory.generations());
  std::uint64_t generation = 1;
  if (!generations.empty()) {
    if (!options.replace) {
      return fail(already_exists(options.directory + " holds a database already"));
    }
    generation = generations.back() + 1;
    // The replaced database may be damaged: that is a reason to restore. Otherwise its clients must
    // be able to tell the old history from the new one too.
    if (Result<Database> old = open_database({.path = directory.file(generations.back())})) {
      revision = std::max(revision, read_revision(*old).value_or(0));
    }
    if (auto noted = AcknowledgedRevision::read(directory, generations.back())) {
      revision = std::max(revision, noted->value_or(0));
    }
  }
  revision += kRevisionStep;
  TRY(copy_to_generation(directory, generation, snapshot.database, {.revision = revision}));
  TRY(directory.remove_all_but(generation));
  return revision;
}

}  // namespace codeflare::apiserver
