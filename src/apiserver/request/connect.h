#pragma once

#include "apiserver/request/request_info.h"
#include "apiserver/request/user.h"
#include "apiserver/store/object.h"
#include "base/async/task.h"
#include "base/result.h"
#include "net/http.h"

#include <cstdint>

namespace codeflare::apiserver {

// Where a request to pods/proxy or services/proxy goes.
struct ProxyTarget {
  ObjectPtr pod;
  std::uint16_t port = 0;
  bool tls = false;
};

// Serves what only a node can: log, exec, attach, portforward and proxy of pods. Without one the
// server answers 501.
class ConnectHandler {
 public:
  virtual ~ConnectHandler() = default;
  virtual Task<Result<net::Response>> connect(User user, RequestInfo info, ObjectPtr pod,
                                              net::Request request) = 0;
  // Sends the request to a port of a pod as it is. Errors are those of HttpService; `unsupported`
  // means that no node serves this.
  virtual Task<Result<net::Response>> proxy(ProxyTarget /*target*/, net::Request /*request*/) {
    co_return fail(unsupported("no node serves pods/proxy here"));
  }
};

}  // namespace codeflare::apiserver
