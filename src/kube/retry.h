#pragma once

#include "base/async/sleep.h"
#include "base/async/task.h"
#include "base/env/backoff.h"
#include "base/env/env.h"
#include "base/result.h"

#include <chrono>
#include <utility>

namespace codeflare::kube {

// Read, change, write, again when somebody else wrote in between: calls `attempt`, which returns a
// Task<Result<T>>, up to five times while it fails with `conflict`, about 10 ms apart. The attempt
// must read the object anew each time. `attempt` lives until the task has ended.
//   Result<ObjectRef> written = co_await retry_on_conflict(env, [&] { return touch(client, key);
//   });
template <typename F>
std::invoke_result_t<F&> retry_on_conflict(Env env, F attempt) {
  constexpr int kAttempts = 5;
  constexpr Duration kWait = std::chrono::milliseconds(10);
  for (int i = 1;; ++i) {
    auto result = co_await attempt();
    if (result || result.error().code != ErrorCode::conflict || i == kAttempts) {
      co_return result;
    }
    CO_TRY(co_await sleep_for(kWait + fraction_of(kWait / 10, env.random.fraction())));
  }
}

}  // namespace codeflare::kube
