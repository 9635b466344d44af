#pragma once

#include "apiserver/request/request_info.h"
#include "base/async/task.h"
#include "base/result.h"
#include "net/http.h"

#include <functional>
#include <string>
#include <vector>

namespace codeflare::apiserver {

// An API group without stored objects, as an APIService of a real cluster is: clients find the
// resources by discovery, requests are authenticated and authorized, and the handler answers GETs.
struct ServedGroup {
  struct Kind {
    std::string plural;
    std::string singular;
    std::string kind;
    bool namespaced = true;
    // Those of a kind without objects of its own: clients find `PLURAL/NAME` alone, with `get`.
    std::vector<std::string> subresources{};
  };
  std::string group;
  std::string version;
  std::vector<Kind> kinds;
  std::function<Task<Result<net::Response>>(const RequestInfo&, const net::Request&)> handler;
};

}  // namespace codeflare::apiserver
