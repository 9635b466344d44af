#pragma once

#include "base/result.h"
#include "controllers/appwrapper/queue_driver.h"
#include "controllers/scale/provider.h"
#include "model/node.h"
#include "model/resource_list.h"
#include "runtime/store.h"

#include <string>
#include <vector>

namespace codeflare::controllers::scale {

// Nodes as providers look at them. The empty name stands for none.
class MachineNodes {
 public:
  explicit MachineNodes(const runtime::Store& nodes) : nodes_(nodes) {}

  bool is_there(const std::string& name) const;
  bool is_ready(const std::string& name) const;
  // "Node n1 has nvidia.com/gpu 0 of 4"; empty when the Node has all of it, or is not there.
  std::string shortage(const std::string& name, const model::ResourceList& promised) const;
  model::ResourceList allocatable(const std::string& name) const;

  struct Arrival {
    std::string node;
    bool ours = false;  // has the labels of the request already
  };
  // Nodes with all of the type's labels that came after the request and are not of another one;
  // the oldest first.
  std::vector<Arrival> arrivals(const MachineOrder& order) const;

 private:
  Result<model::Node> read(const std::string& name) const;

  const runtime::Store& nodes_;
};

// Whether work has places on the Node, or pods other than those of DaemonSets are there. Without a
// queue that knows everything: yes.
bool is_node_used(const QueueDriver& driver, const runtime::Store& pods, const std::string& node);

// The first order of each type, by the names of the types.
std::vector<MachineOrder> one_of_each_type(const std::vector<MachineOrder>& orders);

}  // namespace codeflare::controllers::scale
