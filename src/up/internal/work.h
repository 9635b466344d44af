#pragma once

#include "base/async/task.h"
#include "base/async/wait_list.h"
#include "base/result.h"
#include "runtime/manager.h"

#include <optional>

namespace codeflare::up {

// Runs the controllers and tells how that ended.
struct Work {
  std::optional<Result<void>> end;
  WaitList changed;
};

inline Task<void> run_manager(runtime::Manager& manager, Work& work) {
  work.end = co_await manager.run();
  work.changed.notify_all();
}

}  // namespace codeflare::up
