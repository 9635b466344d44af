#pragma once

#include "base/result.h"

#include <optional>
#include <string>
#include <string_view>

namespace codeflare {

// What keeps the pods of a node apart from the machine. It is remembered beside them, so that they
// do not come back with less than they had because something went wrong for once.
struct NodeMode {
  bool isolated = false;   // in namespaces
  bool networked = false;  // with addresses of their own
  friend bool operator==(const NodeMode&, const NodeMode&) = default;
};

std::string to_text(const NodeMode& mode);
Result<NodeMode> parse_node_mode(std::string_view text);

// What is to be had now and, of what is not, why.
struct FoundMode {
  NodeMode mode;
  std::string not_isolated{};
  std::string not_networked{};
};

// Fails with the words that help when pods had more at the last start (absent: there was none).
Result<void> check_node_mode(const std::optional<NodeMode>& before, const FoundMode& found);

}  // namespace codeflare
