#pragma once

#include "apiserver/store/internal/sqlite_database.h"
#include "apiserver/store/log.h"
#include "base/env/file_system.h"
#include "base/result.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

// The database files of a data directory: "store-<generation>.db", with SQLite's own files beside
// them. A file has that name only when it is complete and synced.

namespace codeflare::apiserver {

// 2 keeps a checksum with each object; what format 1 held is read and written anew as 2.
inline constexpr std::uint64_t kFormatVersion = 2;

struct DataDirectory {
  FileSystem& files;
  std::string path;
  std::string vfs{};

  std::string file(std::uint64_t generation) const;
  std::string unfinished_file(std::uint64_t generation) const;
  // Ascending.
  Result<std::vector<std::uint64_t>> generations() const;
  // Databases but this one, and what was left unfinished.
  Result<void> remove_all_but(std::uint64_t generation) const;
  // `failed_precondition` when somebody else holds it.
  Result<std::unique_ptr<FileLock>> lock() const;
};

// Opens a finished database or a snapshot and checks that it is one that this program understands.
Result<Database> open_database(const Database::OpenOptions& options);

Result<std::uint64_t> read_format(Database& database);
Result<Revision> read_revision(Database& database);
Result<void> write_revision(Database& database, Revision revision);

// While set, the last writes may be lost without a trace: the next start must not reuse revisions
// that clients have seen.
Result<bool> is_relaxed(Database& database);
Result<void> set_relaxed(Database& database, bool relaxed);

// The detail of an error about one object; the others can be read.
struct DamagedObject : ErrorDetail {};

// Hands over every object of a finished database, whatever format it has, after check_integrity().
// SQLite does not notice when a disk changes what is inside of a row: that is `data_loss`, names
// the object and has DamagedObject as its detail.
Result<void> read_objects(Database& database, const Log::Visitor& visitor);
// The same without the check, and with the damage (or nothing) in place of an end.
using DamageVisitor =
    std::function<Result<void>(const LogRecord&, const std::optional<Error>& damage)>;
Result<void> read_with_damage(Database& database, const DamageVisitor& visitor);
// SQLite's own look at the whole file: `data_loss` when rows may be missing. A page that lies about
// how many it has hides them from whoever just reads.
Result<void> check_integrity(Database& database);

// For statements that put a row into `objects`: all five columns.
void bind_object(Statement& statement, const LogRecord& record);

// Writes a complete database and gives it its name. The generation must be new.
struct GenerationContent {
  std::span<const LogRecord> objects{};
  Revision revision = 0;
  bool relaxed = false;
};
Result<void> write_generation(const DataDirectory& directory, std::uint64_t generation,
                              const GenerationContent& content);

// A compact copy of an open database as a new generation.
struct CopyOptions {
  std::optional<Revision> revision{};  // another one than the source's
};
Result<void> copy_to_generation(const DataDirectory& directory, std::uint64_t generation,
                                Database& source, CopyOptions options);

}  // namespace codeflare::apiserver
