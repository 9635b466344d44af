#pragma once

#include "base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Messages between an agent and a worker that has the library: one JSON object a line. See
// *Agent and worker* in docs/decisions/0014.
namespace codeflare::elastic {

inline constexpr std::size_t kMessageBytesMax = 64u << 10;

struct WorkerMessage {
  enum class Type : std::uint8_t {
    hello,
    ready,
    hosting,
    running,
    progress,
    saved,
    unsaved,
    left,
    done
  };
  Type type = Type::hello;
  std::int64_t generation = 0;
  std::int64_t step = 0;
  std::int32_t local_rank = 0;
  std::int32_t port = 0;
  std::int64_t pid = 0;
  std::optional<double> samples_per_second{};
  std::optional<double> step_seconds{};
  std::optional<double> loss{};
  std::optional<std::int64_t> remaining_samples{};
  std::string tier{};
  std::string id{};
  std::string message{};  // why it is unsaved
};

// invalid_argument names what is wrong; the line is then to be ignored.
Result<WorkerMessage> parse_worker_message(std::string_view line);

struct Notice {
  std::int64_t generation = 0;
  std::string reason;
  bool stay = true;  // false: save, then end
  std::int64_t grace_seconds = 0;
};

struct RoundForWorker {
  std::int64_t generation = 0;
  std::int32_t rank = 0;
  std::int32_t local_rank = 0;
  std::int32_t local_world_size = 1;
  std::int32_t world_size = 1;
  std::string master_address;
  std::int32_t master_port = 0;
  std::int32_t source = 0;
  std::vector<std::string> peers;
};

// Lines with their end.
std::string notice_line(const Notice& notice);
std::string host_line(std::int64_t generation);
std::string round_line(const RoundForWorker& round);
std::string save_line();
std::string lost_line(std::int64_t generation);

}  // namespace codeflare::elastic
