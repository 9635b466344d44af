#pragma once

#include <functional>
#include <memory>
#include <utility>

namespace codeflare {

class StopToken;
class StopCallback;

namespace internal {

struct StopState;
void request_stop(std::shared_ptr<StopState> state);

// Listener of a stop: an entry in the token's list, so that listening costs no allocation.
class StopHook {
 public:
  StopHook(const StopHook&) = delete;
  StopHook& operator=(const StopHook&) = delete;

 protected:
  StopHook() = default;
  ~StopHook() { detach(); }
  // False when the token has stopped already; on_stop() is not called then.
  bool attach(const StopToken& token);
  void detach();
  // Called once, detached. May destroy this object, other hooks and the source.
  virtual void on_stop() = 0;

 private:
  friend void request_stop(std::shared_ptr<StopState> state);
  std::shared_ptr<StopState> state_;  // while attached
  StopHook* previous_ = nullptr;
  StopHook* next_ = nullptr;
};

}  // namespace internal

// Asks everything that holds its token to stop, once and for good. Not thread-safe: source, tokens
// and callbacks belong to one loop.
class StopSource {
 public:
  StopSource();
  // A source that also stops when `parent` does.
  explicit StopSource(const StopToken& parent);
  ~StopSource();
  StopSource(StopSource&&) noexcept;
  StopSource& operator=(StopSource&&) noexcept;

  StopToken token() const;
  // Runs the callbacks now, in order of registration.
  void request_stop();
  bool stop_requested() const;

 private:
  std::shared_ptr<internal::StopState> state_;
  std::unique_ptr<StopCallback> link_;
};

// The receiving end. A default token never stops.
class StopToken {
 public:
  StopToken() = default;
  bool stop_requested() const;
  bool stop_possible() const { return state_ != nullptr; }

 private:
  friend class StopSource;
  friend class internal::StopHook;
  explicit StopToken(std::shared_ptr<internal::StopState> state) : state_(std::move(state)) {}
  std::shared_ptr<internal::StopState> state_;
};

// Runs `callback` when the token stops (at once if it has already), until destroyed.
class StopCallback final : private internal::StopHook {
 public:
  StopCallback(const StopToken& token, std::move_only_function<void()> callback);

 private:
  void on_stop() override;
  std::move_only_function<void()> callback_;
};

}  // namespace codeflare
