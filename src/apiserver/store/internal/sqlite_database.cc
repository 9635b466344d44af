#include "apiserver/store/internal/sqlite_database.h"

#include "apiserver/store/internal/printable.h"
#include "base/check.h"

#include <utility>

namespace codeflare::apiserver {

namespace {

constexpr int kBusyMs = 5000;

ErrorCode code_of(int sqlite_code) {
  switch (sqlite_code & 0xff) {
    case SQLITE_FULL:
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return ErrorCode::resource_exhausted;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return ErrorCode::data_loss;
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return ErrorCode::permission_denied;
    default:
      return ErrorCode::internal;
  }
}

Error error_of(sqlite3* handle, const std::string& path, int code) {
  const char* words = handle != nullptr ? sqlite3_errmsg(handle) : sqlite3_errstr(code);
  // They may name a table as the file spells it.
  return {code_of(code), path + ": " + printable(words) + " (SQLite " + std::to_string(code) + ")"};
}

// A name with parameters: bytes that mean something in one are escaped.
std::string uri_without_log(std::string_view path) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string uri = "file:";
  for (char byte : path) {
    const auto value = static_cast<unsigned char>(byte);
    if (byte == '%' || byte == '?' || byte == '#') {
      uri += {'%', kHex[value >> 4], kHex[value & 15]};
    } else {
      uri += byte;
    }
  }
  return uri + "?immutable=1";
}

}  // namespace

void Statement::bind(int index, std::uint64_t value) {
  int code = sqlite3_bind_int64(handle_.get(), index, static_cast<sqlite3_int64>(value));
  CHECK(code == SQLITE_OK, "no such parameter");
}

void Statement::bind(int index, std::string_view text) {
  int code = sqlite3_bind_text64(handle_.get(), index, text.data(), text.size(), SQLITE_STATIC,
                                 SQLITE_UTF8);
  CHECK(code == SQLITE_OK, "no such parameter");
}

Result<bool> Statement::step() {
  int code = sqlite3_step(handle_.get());
  if (code == SQLITE_ROW || code == SQLITE_DONE) {
    return code == SQLITE_ROW;
  }
  sqlite3* db = sqlite3_db_handle(handle_.get());
  return fail(error_of(db, sqlite3_db_filename(db, "main"), sqlite3_extended_errcode(db)));
}

Result<void> Statement::run() {
  Result<bool> stepped = step();
  sqlite3_reset(handle_.get());
  sqlite3_clear_bindings(handle_.get());
  if (!stepped) {
    return fail(std::move(stepped).error());
  }
  return {};
}

std::uint64_t Statement::number(int column) const {
  return static_cast<std::uint64_t>(sqlite3_column_int64(handle_.get(), column));
}

std::string_view Statement::text(int column) const {
  const auto* data = sqlite3_column_text(handle_.get(), column);
  auto size = static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column));
  return {reinterpret_cast<const char*>(data), data == nullptr ? 0 : size};
}

Result<Database> Database::open(const OpenOptions& options) {
  // One thread at a time uses a connection, not always the same one.
  const bool read_only = options.read_only || options.without_log;
  int flags = (read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE) | SQLITE_OPEN_NOMUTEX |
              SQLITE_OPEN_EXRESCODE | (options.without_log ? SQLITE_OPEN_URI : 0);
  const std::string name = options.without_log ? uri_without_log(options.path) : options.path;
  sqlite3* handle = nullptr;
  int code = sqlite3_open_v2(name.c_str(), &handle, flags,
                             options.vfs.empty() ? nullptr : options.vfs.c_str());
  Database database(handle, options.path);
  if (code != SQLITE_OK) {
    return fail(database.error(code));
  }
  sqlite3_busy_timeout(handle, kBusyMs);
  // A database whose sync failed must not be written by the way it is closed.
  sqlite3_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  sqlite3_wal_autocheckpoint(handle, 0);
  return database;
}

Error Database::error(int code) const {
  return error_of(handle_.get(), path_, code);
}

Result<void> Database::run(const char* sql) {
  int code = sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) {
    return fail(error(code));
  }
  return {};
}

Result<std::uint64_t> Database::number(const char* sql) {
  TRY_ASSIGN(Statement statement, prepare(sql));
  TRY_ASSIGN(bool found, statement.step());
  if (!found) {
    return fail(data_loss(path_ + ": no answer to " + sql));
  }
  return statement.number(0);
}

Result<Statement> Database::prepare(const char* sql) {
  sqlite3_stmt* statement = nullptr;
  int code =
      sqlite3_prepare_v3(handle_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  // The statements are always the same: a table or column that they name is not there.
  if (code == SQLITE_ERROR) {
    return fail(data_loss(error(code).message));
  }
  if (code != SQLITE_OK) {
    return fail(error(code));
  }
  return Statement(statement);
}

Result<void> Database::copy_to(const std::string& path) {
  TRY_ASSIGN(Statement copy, prepare("VACUUM INTO ?"));
  copy.bind(1, path);
  Result<void> copied = copy.run();
  if (copied) {
    return copied;
  }
  const int code = sqlite3_extended_errcode(handle());
  // SQLite does not say which of the two files it means; only a copy can be without room.
  const bool full = (code & 0xff) == SQLITE_FULL;
  return fail(error_of(handle(), full ? path : "copying " + path_ + " to " + path, code));
}

}  // namespace codeflare::apiserver
