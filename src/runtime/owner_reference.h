#pragma once

#include "kube/object.h"
#include "model/gvk.h"

#include <string>

namespace codeflare::runtime {

// metadata.ownerReferences, as JSON, of an object that `owner` controls: it goes when the owner
// goes, and a change of it wakes the owner's controller.
std::string controlled_by(const model::ResourceType& type, const kube::Object& owner);

}  // namespace codeflare::runtime
