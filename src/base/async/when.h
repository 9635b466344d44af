#pragma once

#include "base/async/task.h"
#include "base/async/wait_list.h"

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace codeflare {

// Runs the tasks at the same time and waits for all of them.
template <typename T>
Task<std::vector<T>> when_all(std::vector<Task<T>> tasks) {
  const TaskContext& context = co_await current_context();
  std::vector<std::optional<T>> values(tasks.size());
  std::size_t running = tasks.size();
  WaitList done;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    start(context, std::move(tasks[i]), [&, i](T value) {
      values[i].emplace(std::move(value));
      if (--running == 0) {
        done.notify_all();
      }
    });
  }
  while (running > 0) {
    co_await done.wait_uncancellable();
  }
  std::vector<T> results;
  results.reserve(values.size());
  for (std::optional<T>& value : values) {
    results.push_back(*std::move(value));
  }
  co_return results;
}

inline Task<void> when_all(std::vector<Task<void>> tasks) {
  const TaskContext& context = co_await current_context();
  std::size_t running = tasks.size();
  WaitList done;
  for (Task<void>& task : tasks) {
    start(context, std::move(task), [&] {
      if (--running == 0) {
        done.notify_all();
      }
    });
  }
  while (running > 0) {
    co_await done.wait_uncancellable();
  }
}

// Runs the two at the same time and waits for both.
template <typename A, typename B>
Task<std::pair<A, B>> when_both(Task<A> first, Task<B> second) {
  const TaskContext& context = co_await current_context();
  std::optional<A> first_value;
  std::optional<B> second_value;
  WaitList done;
  start(context, std::move(first), [&](A value) {
    first_value.emplace(std::move(value));
    done.notify_all();
  });
  start(context, std::move(second), [&](B value) {
    second_value.emplace(std::move(value));
    done.notify_all();
  });
  while (!first_value || !second_value) {
    co_await done.wait_uncancellable();
  }
  co_return std::pair<A, B>(*std::move(first_value), *std::move(second_value));
}

template <typename T>
struct FirstOf {
  std::size_t index;
  T value;
};

// Runs the tasks at the same time; when the first ends the others are asked to stop, and all have
// ended before this returns; what they return is dropped. Needs at least one task.
template <typename T>
Task<FirstOf<T>> when_any(std::vector<Task<T>> tasks) {
  CHECK(!tasks.empty());
  const TaskContext& outer = co_await current_context();
  StopSource source(outer.stop);
  TaskContext inner{outer.loop, source.token()};
  std::optional<FirstOf<T>> first;
  std::size_t running = tasks.size();
  WaitList done;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    start(inner, std::move(tasks[i]), [&, i](T value) {
      if (!first) {
        first.emplace(FirstOf<T>{i, std::move(value)});
        source.request_stop();
      }
      if (--running == 0) {
        done.notify_all();
      }
    });
  }
  while (running > 0) {
    co_await done.wait_uncancellable();
  }
  co_return *std::move(first);
}

}  // namespace codeflare
