#pragma once

#include "cli/views/wrapper_view.h"
#include "json/value.h"
#include "model/quantity.h"
#include "model/quota_subtree.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

// Quota trees for people: limits, use, borrowing and demand of each node; pure.
namespace codeflare::cli {

// One resource of one quota node.
struct QuotaLine {
  std::string resource;
  std::optional<model::Quantity> limit{};  // none: unlimited here
  model::Quantity used{};                  // by the node and all nodes below
  model::Quantity borrowed{};              // of the use: what is beyond the limit
  model::Quantity lent{};                  // of the limit: what other nodes use
  model::Quantity waiting{};               // requests of work that waits
};

struct QuotaNodeView {
  std::string tree;
  std::string name;
  std::string parent{};
  std::string ns{};  // only work of this namespace may charge the node
  std::size_t depth = 0;
  bool hard = false;
  bool reported = false;    // the queue has written the use
  std::size_t waiting = 0;  // AppWrappers
  std::string problem{};
  std::vector<QuotaLine> lines{};  // a line for each resource that the tree limits
};

// Waiting work that charges no node of a tree.
struct QuotaStray {
  std::string tree;
  std::string text;  // "default/train: tree team has no node gold"
};

struct QuotaView {
  // Tree by tree, each node before the nodes below it.
  std::vector<QuotaNodeView> nodes;
  std::vector<QuotaStray> strays;
};

QuotaView quota_of(const std::vector<model::QuotaSubtree>& subtrees,
                   const std::vector<GroupedWrapper>& wrappers);

// The table, with problems and stray work below it. `wide`: with limits that may not be exceeded,
// namespaces and counts of waiting work.
std::string render_quota(const QuotaView& view, bool wide);
json::Value quota_value(const QuotaView& view, json::Arena& arena);

}  // namespace codeflare::cli
