#pragma once

#include "base/time.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::checkpoint {

// A TrainingJob as the service knows it.
struct JobKey {
  std::string ns;
  std::string uid;
  friend auto operator<=>(const JobKey&, const JobKey&) = default;
  std::string text() const { return ns + "/" + uid; }
};

using CheckpointId = std::int64_t;

// The bytes of one PUT: a file of its own.
struct Chunk {
  std::uint64_t offset = 0;  // in its part
  std::uint64_t size = 0;
  std::uint32_t crc32c = 0;
  std::string file{};
};

// Chunks by offset. Complete when they touch each other from 0 on.
using Part = std::map<std::uint64_t, Chunk>;

std::uint64_t size_of(const Part& part);
std::uint32_t crc32c_of(const Part& part);

enum class State : std::uint8_t { open, sealed, committed };
std::string_view to_string(State state);

// Checkpoints to keep beside the newest one.
struct Retention {
  std::int64_t keep = 2;        // newest committed checkpoints, at least 1
  std::int64_t keep_every = 0;  // every n-th by number; 0: none
};

struct Checkpoint {
  CheckpointId id = 0;
  State state = State::open;
  std::int64_t generation = 0;
  std::int64_t step = 0;
  std::int64_t world_size = 0;
  std::string job_name{};
  std::int64_t number = 0;  // of the commit
  WallTime created{};
  WallTime committed{};
  std::string metadata = "{}";  // JSON text
  Retention retention{};
  std::map<std::string, Part> parts{};

  std::uint64_t bytes() const;
};

struct Lease {
  std::string holder{};
  std::int64_t token = 0;
  std::int64_t seconds = 0;
};

// State that must survive a restart beside the manifests.
struct JobRecord {
  std::int64_t generation = 0;  // newest seen
  CheckpointId id_ceiling = 1;  // ids below may have been given out
  std::int64_t token_next = 1;
  std::string job_name{};
  std::map<std::string, Lease> leases{};
};

}  // namespace codeflare::checkpoint
