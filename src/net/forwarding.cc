#include "net/forwarding.h"

#include "base/async/task_group.h"
#include "net/upgrade.h"
#include "net/websocket.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace codeflare::net {

namespace {

// Expect is answered by the server that has the request.
constexpr auto kHopByHop = std::to_array<std::string_view>(
    {"Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization",
     "TE", "Trailer", "Transfer-Encoding", "Upgrade", "Expect"});

// Copies until either side ends, which ends both.
Task<void> pass_on(ByteStream& from, ByteStream& to, TaskGroup& both) {
  for (;;) {
    Result<std::string> bytes = co_await from.read();
    if (!bytes || bytes->empty() || !co_await to.write(*std::move(bytes))) {
      break;
    }
  }
  both.request_stop();
}

Task<void> join_streams(ByteStream& client, ByteStream& server) {
  const TaskContext& context = co_await current_context();
  TaskGroup both(*context.loop, context.stop);
  both.spawn(pass_on(client, server, both));
  both.spawn(pass_on(server, client, both));
  co_await both.join();
}

Task<void> serve_upgrade(std::shared_ptr<Response> answer, ByteStream& client) {
  Takeover talk = [&client](ByteStream& server) { return join_streams(client, server); };
  static_cast<void>(co_await converse(std::move(*answer), std::move(talk)));
}

}  // namespace

bool asks_for_upgrade(const Headers& headers) {
  return headers.has("Upgrade") &&
         std::ranges::any_of(header_words(headers, "Connection"), [](const std::string& word) {
           return equal_ignoring_case(word, "upgrade");
         });
}

void remove_hop_by_hop(Headers& headers, bool upgrade) {
  const std::string protocol(headers.get("Upgrade").value_or(""));
  for (const std::string& name : header_words(headers, "Connection")) {
    headers.remove(name);
  }
  for (const std::string_view name : kHopByHop) {
    headers.remove(name);
  }
  if (upgrade) {
    headers.set("Upgrade", protocol);
  }
}

Response forward_upgrade(Response answer) {
  Response response{.status = answer.status, .headers = answer.headers};
  auto held = std::make_shared<Response>(std::move(answer));
  response.body =
      std::make_unique<Upgrade>([held](ByteStream& client) { return serve_upgrade(held, client); });
  return response;
}

std::optional<std::size_t> announced_size(const Headers& headers) {
  const std::string_view text = headers.get("Content-Length").value_or("");
  std::size_t size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  return !text.empty() && error == std::errc() && end == text.data() + text.size()
             ? std::optional(size)
             : std::nullopt;
}

}  // namespace codeflare::net
