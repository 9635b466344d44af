#pragma once

#include "apiserver/request/connect.h"
#include "model/pod.h"
#include "node/agent/log_service.h"
#include "node/agent/pod_http.h"
#include "node/stream/stream_service.h"

#include <set>
#include <string>
#include <utility>

namespace codeflare::up {

// A node's services for its pods beside their objects; null: not.
struct PodServices {
  const node::LogService* logs = nullptr;
  node::StreamService* streams = nullptr;
  node::PodHttp* http = nullptr;
};

// Serves log, exec, attach, portforward and proxy of pods from the nodes of the same process; what
// it does not serve is answered 501, or 503 where a proxy would lead to.
class PodConnect final : public apiserver::ConnectHandler {
 public:
  // Once there are nodes, until end(). Nodes that share the machine share what is behind this.
  void serve(PodServices services, std::set<std::string> nodes) {
    services_ = services;
    nodes_ = std::move(nodes);
  }
  void set_nodes(std::set<std::string> nodes) { nodes_ = std::move(nodes); }
  void end() { services_ = {}; }

  Task<Result<net::Response>> connect(apiserver::User user, apiserver::RequestInfo info,
                                      apiserver::ObjectPtr pod, net::Request request) override;
  Task<Result<net::Response>> proxy(apiserver::ProxyTarget target, net::Request request) override;

  // The subresource and query of `info`, of a pod that is on one of the nodes.
  Result<net::Response> open(const apiserver::RequestInfo& info, const model::Pod& pod,
                             const net::Request& request) const;

 private:
  // Why no node of this process serves that of the pod; empty when one does.
  std::string why_not(const model::Pod& pod, const std::string& subresource) const;

  PodServices services_;
  std::set<std::string> nodes_;
};

// The query of a log request; the errors are upstream's.
Result<node::LogRequest> log_request(const apiserver::Query& query, WallTime now);
// The same of exec and attach.
node::CommandRequest command_request(const apiserver::Query& query);

}  // namespace codeflare::up
