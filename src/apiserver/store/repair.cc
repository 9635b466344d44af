#include "apiserver/store/repair.h"

#include "apiserver/store/internal/generation.h"
#include "apiserver/store/internal/stored_objects.h"
#include "apiserver/store/remedy.h"
#include "apiserver/store/snapshot.h"

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

Result<Repaired> repair(FileSystem& files, const std::string& path) {
  DataDirectory directory{files, path};
  if (!files.exists(path)) {
    return fail(not_found("there is no directory " + path));
  }
  TRY_ASSIGN(std::unique_ptr<FileLock> lock, directory.lock());
  TRY_ASSIGN(std::vector<std::uint64_t> generations, directory.generations());
  if (generations.empty()) {
    return fail(not_found("no database in " + path));
  }
  const std::uint64_t generation = generations.back();
  TRY(make_wal_durable(directory, generation));
  TRY_ASSIGN(Database database, open_database({.path = directory.file(generation)}));
  TRY(check_integrity(database));
  Repaired repaired;
  TRY_ASSIGN(repaired.revision, read_revision(database));
  TRY_ASSIGN(Found found, sort_out(database));
  TRY(found.good.finish(repaired.revision));
  if (found.damaged.empty()) {
    return repaired;
  }
  for (Found::Damaged& damaged : found.damaged) {
    std::string kept = join_path(path, "damaged-" + std::to_string(damaged.created) + ".json");
    TRY(files.write(kept, damaged.text, {.mode = 0600}));
    repaired.dropped.push_back({std::move(damaged.damage), std::move(kept)});
  }
  // Clients that saw the objects start over instead of missing that they are gone.
  repaired.revision += kRevisionStep;
  TRY_ASSIGN(bool relaxed, is_relaxed(database));
  std::vector<LogRecord> records = records_of(found.good);
  TRY(write_generation(directory, generation + 1,
                       {.objects = records, .revision = repaired.revision, .relaxed = relaxed}));
  TRY(directory.remove_all_but(generation + 1));
  return repaired;
}

}  // namespace

Result<Repaired> drop_damaged_objects(FileSystem& files, const std::string& directory) {
  Result<Repaired> repaired = repair(files, directory);
  if (!repaired) {
    return fail(with_remedy(std::move(repaired).error(), files, directory));
  }
  return repaired;
}

}  // namespace codeflare::apiserver
