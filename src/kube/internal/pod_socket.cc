#include "kube/internal/pod_socket.h"

#include "base/async/sleep.h"
#include "kube/internal/error_body.h"
#include "kube/path.h"

#include <cstddef>
#include <utility>

namespace codeflare::kube::internal {

namespace {

constexpr std::size_t kRejectionBytesMax = 1u << 20;

Task<Result<net::WebSocketAnswer>> ask(Env env, net::HttpService& service, net::Request request,
                                       std::vector<std::string> protocols) {
  const std::string what = "GET " + request.target.substr(0, request.target.find('?'));
  CO_TRY_ASSIGN(net::WebSocketAnswer answer,
                co_await net::ask_for_websocket(service, std::move(request), std::move(protocols),
                                                env.random));
  if (answer.open()) {
    co_return answer;
  }
  const int status = answer.response.status;
  const Result<std::string> body =
      co_await net::read_all(std::move(answer.response.body), kRejectionBytesMax);
  if (status >= 200 && status < 300) {
    co_return fail(unsupported(what + ": the server did not upgrade the connection"));
  }
  co_return fail(error_of_answer(what, status, body ? *body : std::string()));
}

}  // namespace

Result<std::string> pod_path(const model::ObjectKey& pod, std::string_view subresource) {
  static const model::ResourceType pods{"", "v1", "Pod", "pods", true};
  return object_path(pods, pod, subresource);
}

Task<Result<net::WebSocketAnswer>> open_pod_socket(Env env, net::HttpService& service,
                                                   std::string target,
                                                   std::vector<std::string> protocols) {
  net::Request request{.method = "GET", .target = std::move(target)};
  std::string what = request.target.substr(0, request.target.find('?'));
  Task<Result<net::WebSocketAnswer>> asking =
      ask(env, service, std::move(request), std::move(protocols));
  co_return co_await with_timeout(kPodSocketOpenWithin, std::move(what), std::move(asking));
}

Task<Result<void>> write_channel(net::WebSocketConnection& socket, std::uint8_t channel,
                                 std::string_view bytes) {
  std::string payload;
  payload.reserve(bytes.size() + 1);
  payload.push_back(static_cast<char>(channel));
  payload.append(bytes);
  return socket.write(net::WebSocketOpcode::binary, std::move(payload));
}

}  // namespace codeflare::kube::internal
