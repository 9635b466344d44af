#pragma once

#include "apiserver/request/connect.h"
#include "node/log_service.h"

#include <string>

namespace codeflare {

// Serves `kubectl logs` from the node of the same process; what it does not serve is answered 501.
class PodConnect final : public apiserver::ConnectHandler {
 public:
  // Once there is a node; it outlives the server's last request.
  void serve(const node::LogService& logs, std::string node) {
    logs_ = &logs;
    node_ = std::move(node);
  }
  void end() { logs_ = nullptr; }

  Task<Result<net::Response>> connect(apiserver::User user, apiserver::RequestInfo info,
                                      apiserver::ObjectPtr pod, net::Request request) override;

 private:
  const node::LogService* logs_ = nullptr;
  std::string node_;
};

// What the query of a log request asks for; the errors are upstream's.
Result<node::LogRequest> log_request(const apiserver::Query& query, WallTime now);

}  // namespace codeflare
