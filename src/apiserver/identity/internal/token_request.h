#pragma once

#include "apiserver/identity/service_account_tokens.h"
#include "apiserver/request/virtual_resource.h"
#include "apiserver/store/store.h"
#include "base/env/env.h"

#include <memory>

namespace codeflare::apiserver::internal {

// POST .../serviceaccounts/NAME/token
std::unique_ptr<VirtualResource> make_token_request(Env env, Store& store,
                                                    ServiceAccountTokens& tokens);

}  // namespace codeflare::apiserver::internal
