#pragma once

#include "apiserver/request/request_info.h"
#include "base/async/task.h"
#include "base/result.h"
#include "kube/client.h"
#include "model/gvk.h"
#include "net/http.h"
#include "up/pod_connect.h"

#include <string>
#include <string_view>

namespace codeflare::up {

// A request at a kubelet's port.
struct KubeletRequest {
  model::ObjectKey pod;
  apiserver::RequestInfo info{};  // subresource and query as the API server's own paths have them
};

// "/containerLogs/NS/POD/CONTAINER", "/exec/...", "/attach/...", "/portForward/NS/POD" with the
// names of a kubelet's parameters. not_found for any other path.
Result<KubeletRequest> parse_kubelet_request(std::string_view target);

// The kubelet's port of a joined node: logs, exec, attach and port-forward of its pods. A caller
// needs a client certificate of the port's authority and, as with a kubelet, the right to
// nodes/proxy, which the API server is asked for. All parameters outlive it.
class KubeletService final : public net::HttpService {
 public:
  KubeletService(kube::Client& client, const PodConnect& pods, std::string node)
      : client_(client), pods_(pods), node_(std::move(node)) {}

  Task<Result<net::Response>> send(net::Request request) override;

 private:
  Task<Result<net::Response>> serve(net::Request request);
  Task<Result<void>> check_right(net::Peer::Certificate who, std::string method);

  kube::Client& client_;
  const PodConnect& pods_;
  std::string node_;
};

}  // namespace codeflare::up
