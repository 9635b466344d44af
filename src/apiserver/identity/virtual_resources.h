#pragma once

#include "apiserver/identity/rbac_policy.h"
#include "apiserver/identity/request_authenticator.h"
#include "apiserver/identity/service_account_tokens.h"
#include "apiserver/request/virtual_resource.h"
#include "apiserver/store/store.h"
#include "base/env/env.h"

#include <memory>
#include <string>
#include <vector>

namespace codeflare::apiserver {

// One answered resource and where it is to be added to the ApiService.
struct VirtualRoute {
  std::string group;
  std::string resource;
  std::string subresource;
  std::unique_ptr<VirtualResource> handler;
};

// Everything outlives the handlers.
struct IdentityParts {
  Env env;
  Store& store;
  const RbacPolicy& policy;
  RequestAuthenticator& authenticator;
  ServiceAccountTokens& tokens;
};

// The reviews of authorization.k8s.io and authentication.k8s.io and serviceaccounts/token:
//   for (VirtualRoute& one : identity_resources(parts)) {
//     service.add(one.group, one.resource, one.subresource, std::move(one.handler));
//   }
// CertificateSigningRequests are not among them: they are stored like any object, nobody signs
// them.
std::vector<VirtualRoute> identity_resources(IdentityParts parts);

}  // namespace codeflare::apiserver
