#pragma once

#include <string_view>

// The facts that kube-apiserver reads from the name of a resource that containers request.
namespace codeflare::model {

// Without a domain, or of Kubernetes' own.
bool is_native_resource(std::string_view name);
// A device of somebody's domain, such as "nvidia.com/gpu": comes in whole pieces.
bool is_extended_resource(std::string_view name);
// A request may be below the limit of these only.
bool may_overcommit(std::string_view name);

}  // namespace codeflare::model
