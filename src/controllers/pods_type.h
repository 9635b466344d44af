#pragma once

#include "model/gvk.h"
#include "model/resources.h"

namespace codeflare::controllers {

// Pods, as clients and informers name them.
inline const model::ResourceType kPods = model::resource_type<model::Pod>();

}  // namespace codeflare::controllers
