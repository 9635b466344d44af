#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "base/time.h"
#include "model/machine_request.h"
#include "model/machine_type.h"
#include "model/meta.h"
#include "model/node.h"

#include <map>
#include <string>
#include <vector>

namespace codeflare::controllers::scale {

// One machine of a request. Its name is made from the request's, and stays the same after a crash.
struct MachineOrder {
  std::string name;
  std::string request;
  std::string type;
  std::string provider;
  WallTime asked{};                    // when the request was made
  model::MachineTypeSpec spec{};       // empty when the type is gone
  model::StringMap labels{};           // all that its Node is to have
  model::List<model::Taint> taints{};  // likewise
  std::string node{};                  // once it has one
  bool arrived = false;                // all machines of the request were ready once
  model::MachineWork work{};
  // Pods of the work on machines of this type; the same for all machines of the type.
  model::List<model::MachinePods> pods{};
};

struct MachineView {
  bool there = false;  // as far as the caches know
  bool ready = false;
  std::string problem{};  // it will not come: the provider's words
  std::string note{};     // why it is not ready yet
  std::string node{};     // the name of its Node, which may have no label of ours yet
};

// Makes machines and takes them away. All calls may be repeated with the same orders; a machine
// that was asked for by its name is not made twice. Orders are those of one request.
class Provider {
 public:
  virtual ~Provider() = default;
  // Asks for all of them. `failed_precondition` and `resource_exhausted` mean that they will not
  // come; other errors are tried again.
  virtual Task<Result<void>> ask(std::vector<MachineOrder> orders) = 0;
  // In the order of the orders.
  virtual std::vector<MachineView> look(const std::vector<MachineOrder>& orders) const = 0;
  // All of them are ready, and the queue is about to use them.
  virtual Task<Result<void>> hand_over(std::vector<MachineOrder>) { co_return Result<void>(); }
  // Annotations that pods of the work need on the node, if it is a machine of this order's type.
  virtual model::StringMap pod_annotations(const MachineOrder&, const std::string& /*node*/) const {
    return {};
  }
  // True when it is gone for good; false while it goes.
  virtual Task<Result<bool>> give_back(MachineOrder order) = 0;
  // The type with what its Nodes have by themselves.
  virtual model::MachineTypeSpec complete(const model::MachineType& type) const {
    return type.spec;
  }
  // An autoscaler removes the Nodes: they are not cordoned, and lose our labels.
  virtual bool leaves_nodes() const { return false; }
};

using Providers = std::map<std::string, Provider*>;  // by name; they outlive the controllers

}  // namespace codeflare::controllers::scale
