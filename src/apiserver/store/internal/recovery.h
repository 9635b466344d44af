#pragma once

#include "apiserver/store/internal/generation.h"
#include "apiserver/store/internal/wal_scan.h"
#include "base/result.h"

#include <cstdint>

// Handling of the write-ahead log that a process left behind, before and after SQLite's own
// recovery, which silently ends at the first frame that it does not like.

namespace codeflare::apiserver {

// The detail of an error about acknowledged writes that recovery would drop: a repair can give them
// up.
struct DamagedLog : ErrorDetail {};

// A process that died may have left a write-ahead log that can be read but is not on disk: neither
// its name, nor its content if a sync had failed (syncing again would then succeed and do nothing).
// So every byte is written again where it stands, then synced together with the name. A flipped bit
// of the last transaction is set right meanwhile; other damage is reported and left as it is.
// Nobody else may be writing the database.
Result<WalState> make_wal_durable(const DataDirectory& directory, std::uint64_t generation);

// The database as SQLite recovers it, unless that drops acknowledged writes: then `data_loss` with
// DamagedLog as its detail, and nothing is changed. Where writes were relaxed some may be lost.
Result<Database> open_recovered(const DataDirectory& directory, std::uint64_t generation,
                                const WalState& wal);

// Removes what lies behind the last commit and was never acknowledged, so that it can't be mistaken
// for a part of what is written next.
Result<void> cut_torn_end(const DataDirectory& directory, std::uint64_t generation,
                          const WalState& wal);

}  // namespace codeflare::apiserver
