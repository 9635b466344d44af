#pragma once

#include "apiserver/store/object.h"
#include "base/bytes.h"
#include "base/result.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

namespace codeflare::apiserver {

// One object as the log keeps it: found again by the revision of its creation.
struct LogRecord {
  enum class Op : std::uint8_t { put, remove };
  Op op = Op::put;
  std::string_view collection{};
  Revision created = 0;
  Revision revision = 0;
  Bytes text{};  // put
};

// Survives the process: the newest state of every object and the last revision. Every call
// blocks and is made off the loop, one at a time (the two const ones: at any time, from anywhere).
class Log {
 public:
  virtual ~Log() = default;

  using Visitor = std::function<Result<void>(const LogRecord&)>;
  // Called once, first. Hands over every object and returns the last revision (0: a new log); an
  // error of the visitor ends it. Never less than a revision that append() or rebuild() has taken.
  virtual Result<Revision> load(const Visitor& visitor) = 0;
  // One transaction, durable on return. `resource_exhausted` (disk full): nothing was written and a
  // later append may succeed. Any other error: what is on disk is unknown, only rebuild() may
  // follow.
  virtual Result<void> append(std::span<const LogRecord> records, Revision revision) = 0;
  // Replaces everything by a complete new copy, synced and put in place at once. When it fails it
  // may be tried again.
  virtual Result<void> rebuild(std::span<const LogRecord> objects, Revision revision) = 0;

  // Bytes on disk that wait to be folded in; 0 where there is no such thing.
  virtual std::uint64_t backlog_bytes() const { return 0; }
  // Whether there is so much of it that fold() should be called.
  virtual bool is_fold_due() const { return false; }
  // Between appends: folds the backlog in. Errors as append().
  virtual Result<void> fold() { return {}; }
  // The last call: leaves things tidy for the next start. Durability does not depend on it.
  virtual Result<void> close() { return {}; }
};

}  // namespace codeflare::apiserver
