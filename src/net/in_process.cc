#include "net/in_process.h"

#include <utility>

namespace codeflare::net {

InProcessService::InProcessService(HttpService& target, Peer identity)
    : target_(target), identity_(std::make_shared<const Peer>(std::move(identity))) {}

Task<Result<Response>> InProcessService::send(Request request) {
  request.peer = identity_;
  bool head_only = request.method == "HEAD";
  const TaskContext& context = co_await current_context();
  co_await yield();
  if (context.stop.stop_requested()) {
    co_return fail(cancelled());
  }
  CO_TRY_ASSIGN(Response response, co_await target_.send(std::move(request)));
  if (head_only) {
    response.body = nullptr;
  }
  co_return response;
}

}  // namespace codeflare::net
