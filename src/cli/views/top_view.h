#pragma once

#include "json/value.h"
#include "model/resource_list.h"

#include <cstddef>
#include <string>
#include <vector>

// Use of nodes and work against their requests; pure.
namespace codeflare::cli {

struct TopNode {
  std::string name;
  bool fake = false;  // its pods only pretend to run
  bool measured = false;
  model::ResourceList used{};
  model::ResourceList requested{};  // by its pods
  model::ResourceList allocatable{};
};

struct TopWork {
  std::string ns;
  std::string name;  // of the AppWrapper, or of a pod without one
  std::string kind;  // "appwrapper" or "pod"
  std::size_t pods = 0;
  bool measured = false;  // some pod was
  model::ResourceList used{};
  model::ResourceList requested{};
};

struct TopView {
  std::vector<TopNode> nodes;
  std::vector<TopWork> work;  // the one that uses most processors first
  bool with_nodes = true;
  bool with_use = true;  // the cluster has a metrics API
};

// Two tables: nodes, and below them work.
std::string render_top(const TopView& view);
// Why nothing was measured; empty when something could be.
std::string no_use_note(const TopView& view);
json::Value top_value(const TopView& view, json::Arena& arena);

}  // namespace codeflare::cli
