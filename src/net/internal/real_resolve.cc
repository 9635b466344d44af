#include "net/internal/real_resolve.h"

#include <cerrno>
#include <cstring>
#include <memory>
#include <netdb.h>
#include <optional>
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

// A look-up cannot be interrupted, only abandoned: then nobody reads its result.
struct LookUp {
  std::optional<Result<std::vector<Endpoint>>> result;
  bool finished = false;  // set on the loop; the result is the other thread's until then
  WaitList done;
};

}  // namespace

Task<Result<std::vector<Endpoint>>> resolve(Env env, std::string host, std::uint16_t port) {
  if (Result<Endpoint> literal = parse_endpoint(host, port)) {
    co_return std::vector<Endpoint>{*literal};
  }
  auto state = std::make_shared<LookUp>();
  env.blocking.submit(
      [state, host = std::move(host), port] { state->result.emplace(look_up(host, port)); },
      [state] {
        state->finished = true;
        state->done.notify_all();
      });
  while (!state->finished) {
    CO_TRY(co_await state->done.wait());
  }
  co_return *std::move(state->result);
}

}  // namespace codeflare::net::internal
