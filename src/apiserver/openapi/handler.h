#pragma once

#include "apiserver/openapi/documents.h"
#include "apiserver/request/request_info.h"
#include "base/async/task.h"
#include "net/http.h"

#include <functional>

namespace codeflare::apiserver {

using OpenApiHandler =
    std::function<Task<Result<net::Response>>(const RequestInfo&, const net::Request&)>;

// Answers /openapi/v2, /openapi/v3 and everything below it: ETags, documents that never change
// under their hash, gzip for those who take it. The registry must outlive it.
OpenApiHandler make_openapi_handler(const Registry& registry, FindDefinition find = {});

}  // namespace codeflare::apiserver
