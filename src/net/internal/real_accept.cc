#include "net/internal/real_accept.h"

#include "base/async/sleep.h"
#include "base/async/task_group.h"

#include <chrono>
#include <utility>

namespace codeflare::net::internal {

namespace {

constexpr Duration kWithoutDescriptors = std::chrono::milliseconds(100);

}  // namespace

Task<void> accept_all(Loop& loop, Socket& listener, std::size_t connections_max,
                      std::function<Task<void>(Socket client)> serve) {
  const TaskContext& context = co_await current_context();
  TaskGroup connections(loop, context.stop);
  while (co_await listener.readable()) {
    Result<Socket> client = accept_from(loop, listener);
    for (; client && client->open(); client = accept_from(loop, listener)) {
      if (connections.size() < connections_max) {
        connections.spawn(serve(*std::move(client)));
      } else {
        client->reset_on_close();
      }
    }
    // Without descriptors the listener stays readable: others have to end first.
    if (!client && !co_await sleep_for(kWithoutDescriptors)) {
      break;
    }
  }
  co_await connections.close();
}

}  // namespace codeflare::net::internal
