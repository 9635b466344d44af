#pragma once

#include "base/env/env.h"
#include "base/result.h"

#include <optional>
#include <string>
#include <string_view>

// The sizes of nodes that `codeflare up` was started with, kept for the next start.
namespace codeflare::up {

// As typed; nothing: the machine's, or no GPUs.
struct NodeSizes {
  std::optional<std::string> cpus{};
  std::optional<std::string> memory{};
  std::optional<std::string> gpus{};
  friend bool operator==(const NodeSizes&, const NodeSizes&) = default;
};

struct ChosenSizes {
  NodeSizes sizes;
  std::string note{};  // for people: what is remembered and what changed; empty: nothing
};

// Options win over what is remembered.
ChosenSizes choose_sizes(const NodeSizes& typed, const NodeSizes& remembered);

std::string to_json(const NodeSizes& sizes);
NodeSizes parse_sizes(std::string_view text);

// DIR/sizes.json. A file that is missing or cannot be read remembers nothing. Blocks.
NodeSizes read_sizes(FileSystem& files, const std::string& directory);
Result<void> write_sizes(FileSystem& files, const std::string& directory, const NodeSizes& sizes);

}  // namespace codeflare::up
