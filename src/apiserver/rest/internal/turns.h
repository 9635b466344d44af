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
  auto result = co_await run_blocking(call.server.env(), std::move(work));
  call.enter_step();
  co_return result;
}

// `co_await next_turn(call, bytes)` between two parts of the work about many bytes. The state of
// the server may be another one afterwards.
struct NextTurn : codeflare::internal::PostToLoop {
  const Call& call;
  bool large;
  bool await_ready() const noexcept { return !large; }
  void await_resume() const {
    if (large) {
      call.enter_step();
    }
  }
};
inline NextTurn next_turn(const Call& call, std::size_t bytes) {
  return {{}, call, bytes >= kLargeBytes};
}

}  // namespace codeflare::apiserver::internal
