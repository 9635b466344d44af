#pragma once

#include "apiserver/registry/resource.h"
#include "base/error.h"

#include <string_view>

namespace codeflare::apiserver {

// Which object an answer is about.
struct About {
  std::string_view group{};
  std::string_view resource{};  // "pods"
  std::string_view name{};      // may be empty
};

// `roles.rbac.authorization.k8s.io "x" is forbidden: <why>`, with its Status: the answer of every
// check that rejects a request.
Error forbidden(const About& about, std::string_view why);
Error forbidden(const Resource& resource, std::string_view name, std::string_view why);

}  // namespace codeflare::apiserver
