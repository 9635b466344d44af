#pragma once

#include "kube/object.h"
#include "model/gvk.h"

#include <functional>
#include <string>
#include <vector>

namespace codeflare::runtime {

// Which keys a change of this object concerns.
using MapFunction = std::function<void(const kube::Object&, std::vector<model::ObjectKey>& keys)>;

// The object itself.
MapFunction to_self();
// The owner of that kind: the one marked as controller, or any. Versions of the kind's group do not
// matter.
MapFunction to_controller(const model::ResourceType& owner);
MapFunction to_owners(const model::ResourceType& owner);
// The object that a label names, in the same namespace.
MapFunction to_label(std::string label);

}  // namespace codeflare::runtime
