#include "apiserver/store/internal/generation.h"

#include "apiserver/store/internal/printable.h"
#include "json/parse.h"

#include <algorithm>
#include <charconv>
#include <tuple>
#include <utility>
#include <zlib.h>

namespace codeflare::apiserver {

namespace {

constexpr std::string_view kPrefix = "store-";
constexpr std::string_view kSuffix = ".db";
constexpr std::string_view kUnfinished = ".unfinished";
constexpr std::uint64_t kApplicationId = 0x63666c72;  // "cflr"

// An object is found by the revision of its creation, which is also the order of the file: new
// objects go to its end. Nothing is ever looked up otherwise, so there is no index.
constexpr const char* kSchema = R"(
  PRAGMA application_id = 0x63666c72;
  CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE objects (
    created INTEGER PRIMARY KEY,
    revision INTEGER NOT NULL,
    collection TEXT NOT NULL,
    text TEXT NOT NULL,
    checksum INTEGER NOT NULL);
)";

std::optional<std::uint64_t> generation_of(std::string_view name) {
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) {
    return std::nullopt;
  }
  name.remove_prefix(kPrefix.size());
  name.remove_suffix(kSuffix.size());
  std::uint64_t generation = 0;
  auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), generation);
  if (error != std::errc() || end != name.data() + name.size() || generation == 0) {
    return std::nullopt;
  }
  return generation;
}

Result<void> write_meta(Database& database, std::string_view key, std::uint64_t value) {
  TRY_ASSIGN(Statement statement, database.prepare("REPLACE INTO meta VALUES (?, ?)"));
  statement.bind(1, key);
  statement.bind(2, value);
  return statement.run();
}

Result<std::optional<std::uint64_t>> read_meta(Database& database, std::string_view key) {
  TRY_ASSIGN(Statement statement, database.prepare("SELECT value FROM meta WHERE key = ?"));
  statement.bind(1, key);
  TRY_ASSIGN(bool found, statement.step());
  return found ? std::optional(statement.number(0)) : std::nullopt;
}

// Of everything in the row. A CRC sees each change of up to 32 bits in a row for sure.
std::uint64_t checksum_of(const LogRecord& record) {
  std::string head = std::to_string(record.created) + ' ' + std::to_string(record.revision) + ' ' +
                     std::string(record.collection) + ' ';
  uLong sum = 0;
  for (std::string_view piece : {std::string_view(head), record.text.view()}) {
    sum = crc32_z(sum, reinterpret_cast<const Bytef*>(piece.data()), piece.size());
  }
  return sum;
}

// "pods default/web, created at revision 17": with the name when the text still tells it.
std::string describe(const LogRecord& record) {
  std::string said = record.collection.empty() ? "an object" : printable(record.collection);
  if (Result<ObjectPtr> object = make_object({.text = record.text.view()})) {
    said += " ";
    said += printable((*object)->ns());
    said += (*object)->ns().empty() ? "" : "/";
    said += printable((*object)->name());
  }
  return said + ", created at revision " + std::to_string(record.created);
}

std::optional<Error> damage_of(const Database& database, const LogRecord& record,
                               std::optional<std::uint64_t> checksum) {
  std::string why;
  if (checksum) {
    why = *checksum == checksum_of(record) ? "" : "its checksum is wrong";
  } else if (Result<json::Document> read = json::parse(record.text.view()); !read) {
    why = read.error().message;
  }
  if (why.empty()) {
    return std::nullopt;
  }
  Error error = data_loss(database.path() + " is damaged at " + describe(record) + ": " + why);
  error.detail = std::make_shared<DamagedObject>();
  return error;
}

Result<void> fill(Database& database, const GenerationContent& content) {
  TRY(database.run("BEGIN"));
  TRY(database.run(kSchema));
  TRY(write_meta(database, "format", kFormatVersion));
  TRY(write_revision(database, content.revision));
  TRY(set_relaxed(database, content.relaxed));
  std::vector<const LogRecord*> in_file_order;
  in_file_order.reserve(content.objects.size());
  for (const LogRecord& record : content.objects) {
    in_file_order.push_back(&record);
  }
  std::ranges::sort(in_file_order, {}, &LogRecord::created);
  TRY_ASSIGN(Statement insert, database.prepare("INSERT INTO objects VALUES (?, ?, ?, ?, ?)"));
  for (const LogRecord* record : in_file_order) {
    bind_object(insert, *record);
    TRY(insert.run());
  }
  return database.run("COMMIT");
}

// Nobody reads an unfinished file, so it needs no journal; finish() syncs it as a whole.
Result<Database> open_unfinished(const DataDirectory& directory, const std::string& path) {
  TRY_ASSIGN(Database database, Database::open({.path = path, .vfs = directory.vfs}));
  TRY(database.run("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"));
  return database;
}

Result<void> remove_unfinished(const DataDirectory& directory, std::uint64_t generation) {
  const std::string path = directory.unfinished_file(generation);
  for (const char* suffix : {"", "-journal", "-wal", "-shm"}) {
    TRY(directory.files.remove_all(path + suffix));
  }
  return {};
}

Result<std::string> begin_unfinished(const DataDirectory& directory, std::uint64_t generation) {
  TRY(remove_unfinished(directory, generation));
  std::string path = directory.unfinished_file(generation);
  // Somebody may have removed a database of this number but not its log, which SQLite would apply,
  // nor the note of its last revision.
  for (const char* suffix : {"-journal", "-wal", "-shm", "-acknowledged"}) {
    TRY(directory.files.remove_all(directory.file(generation) + suffix));
  }
  // Objects are secrets among others: nobody else may read the file at any time.
  TRY(directory.files.create(path, 0600));
  return path;
}

Result<void> finish(const DataDirectory& directory, std::uint64_t generation, Database database) {
  std::string path = database.path();
  // Marks the file as one with a write-ahead log. The connection that does so is the only one: it
  // folds the (empty) log in and removes it when it closes.
  sqlite3_db_config(database.handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, nullptr);
  TRY(database.run("PRAGMA journal_mode = WAL"));
  {
    Database closes = std::move(database);
  }
  TRY(directory.files.sync(path));
  return directory.files.rename(path, directory.file(generation));
}

Result<void> write_file(const DataDirectory& directory, std::uint64_t generation,
                        const GenerationContent& content) {
  TRY_ASSIGN(std::string path, begin_unfinished(directory, generation));
  TRY_ASSIGN(Database database, open_unfinished(directory, path));
  TRY(fill(database, content));
  return finish(directory, generation, std::move(database));
}

Result<void> copy_file(const DataDirectory& directory, std::uint64_t generation, Database& source,
                       const CopyOptions& options) {
  TRY_ASSIGN(std::string path, begin_unfinished(directory, generation));
  TRY(source.copy_to(path));
  TRY_ASSIGN(Database database, open_unfinished(directory, path));
  if (options.revision) {
    TRY(write_revision(database, *options.revision));
  }
  return finish(directory, generation, std::move(database));
}

// The files of a failed attempt are useless, and the next one needs the room.
Result<void> tidied(const DataDirectory& directory, std::uint64_t generation,
                    Result<void> attempt) {
  if (!attempt) {
    std::ignore = remove_unfinished(directory, generation);
  }
  return attempt;
}

}  // namespace

std::string DataDirectory::file(std::uint64_t generation) const {
  return join_path(path, std::string(kPrefix) + std::to_string(generation) + std::string(kSuffix));
}

std::string DataDirectory::unfinished_file(std::uint64_t generation) const {
  return file(generation) + std::string(kUnfinished);
}

Result<std::vector<std::uint64_t>> DataDirectory::generations() const {
  TRY_ASSIGN(std::vector<std::string> names, files.list(path));
  std::vector<std::uint64_t> found;
  for (const std::string& name : names) {
    if (std::optional<std::uint64_t> generation = generation_of(name)) {
      found.push_back(*generation);
    }
  }
  std::ranges::sort(found);
  return found;
}

Result<void> DataDirectory::remove_all_but(std::uint64_t generation) const {
  TRY_ASSIGN(std::vector<std::string> names, files.list(path));
  std::string kept = std::string(kPrefix) + std::to_string(generation) + std::string(kSuffix);
  for (const std::string& name : names) {
    std::string_view database =
        std::string_view(name).substr(0, name.find(kSuffix) + kSuffix.size());
    bool is_ours = name.contains(kSuffix) && generation_of(database);
    std::string_view rest = is_ours ? std::string_view(name).substr(database.size()) : "";
    bool belongs_to_kept = database == kept && !rest.starts_with(kUnfinished);
    if (is_ours && !belongs_to_kept) {
      TRY(files.remove_all(join_path(path, name)));
    }
  }
  return {};
}

Result<std::unique_ptr<FileLock>> DataDirectory::lock() const {
  auto lock = files.lock(join_path(path, "lock"));
  if (!lock && lock.error().code == ErrorCode::failed_precondition) {
    return fail(std::move(lock).error().with_context("data directory " + path +
                                                     " is in use by another server"));
  }
  return lock;
}

Result<Database> open_database(const Database::OpenOptions& options) {
  TRY_ASSIGN(Database database, Database::open(options));
  TRY_ASSIGN(std::uint64_t application, database.number("PRAGMA application_id"));
  if (application != kApplicationId) {
    return fail(data_loss(options.path + " is not a database of this program"));
  }
  TRY_ASSIGN(std::uint64_t format, read_format(database));
  if (format > kFormatVersion) {
    return fail(failed_precondition(options.path + " has storage format " + std::to_string(format) +
                                    ", this program knows formats up to " +
                                    std::to_string(kFormatVersion) + ": use a newer program"));
  }
  return database;
}

Result<std::uint64_t> read_format(Database& database) {
  TRY_ASSIGN(std::optional<std::uint64_t> format, read_meta(database, "format"));
  if (!format || *format == 0) {
    return fail(data_loss(database.path() + " does not say which format it has"));
  }
  return *format;
}

Result<Revision> read_revision(Database& database) {
  TRY_ASSIGN(std::optional<std::uint64_t> revision, read_meta(database, "revision"));
  if (!revision) {
    return fail(data_loss(database.path() + " does not say which revision it has"));
  }
  return *revision;
}

Result<void> write_revision(Database& database, Revision revision) {
  return write_meta(database, "revision", revision);
}

Result<bool> is_relaxed(Database& database) {
  TRY_ASSIGN(std::optional<std::uint64_t> relaxed, read_meta(database, "relaxed"));
  return relaxed.value_or(0) != 0;
}

Result<void> set_relaxed(Database& database, bool relaxed) {
  return write_meta(database, "relaxed", relaxed ? 1 : 0);
}

Result<void> read_with_damage(Database& database, const DamageVisitor& visitor) {
  TRY_ASSIGN(std::uint64_t format, read_format(database));
  const bool has_checksums = format >= 2;
  TRY_ASSIGN(
      Statement rows,
      database.prepare(has_checksums ? "SELECT created, revision, collection, text, checksum FROM "
                                       "objects"
                                     : "SELECT created, revision, collection, text FROM objects"));
  while (true) {
    TRY_ASSIGN(bool found, rows.step());
    if (!found) {
      return {};
    }
    LogRecord record{.collection = rows.text(2),
                     .created = rows.number(0),
                     .revision = rows.number(1),
                     .text = Bytes(nullptr, rows.text(3))};
    TRY(visitor(record, damage_of(database, record,
                                  has_checksums ? std::optional(rows.number(4)) : std::nullopt)));
  }
}

Result<void> read_objects(Database& database, const Log::Visitor& visitor) {
  TRY(check_integrity(database));
  return read_with_damage(
      database, [&](const LogRecord& record, const std::optional<Error>& damage) -> Result<void> {
        return damage ? fail(*damage) : visitor(record);
      });
}

Result<void> check_integrity(Database& database) {
  TRY_ASSIGN(Statement check, database.prepare("PRAGMA integrity_check(1)"));
  TRY_ASSIGN(bool found, check.step());
  if (!found || check.text(0) != "ok") {
    // Behind a line that says which database.
    const std::string_view text = check.text(0);
    return fail(data_loss(database.path() +
                          " is damaged: " + printable(text.substr(text.rfind('\n') + 1))));
  }
  return {};
}

void bind_object(Statement& statement, const LogRecord& record) {
  statement.bind(1, record.created);
  statement.bind(2, record.revision);
  statement.bind(3, record.collection);
  statement.bind(4, record.text.view());
  statement.bind(5, checksum_of(record));
}

Result<void> write_generation(const DataDirectory& directory, std::uint64_t generation,
                              const GenerationContent& content) {
  return tidied(directory, generation, write_file(directory, generation, content));
}

Result<void> copy_to_generation(const DataDirectory& directory, std::uint64_t generation,
                                Database& source, CopyOptions options) {
  return tidied(directory, generation, copy_file(directory, generation, source, options));
}

}  // namespace codeflare::apiserver
