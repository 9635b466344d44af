#include "net/internal/real_resolve.h"

#include <cerrno>
#include <cstring>
#include <netdb.h>
#include <system_error>
#include <utility>

namespace codeflare::net::internal {

namespace {

Result<std::vector<Endpoint>> look_up(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  int code = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (code != 0) {
    std::string why =
        code == EAI_SYSTEM ? std::generic_category().message(errno) : gai_strerror(code);
    return fail(unavailable("look up " + host + ": " + why));
  }
  std::vector<Endpoint> endpoints;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    Endpoint endpoint;
    if (each->ai_addrlen <= sizeof endpoint.storage) {
      std::memcpy(&endpoint.storage, each->ai_addr, each->ai_addrlen);
      endpoint.size = each->ai_addrlen;
      endpoints.push_back(endpoint);
    }
  }
  freeaddrinfo(found);
  if (endpoints.empty()) {
    return fail(unavailable("look up " + host + ": no address"));
  }
  return endpoints;
}

}  // namespace

Task<Result<std::vector<Endpoint>>> resolve(Env env, std::string host, std::uint16_t port) {
  if (Result<Endpoint> literal = parse_endpoint(host, port)) {
    co_return std::vector<Endpoint>{*literal};
  }
  // The look-up cannot be interrupted; work and result are its own, so that it may be abandoned
  // by nobody: run_blocking waits for it.
  co_return co_await run_blocking(env,
                                  [host = std::move(host), port] { return look_up(host, port); });
}

}  // namespace codeflare::net::internal
