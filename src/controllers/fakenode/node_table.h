#pragma once

#include "base/time.h"
#include "model/node.h"
#include "model/placement.h"
#include "model/pod.h"
#include "runtime/informer.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::controllers::fakenode {

// Marks nodes whose pods only pretend. A Node created with it becomes one more of them.
inline constexpr std::string_view kFakeLabel = "codeflare.dev/fake-node";
// "false" on a fake node makes it not ready: its pods stand still, and are evicted in time.
inline constexpr std::string_view kReadyAnnotation = "codeflare.dev/ready";

// The facts about their node that pods need.
struct NodeFacts {
  bool fake = false;
  bool ready = true;
  std::string address;
  std::vector<model::Taint> evicting;  // with effect NoExecute

  friend bool operator==(const NodeFacts&, const NodeFacts&) = default;
};

bool is_fake(const model::Node& node);
bool wanted_ready(const model::Node& node);
NodeFacts facts_of(const model::Node& node);

// When the pod has to leave for a taint that it does not bear, or only for a time.
std::optional<WallTime> eviction_time(const NodeFacts& node, const model::PodSpec& pod);

// All nodes in short, kept in step with an informer.
class NodeTable {
 public:
  explicit NodeTable(runtime::Informer& nodes);

  const NodeFacts* find(std::string_view name) const;  // null when there is no such node

 private:
  std::map<std::string, NodeFacts, std::less<>> nodes_;
};

}  // namespace codeflare::controllers::fakenode
