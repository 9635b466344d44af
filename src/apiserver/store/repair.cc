#include "apiserver/store/repair.h"

#include "apiserver/store/internal/acknowledged.h"
#include "apiserver/store/internal/generation.h"
#include "apiserver/store/internal/recovery.h"
#include "apiserver/store/internal/stored_objects.h"
#include "apiserver/store/remedy.h"
#include "apiserver/store/snapshot.h"

#include <algorithm>
#include <utility>

namespace codeflare::apiserver {

namespace {

struct Found {
  StoredObjects good;
  struct Damaged {
    Revision created = 0;
    std::string damage;
    std::string text;
  };
  std::vector<Damaged> damaged;
};

Result<Found> sort_out(Database& database) {
  Found found;
  TRY(read_with_damage(
      database, [&](const LogRecord& record, const std::optional<Error>& damage) -> Result<void> {
        if (!damage) {
          return found.good.add(record);
        }
        found.damaged.push_back({record.created, damage->message, std::string(record.text.view())});
        return {};
      }));
  return found;
}

std::vector<LogRecord> records_of(StoredObjects& stored) {
  std::vector<LogRecord> records;
  for (const StoredObjects::Collection& collection : stored.collections()) {
    for (const ObjectPtr& object : collection.objects) {
      records.push_back({.collection = collection.name,
                         .created = object->created(),
                         .revision = object->revision(),
                         .text = object->text()});
    }
  }
  return records;
}

struct Content {
  Found found;
  Revision revision = 0;
  bool relaxed = false;
};

Result<Content> read_content(const Database::OpenOptions& options) {
  TRY_ASSIGN(Database database, open_database(options));
  TRY(check_integrity(database));
  Content content;
  TRY_ASSIGN(content.revision, read_revision(database));
  TRY_ASSIGN(content.relaxed, is_relaxed(database));
  TRY_ASSIGN(content.found, sort_out(database));
  return content;
}

// Why a server would reject the log, if that is what it would reject.
Result<std::optional<Error>> damage_of_log(const DataDirectory& directory, std::uint64_t generation,
                                           const WalState& wal) {
  Result<Database> opened = open_recovered(directory, generation, wal);
  if (opened) {
    return std::nullopt;
  }
  const bool is_log = dynamic_cast<const DamagedLog*>(opened.error().detail.get()) != nullptr;
  return is_log ? Result<std::optional<Error>>(std::move(opened).error())
                : fail(std::move(opened).error());
}

// The content before the damage, over the database as it was when the log was begun. When the log
// had been folded in meanwhile, the database has it all and what is left of the log would hide
// that.
Result<Content> read_in_spite_of_log(const DataDirectory& directory, std::uint64_t generation) {
  const std::string path = directory.file(generation);
  Result<Content> before = read_content({.path = path, .vfs = directory.vfs});
  Result<Content> alone = read_content({.path = path, .vfs = directory.vfs, .without_log = true});
  const bool is_folded = alone && (!before || alone->revision > before->revision);
  return is_folded ? std::move(alone) : std::move(before);
}

// Makes what was found a new generation; the damaged log is kept beside it.
Result<void> replace(const DataDirectory& directory, std::uint64_t generation, Content& content,
                     Repaired& repaired) {
  for (Found::Damaged& damaged : content.found.damaged) {
    std::string kept =
        join_path(directory.path, "damaged-" + std::to_string(damaged.created) + ".json");
    TRY(directory.files.write(kept, damaged.text, {.mode = 0600}));
    repaired.dropped.push_back({std::move(damaged.damage), std::move(kept)});
  }
  // Clients that saw the objects start over instead of missing that they are gone.
  repaired.revision += kRevisionStep;
  std::vector<LogRecord> records = records_of(content.found.good);
  TRY(write_generation(
      directory, generation + 1,
      {.objects = records, .revision = repaired.revision, .relaxed = content.relaxed}));
  const std::string wal = directory.file(generation) + "-wal";
  if (repaired.lost_writes && directory.files.exists(wal)) {
    repaired.lost_writes->file =
        join_path(directory.path, "damaged-" + std::to_string(generation) + ".wal");
    TRY(directory.files.rename(wal, repaired.lost_writes->file));
  }
  return directory.remove_all_but(generation + 1);
}

Result<Repaired> repair(const DataDirectory& directory) {
  if (!directory.files.exists(directory.path)) {
    return fail(not_found("there is no directory " + directory.path));
  }
  TRY_ASSIGN(std::unique_ptr<FileLock> lock, directory.lock());
  TRY_ASSIGN(std::vector<std::uint64_t> generations, directory.generations());
  if (generations.empty()) {
    return fail(not_found("no database in " + directory.path));
  }
  const std::uint64_t generation = generations.back();
  TRY_ASSIGN(const WalState wal, make_wal_durable(directory, generation));
  TRY_ASSIGN(const std::optional<Error> damage, damage_of_log(directory, generation, wal));
  Repaired repaired;
  if (damage) {
    repaired.lost_writes = {.damage = damage->message};
  }
  TRY_ASSIGN(Content content,
             damage ? read_in_spite_of_log(directory, generation)
                    : read_content({.path = directory.file(generation), .vfs = directory.vfs}));
  TRY_ASSIGN(const std::optional<Revision> noted,
             AcknowledgedRevision::read(directory, generation));
  repaired.revision = std::max(content.revision, noted.value_or(0));
  TRY(content.found.good.finish(repaired.revision));
  if (content.found.damaged.empty() && !damage) {
    return repaired;
  }
  TRY(replace(directory, generation, content, repaired));
  return repaired;
}

}  // namespace

Result<Repaired> repair_data_directory(FileSystem& files, const RepairOptions& options) {
  Result<Repaired> repaired = repair({files, options.directory, options.vfs});
  if (!repaired) {
    return fail(with_remedy(std::move(repaired).error(), files, options.directory));
  }
  return repaired;
}

}  // namespace codeflare::apiserver
