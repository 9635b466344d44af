#include "net/client.h"

#include "net/gzip.h"
#include "net/internal/exchange.h"
#include "net/internal/real_tls.h"

#include <utility>

namespace codeflare::net {

using internal::Attempt;
using internal::ConnectionPool;
using internal::Framing;
using internal::OutgoingRequest;

namespace {

// Methods that change nothing on the server, whether they arrive once, twice or not at all.
bool is_safe(std::string_view method) {
  return method == "GET" || method == "HEAD" || method == "OPTIONS";
}

Framing framing_of(const Request& request) {
  if (request.body != nullptr) {
    return request.body_size ? Framing{Framing::Kind::sized, *request.body_size}
                             : Framing{Framing::Kind::chunked};
  }
  bool expects_body =
      request.method == "POST" || request.method == "PUT" || request.method == "PATCH";
  return expects_body ? Framing{Framing::Kind::sized, 0} : Framing{};
}

Result<OutgoingRequest> prepare(const ConnectionPool& pool, Request request) {
  if (!request.headers.has("Host")) {
    request.headers.add("Host", pool.endpoint().authority());
  }
  if (!request.headers.has("User-Agent") && !pool.options().user_agent.empty()) {
    request.headers.add("User-Agent", pool.options().user_agent);
  }
  if (pool.options().accept_gzip && !request.headers.has("Accept-Encoding")) {
    request.headers.add("Accept-Encoding", "gzip");
  }
  if (pool.forwards()) {
    if (!request.target.starts_with('/')) {
      return fail(invalid_argument("target " + request.target + " is not a path"));
    }
    request.target.insert(0, pool.endpoint().scheme + "://" + pool.endpoint().authority());
    if (std::string authorization = pool.proxy_authorization(); !authorization.empty()) {
      request.headers.set("Proxy-Authorization", std::move(authorization));
    }
  }
  OutgoingRequest outgoing;
  outgoing.method = request.method;
  outgoing.framing = framing_of(request);
  outgoing.upgrade = request.headers.has("Upgrade");
  TRY(write_request_head(outgoing.head, request, outgoing.framing));
  if (request.body != nullptr) {
    outgoing.body = std::make_unique<internal::OutgoingBody>(std::move(request.body));
  }
  return outgoing;
}

void decode_gzip(Response& response) {
  std::optional<std::string_view> encoding = response.headers.get("Content-Encoding");
  if (encoding && equal_ignoring_case(*encoding, "gzip") && response.body != nullptr) {
    response.body = gunzip(std::move(response.body));
    response.body_size.reset();
    response.headers.remove("Content-Encoding");
    response.headers.remove("Content-Length");
  }
}

Result<ConnectionPool::Security> security_of(const Url& endpoint, const std::optional<Url>& proxy,
                                             const TlsClientOptions& options) {
  ConnectionPool::Security security;
  if (endpoint.tls()) {
    TRY_ASSIGN(security.server, internal::TlsContext::for_client(options));
  }
  if (proxy && proxy->tls()) {
    TRY_ASSIGN(security.proxy, internal::TlsContext::for_proxy(options));
  }
  return security;
}

// Says whether the server may have acted.
Error lost(Error error, const OutgoingRequest& request, const Attempt& attempt) {
  if (error.code != ErrorCode::unavailable || !attempt.wrote || is_safe(request.method)) {
    return error;
  }
  return deadline_exceeded(error.message + "; whether the request took effect is unknown");
}

}  // namespace

struct HttpClient::Parts {
  std::shared_ptr<ConnectionPool> pool;
};

HttpClient::HttpClient(std::shared_ptr<Parts> parts) : parts_(std::move(parts)) {}
HttpClient::~HttpClient() = default;

Result<std::unique_ptr<HttpClient>> HttpClient::create(Env env, Url endpoint,
                                                       ClientOptions options) {
  TRY_ASSIGN(ConnectionPool::Security security, security_of(endpoint, options.proxy, options.tls));
  auto parts = std::make_shared<Parts>();
  parts->pool = std::make_shared<ConnectionPool>(env, std::move(endpoint), std::move(options),
                                                 std::move(security));
  return std::unique_ptr<HttpClient>(new HttpClient(std::move(parts)));
}

Result<void> HttpClient::reload_tls(const TlsClientOptions& options) {
  const ConnectionPool& pool = *parts_->pool;
  TRY_ASSIGN(ConnectionPool::Security security,
             security_of(pool.endpoint(), pool.options().proxy, options));
  // With no TLS at all there are no credentials that idle connections were made with.
  if (security.server != nullptr || security.proxy != nullptr) {
    parts_->pool->set_security(std::move(security));
  }
  return {};
}

HttpClient::Counts HttpClient::counts() const {
  return {parts_->pool->connects(), parts_->pool->idle_count()};
}

Task<Result<Response>> HttpClient::send(Request request) {
  std::shared_ptr<ConnectionPool> pool = parts_->pool;
  bool decode = !request.headers.has("Accept-Encoding");
  CO_TRY_ASSIGN(OutgoingRequest outgoing, prepare(*pool, std::move(request)));
  std::unique_ptr<internal::ClientConnection> connection = pool->take_idle();
  bool reused = connection != nullptr;
  for (;;) {
    if (connection == nullptr) {
      CO_TRY_ASSIGN(connection, co_await pool->connect());
    }
    Attempt attempt = co_await exchange(pool, std::move(connection), outgoing);
    if (attempt.response) {
      if (decode) {
        decode_gzip(*attempt.response);
      }
      co_return std::move(attempt.response);
    }
    Error error = std::move(attempt.response).error();
    // The server may close a connection that it kept open just when we use it.
    bool may_repeat = !attempt.wrote || (is_safe(outgoing.method) && !attempt.received);
    bool can_repeat = outgoing.body == nullptr || outgoing.body->can_rewind();
    if (!reused || error.code != ErrorCode::unavailable || !may_repeat || !can_repeat) {
      co_return fail(lost(std::move(error), outgoing, attempt));
    }
    reused = false;
    connection = nullptr;
    if (outgoing.body != nullptr) {
      outgoing.body->rewind();
    }
  }
}

}  // namespace codeflare::net
