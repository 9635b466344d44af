#pragma once

#include "base/posix.h"
#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>

// Places in directories that containers change while we look. A path that was checked may lead
// elsewhere a moment later, so a place is opened once and used by its descriptor from then on.
namespace codeflare::node {

// Where links on the way may lead.
enum class Links : std::uint8_t {
  inside,   // links that leave the top, or name a place from the root, are errors
  chrooted  // the top is the root, as for a process that lives there
};

// Handling of missing parts of a path: all but the last are directories.
enum class Missing : std::uint8_t { refused, made_directory, made_file };

struct PlaceOptions {
  Links links = Links::inside;
  Missing missing = Missing::refused;
  std::uint32_t mode = 0755;  // of directories that are made
};

// A descriptor that only names the place (O_PATH). Every part is opened from the one before, links
// are read and followed here: whatever is swapped meanwhile, the place lies below `top`.
Result<FileDescriptor> open_place(int top, std::string_view path, const PlaceOptions& options);

// The same for a path without links at its end, of whose way others have no part.
Result<FileDescriptor> open_top(const std::string& path);

struct BindOptions {
  bool read_only = false;
  // A name of our own, of nothing, where the mount may be for a moment.
  std::string stage;
};

// Shows one place at the other, with everything that is mounted below. No program there gets the
// rights of its file's owner, and no device can be opened. A mount has its limits before anybody
// sees it. On kernels that cannot do so by descriptor (before Linux 5.12) by the names that /proc
// has for them.
Result<void> bind_descriptor(int source, int target, const BindOptions& options);

}  // namespace codeflare::node
