#include "apiserver/store/internal/recovery.h"

#include "apiserver/store/internal/acknowledged.h"
#include "apiserver/store/internal/raw_file.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::apiserver {

namespace {

RawFile::Name wal_of(const DataDirectory& directory, std::uint64_t generation) {
  return {.vfs = directory.vfs, .database = directory.file(generation), .suffix = "-wal"};
}

Result<std::uint32_t> page_bytes_of(RawFile& database) {
  constexpr std::uint64_t kPageSizeAt = 16;
  std::vector<char> bytes(2);
  TRY(database.read(kPageSizeAt, bytes));
  const auto high = static_cast<unsigned char>(bytes[0]);
  const auto low = static_cast<unsigned char>(bytes[1]);
  const std::uint32_t size = std::uint32_t{high} << 8 | low;
  return size == 1 ? 65536 : size;
}

Result<bool> is_folded_in(RawFile& wal, RawFile& database, std::uint32_t page_bytes,
                          const WalState& state) {
  std::vector<char> logged(page_bytes);
  std::vector<char> folded(page_bytes);
  for (const auto& [page, at] : state.pages) {
    TRY(wal.read(at, logged));
    TRY(database.read(std::uint64_t{page - 1} * page_bytes, folded));
    if (logged != folded) {
      return false;
    }
  }
  return true;
}

// Starting the log over writes its header first, while the frames behind it are folded in already.
// A header that is bad with other frames behind it was whole once.
Result<std::optional<WalDamage>> look_past_header(const DataDirectory& directory,
                                                  std::uint64_t generation, RawFile& wal) {
  using ByteOrder = WalScan::ByteOrder;
  TRY_ASSIGN(RawFile database,
             RawFile::open({.vfs = directory.vfs, .database = directory.file(generation)}));
  TRY_ASSIGN(const std::uint32_t page_bytes, page_bytes_of(database));
  for (ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
    WalScan scan({.page_bytes = page_bytes, .order = order});
    TRY(wal.visit([&](std::uint64_t, std::string_view bytes) -> Result<void> {
      scan.add(bytes);
      return {};
    }));
    const WalState state = scan.finish();
    TRY_ASSIGN(const bool is_folded, is_folded_in(wal, database, page_bytes, state));
    if (!is_folded) {
      return WalDamage{.problem = "its checksum is wrong", .commits_behind = state.commits};
    }
  }
  return std::nullopt;
}

Error lost(std::string message) {
  Error error = data_loss(std::move(message));
  error.detail = std::make_shared<DamagedLog>();
  return error;
}

Error lost_behind(const DataDirectory& directory, std::uint64_t generation,
                  const WalDamage& damage) {
  const std::string where =
      damage.frame == 0 ? "its header" : "frame " + std::to_string(damage.frame);
  return lost(directory.file(generation) + "-wal is damaged at " + where + " (offset " +
              std::to_string(damage.offset) + "): " + damage.problem +
              (damage.commits_behind == 0
                   ? "; the last transaction would be lost"
                   : "; acknowledged writes behind it would be lost (" +
                         std::to_string(damage.commits_behind) + " commits)"));
}

// A database without the note was written before there was one, or relaxed.
Result<void> check_acknowledged(const DataDirectory& directory, std::uint64_t generation,
                                Database& database, const WalState& wal) {
  TRY_ASSIGN(std::optional<Revision> noted, AcknowledgedRevision::read(directory, generation));
  TRY_ASSIGN(const bool relaxed, is_relaxed(database));
  if (relaxed && !noted) {
    return {};
  }
  if (wal.damage) {
    return fail(lost_behind(directory, generation, *wal.damage));
  }
  TRY_ASSIGN(const Revision revision, read_revision(database));
  if (noted && revision < *noted) {
    return fail(lost(database.path() + " ends at revision " + std::to_string(revision) +
                     ", but revision " + std::to_string(*noted) + " was acknowledged"));
  }
  return {};
}

}  // namespace

Result<WalState> make_wal_durable(const DataDirectory& directory, std::uint64_t generation) {
  const RawFile::Name name = wal_of(directory, generation);
  const std::string path = name.database + name.suffix;
  if (!directory.files.exists(path)) {
    return WalState();
  }
  WalScan scan;
  WalState state;
  {
    TRY_ASSIGN(RawFile wal, RawFile::open(name));
    TRY(wal.visit([&](std::uint64_t offset, std::string_view bytes) {
      scan.add(bytes);
      return wal.write(offset, bytes);
    }));
    state = scan.finish();
    if (state.correction) {
      TRY(wal.write(state.correction->offset, std::string_view(&state.correction->byte, 1)));
    }
    if (state.is_header_bad) {
      TRY_ASSIGN(state.damage, look_past_header(directory, generation, wal));
    }
  }
  TRY(directory.files.sync(path));
  TRY(AcknowledgedRevision::make_durable(directory, generation));
  return state;
}

Result<Database> open_recovered(const DataDirectory& directory, std::uint64_t generation,
                                const WalState& wal) {
  Result<Database> database =
      open_database({.path = directory.file(generation), .vfs = directory.vfs});
  if (!database) {
    // A part of a log over a database that has the rest of it need not be a database any more.
    const bool is_by_log = wal.damage && database.error().code == ErrorCode::data_loss;
    return is_by_log ? fail(lost_behind(directory, generation, *wal.damage)) : std::move(database);
  }
  TRY(check_acknowledged(directory, generation, *database, wal));
  return database;
}

Result<void> cut_torn_end(const DataDirectory& directory, std::uint64_t generation,
                          const WalState& wal) {
  const RawFile::Name name = wal_of(directory, generation);
  if (wal.is_header_bad || !directory.files.exists(name.database + name.suffix)) {
    return {};
  }
  TRY_ASSIGN(RawFile file, RawFile::open(name));
  TRY_ASSIGN(const std::uint64_t size, file.size());
  return size > wal.bytes_valid ? file.truncate(wal.bytes_valid) : Result<void>();
}

}  // namespace codeflare::apiserver
