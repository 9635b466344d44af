#pragma once

#include "base/async/loop.h"
#include "base/async/task.h"
#include "base/async/wait_list.h"
#include "base/clock.h"
#include "base/env/file_system.h"
#include "base/env/launcher.h"
#include "base/env/random.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace codeflare {

// Environment variables of the process, read-only.
class Variables {
 public:
  virtual ~Variables() = default;
  virtual std::optional<std::string> get(const std::string& name) const = 0;
};

// Runs blocking work (files, SQLite, name look-up) off the loop. In simulation it runs inline after
// a virtual delay.
class Blocking {
 public:
  virtual ~Blocking() = default;
  // `done` runs on the loop after `work` has ended.
  virtual void submit(Work work, Work done) = 0;
};

// All that a component needs of the world outside, passed down by whoever wires the program.
// RealEnv and SimEnv own the parts.
struct Env {
  Loop& loop;
  Clock& clock;
  Random& random;
  FileSystem& files;
  Launcher& launcher;
  Variables& variables;
  Blocking& blocking;
};

// Awaits `work()` run off the loop. It is not interrupted by a stop: the effect is always known.
//   Result<std::string> text = co_await run_blocking(env, [&] { return env.files.read(path); });
template <typename F>
Task<std::invoke_result_t<F>> run_blocking(Env env, F work) {
  using T = std::invoke_result_t<F>;
  bool finished = false;
  WaitList done;
  if constexpr (std::is_void_v<T>) {
    env.blocking.submit([&] { work(); },
                        [&] {
                          finished = true;
                          done.notify_all();
                        });
    while (!finished) {
      co_await done.wait_uncancellable();
    }
  } else {
    std::optional<T> value;
    env.blocking.submit([&] { value.emplace(work()); },
                        [&] {
                          finished = true;
                          done.notify_all();
                        });
    while (!finished) {
      co_await done.wait_uncancellable();
    }
    co_return *std::move(value);
  }
}

}  // namespace codeflare
