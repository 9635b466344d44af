#include "kube/auth_service.h"

#include "kube/impersonation.h"
#include "kube/internal/config_held_body.h"

#include <string_view>

namespace codeflare::kube {

namespace {

constexpr int kUnauthorized = 401;
constexpr std::size_t kDrainBytesMax = std::size_t{64} << 10;

// All but the body.
net::Request head_of(const net::Request& request) {
  net::Request head;
  head.method = request.method;
  head.target = request.target;
  head.headers = request.headers;
  head.body_size = request.body_size;
  head.peer = request.peer;
  return head;
}

// Reads the little that an error says, so that its connection can be used again.
Task<void> drain(net::Response response) {
  if (response.body_size && *response.body_size <= kDrainBytesMax) {
    (void)co_await net::read_all(std::move(response.body), kDrainBytesMax);
  }
}

bool same(const Credential& a, const Credential& b) {
  return a.authorization == b.authorization && a.certificate_pem == b.certificate_pem &&
         a.key_pem == b.key_pem;
}

}  // namespace

Task<Result<net::Response>> AuthService::send_as(CredentialRef credential, net::Request request) {
  if (!credential->authorization.empty() && !request.headers.has("Authorization")) {
    request.headers.set("Authorization", credential->authorization.reveal());
  }
  CO_TRY_ASSIGN(std::shared_ptr<net::HttpService> service,
                co_await transport_.service_for(std::move(credential)));
  CO_TRY_ASSIGN(net::Response response, co_await service->send(std::move(request)));
  response.body = internal::body_with_owner(std::move(response.body), std::move(service));
  co_return response;
}

Task<Result<net::Response>> AuthService::send(net::Request request) {
  if (!request.headers.has("User-Agent")) {
    request.headers.set("User-Agent", options_.user_agent);
  }
  add_impersonation(options_.impersonation, request.headers);
  request.target.insert(0, options_.target_prefix);
  bool own_credentials = request.headers.has("Authorization");
  CO_TRY_ASSIGN(CredentialRef credential, co_await source_.get());
  if (own_credentials || !source_.renewable()) {
    co_return co_await send_as(std::move(credential), std::move(request));
  }
  CO_TRY_ASSIGN(internal::HeldBody body,
                co_await internal::hold_body(std::move(request.body), request.body_size,
                                             options_.replay_bytes_max));
  net::Request first = head_of(request);
  first.body = body.stream();
  CO_TRY_ASSIGN(net::Response response, co_await send_as(credential, std::move(first)));
  if (response.status != kUnauthorized) {
    co_return response;
  }
  source_.refused(credential);
  if (!body.whole) {
    co_return response;
  }
  CO_TRY_ASSIGN(CredentialRef renewed, co_await source_.get());
  if (same(*renewed, *credential)) {
    co_return response;
  }
  co_await drain(std::move(response));
  request.body = body.stream();
  co_return co_await send_as(std::move(renewed), std::move(request));
}

}  // namespace codeflare::kube
