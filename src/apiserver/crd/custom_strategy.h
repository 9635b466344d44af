#pragma once

#include "apiserver/registry/resource.h"

#include <memory>
#include <optional>

namespace codeflare::apiserver {

// The rules of custom resources: updates name a resourceVersion, the paths of the scale subresource
// hold numbers and a selector, and finalizers without a domain draw a warning.
std::shared_ptr<const Strategy> make_custom_strategy(std::optional<ScaleSubresource> scale);

}  // namespace codeflare::apiserver
