#pragma once

#include "apiserver/request/request_info.h"
#include "apiserver/request/user.h"
#include "base/async/task.h"
#include "base/result.h"
#include "json/value.h"

namespace codeflare::apiserver {

// A resource that is not stored but answered: reviews, token requests, bindings, evictions.
// Registered by (group, resource, subresource).
class VirtualResource {
 public:
  virtual ~VirtualResource() = default;
  struct Call {
    const User& user;
    const RequestInfo& info;
    json::Arena& arena;
    json::Value body;  // decoded, of the subresource's kind
    bool dry_run = false;
  };
  // Returns the object to answer; status 201 for create.
  virtual Task<Result<json::Value>> create(Call& call) = 0;
};

}  // namespace codeflare::apiserver
