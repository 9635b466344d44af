#include "net/upgrade.h"

#include "base/async/task_group.h"
#include "net/memory_pair.h"

namespace codeflare::net {

namespace {

Task<void> serve_far_end(const Takeover& takeover, MemoryPair& pair) {
  co_await takeover(pair.far());
  pair.close_far();
}

Task<void> converse_in_process(const Takeover& takeover, const Takeover& talk) {
  const TaskContext& context = co_await current_context();
  MemoryPair pair;
  TaskGroup group(*context.loop, context.stop);
  group.spawn(serve_far_end(takeover, pair));
  co_await talk(pair.near());
  pair.close_near();
  co_await group.close();
}

}  // namespace

Task<Result<void>> converse(Response response, Takeover talk) {
  if (response.status == 101) {
    if (auto* remote = dynamic_cast<UpgradedBody*>(response.body.get())) {
      co_await talk(remote->connection());
      co_return Result<void>();
    }
    if (const auto* local = dynamic_cast<const Upgrade*>(response.body.get())) {
      co_await converse_in_process(local->takeover(), talk);
      co_return Result<void>();
    }
  }
  co_return fail(failed_precondition("the answer with status " + std::to_string(response.status) +
                                     " is not an upgraded connection"));
}

}  // namespace codeflare::net
