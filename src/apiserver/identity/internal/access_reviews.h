#pragma once

#include "apiserver/identity/rbac_policy.h"
#include "apiserver/request/virtual_resource.h"

#include <memory>

namespace codeflare::apiserver::internal {

std::unique_ptr<VirtualResource> make_self_access_review(const RbacPolicy& policy);
std::unique_ptr<VirtualResource> make_access_review(const RbacPolicy& policy);
std::unique_ptr<VirtualResource> make_local_access_review(const RbacPolicy& policy);
std::unique_ptr<VirtualResource> make_self_rules_review(const RbacPolicy& policy);

}  // namespace codeflare::apiserver::internal
