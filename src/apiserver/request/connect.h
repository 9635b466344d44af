#pragma once

#include "apiserver/request/request_info.h"
#include "apiserver/request/user.h"
#include "apiserver/store/object.h"
#include "base/async/task.h"
#include "base/result.h"
#include "net/http.h"

namespace codeflare::apiserver {

// Serves what only a node can: log, exec, attach, portforward and proxy of pods. Without one the
// server answers 501.
class ConnectHandler {
 public:
  virtual ~ConnectHandler() = default;
  virtual Task<Result<net::Response>> connect(User user, RequestInfo info, ObjectPtr pod,
                                              net::Request request) = 0;
};

}  // namespace codeflare::apiserver
