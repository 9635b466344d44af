#pragma once

#include "apiserver/rest/internal/server.h"
#include "base/async/task.h"
#include "base/env/env.h"

#include <cstddef>
#include <type_traits>
#include <utility>

// How a large request lets others have their turns.
namespace codeflare::apiserver::internal {

// To go through so many bytes of an object once takes about a millisecond.
constexpr std::size_t kLargeBytes = 128u << 10;

// Runs `work`, off the loop when it is about many bytes. It may touch only what belongs to the
// request, and what never changes.
template <typename F>
Task<std::invoke_result_t<F>> aside(Call& call, std::size_t bytes, F work) {
  if (bytes < kLargeBytes) {
    co_return work();
  }
  Server& server = call.server;
  if (server.working_aside) {
    // Each piece has an end, and hands over to the one that waits longest: a request with many
    // pieces must not overtake one with a single piece again and again.
    co_await server.aside_ended.wait_uncancellable();
  }
  server.working_aside = true;
  auto result = co_await run_blocking(server.env(), std::move(work));
  server.working_aside = !server.aside_ended.empty();
  server.aside_ended.notify_one();
  call.enter_step();
  co_return result;
}

}  // namespace codeflare::apiserver::internal
