#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "base/result.h"

#include <optional>
#include <string>
#include <string_view>

namespace codeflare::up {

// The walls between the pods of a node and the machine. It is remembered beside them, so that they
// do not come back with less than they had because something went wrong for once.
struct NodeMode {
  bool isolated = false;   // in namespaces
  bool networked = false;  // with addresses of their own
  friend bool operator==(const NodeMode&, const NodeMode&) = default;
};

std::string to_text(const NodeMode& mode);
Result<NodeMode> parse_node_mode(std::string_view text);

// The possible modes now and, for the others, why not.
struct FoundMode {
  NodeMode mode;
  std::string not_isolated{};
  std::string not_networked{};
};

// Fails with the words that help when pods had more at the last start (absent: there was none).
Result<void> check_node_mode(const std::optional<NodeMode>& before, const FoundMode& found);

// The file's record of the last start; absent when there is none. Anything else that cannot be read
// is an error: it may say more than what is to be had now.
Task<Result<std::optional<NodeMode>>> read_node_mode(Env env, std::string file);
// Writes it down, unless it was so `before`.
Task<Result<void>> remember_node_mode(Env env, std::string file, std::optional<NodeMode> before,
                                      NodeMode now);

}  // namespace codeflare::up
