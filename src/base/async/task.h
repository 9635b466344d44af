#pragma once

#include "base/async/loop.h"
#include "base/async/stop_token.h"
#include "base/check.h"

#include <coroutine>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

namespace codeflare {

// State that every coroutine of one call tree shares: its loop and its stop token. A task takes
// over the context of the awaiting task, so cancellation reaches every wait without being passed.
struct TaskContext {
  Loop* loop = nullptr;
  StopToken stop;
};

template <typename T = void>
class Task;

namespace internal {

class PromiseBase {
 public:
  std::suspend_always initial_suspend() noexcept { return {}; }

  struct FinalAwaiter {
    bool await_ready() noexcept { return false; }
    template <typename Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> self) noexcept {
      return self.promise().continuation_;
    }
    void await_resume() noexcept {}
  };
  FinalAwaiter final_suspend() noexcept { return {}; }

  // Errors travel in Results; an exception that gets here escaped its adapter.
  void unhandled_exception() { CHECK(false, "exception left a coroutine"); }

  const TaskContext& context() const { return *context_; }
  void start_under(const TaskContext& context, std::coroutine_handle<> continuation) {
    context_ = &context;
    continuation_ = continuation;
  }

 private:
  const TaskContext* context_ = nullptr;
  std::coroutine_handle<> continuation_ = std::noop_coroutine();
};

template <typename T>
class Promise : public PromiseBase {
 public:
  Task<T> get_return_object();
  // The default lets `co_return {};` mean a T{}.
  template <typename U = T>
    requires std::is_constructible_v<T, U&&>
  void return_value(U&& value) {
    value_.emplace(std::forward<U>(value));
  }
  T take() { return *std::move(value_); }

 private:
  std::optional<T> value_;
};

template <>
class Promise<void> : public PromiseBase {
 public:
  Task<void> get_return_object();
  void return_void() {}
  void take() {}
};

}  // namespace internal

// A lazy coroutine: nothing runs before it is awaited, and it is awaited once. Cancelled work
// returns normally, with the error code `cancelled` where it returns a Result.
//   Task<Result<int>> answer(Env& env) { CO_TRY(co_await sleep_for(1s)); co_return 42; }
template <typename T>
class [[nodiscard]] Task {
 public:
  using promise_type = internal::Promise<T>;
  using value_type = T;

  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    if (this != &other) {
      destroy();
      handle_ = std::exchange(other.handle_, nullptr);
    }
    return *this;
  }
  ~Task() { destroy(); }

  // Runs the task under `context` instead of the awaiting coroutine's own; the context must
  // outlive the wait.
  auto under(const TaskContext& context) && { return Awaiter{std::move(*this), &context}; }

  auto operator co_await() && { return Awaiter{std::move(*this), nullptr}; }

 private:
  friend promise_type;
  explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}

  struct Awaiter {
    Task task;
    const TaskContext* context;

    bool await_ready() const noexcept { return false; }
    template <typename Parent>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Parent> parent) noexcept {
      CHECK(task.handle_, "a task was awaited after it was moved away");
      task.handle_.promise().start_under(context != nullptr ? *context : parent.promise().context(),
                                         parent);
      return task.handle_;
    }
    T await_resume() { return task.handle_.promise().take(); }
  };

  void destroy() {
    if (handle_) {
      handle_.destroy();
    }
  }

  std::coroutine_handle<promise_type> handle_;
};

namespace internal {

template <typename T>
Task<T> Promise<T>::get_return_object() {
  return Task<T>(std::coroutine_handle<Promise<T>>::from_promise(*this));
}

inline Task<void> Promise<void>::get_return_object() {
  return Task<void>(std::coroutine_handle<Promise<void>>::from_promise(*this));
}

struct CurrentContext {
  const TaskContext* context = nullptr;
  bool await_ready() const noexcept { return false; }
  template <typename Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    context = &self.promise().context();
    return false;
  }
  const TaskContext& await_resume() const noexcept { return *context; }
};

}  // namespace internal

// `const TaskContext& context = co_await current_context();`
inline internal::CurrentContext current_context() {
  return {};
}

// Starts a task that nobody awaits and calls `done` with its value when it ends. The building block
// of TaskGroup and run(); other code uses those. The context must outlive the task.
template <typename T, typename Done>
void start(const TaskContext& context, Task<T> task, Done done);

// Runs the loop until the task is done; for main functions and tests. An empty result (false) means
// that the task waited for something that would never happen; it has been asked to stop since.
template <typename T>
std::optional<T> run(Loop& loop, Task<T> task, StopToken stop = {});
bool run(Loop& loop, Task<void> task, StopToken stop = {});

namespace internal {

// The coroutine type behind start(): it owns itself and ends by itself.
struct Root {
  struct promise_type {
    template <typename... Rest>
    explicit promise_type(const TaskContext& context, Rest&...) : context_(&context) {}
    Root get_return_object() noexcept { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { CHECK(false, "exception left a coroutine"); }
    const TaskContext& context() const { return *context_; }
    const TaskContext* context_;
  };
};

struct PostToLoop {
  bool await_ready() const noexcept { return false; }
  template <typename Promise>
  void await_suspend(std::coroutine_handle<Promise> self) noexcept {
    self.promise().context().loop->post(std::coroutine_handle<>(self));
  }
  void await_resume() const noexcept {}
};

// `task` and `done` live in the coroutine's frame; the task's own frame is gone before done runs,
// so that done may tear down what the task used.
template <typename T, typename Done>
Root start_root(const TaskContext& /*context*/, Task<T> task, Done done) {
  co_await PostToLoop{};
  if constexpr (std::is_void_v<T>) {
    {
      Task<T> running = std::move(task);
      co_await std::move(running);
    }
    done();
  } else {
    std::optional<T> value;
    {
      Task<T> running = std::move(task);
      value.emplace(co_await std::move(running));
    }
    done(*std::move(value));
  }
}

}  // namespace internal

template <typename T, typename Done>
void start(const TaskContext& context, Task<T> task, Done done) {
  internal::start_root(context, std::move(task), std::move(done));
}

// Gives other work a turn; long loops call it every so often.
inline internal::PostToLoop yield() {
  return {};
}

namespace internal {

// Shared with the task's root: should even a stop not end the task, what it refers to stays.
template <typename Value>
struct RunState {
  RunState(Loop& loop, const StopToken& stop) : source(stop), context{&loop, source.token()} {}

  // False on a deadlock. The task is then made to end, so that nothing is left half-way.
  bool finish() {
    if (context.loop->run_until(done)) {
      return true;
    }
    source.request_stop();
    context.loop->run_until(done);
    return false;
  }

  StopSource source;
  TaskContext context;
  bool done = false;
  Value value{};
};

}  // namespace internal

template <typename T>
std::optional<T> run(Loop& loop, Task<T> task, StopToken stop) {
  auto state = std::make_shared<internal::RunState<std::optional<T>>>(loop, stop);
  start(state->context, std::move(task), [state](T value) {
    state->value.emplace(std::move(value));
    state->done = true;
  });
  return state->finish() ? std::move(state->value) : std::nullopt;
}

inline bool run(Loop& loop, Task<void> task, StopToken stop) {
  auto state = std::make_shared<internal::RunState<std::monostate>>(loop, stop);
  start(state->context, std::move(task), [state] { state->done = true; });
  return state->finish();
}

}  // namespace codeflare
