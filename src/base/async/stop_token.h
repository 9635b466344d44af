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
  friend class StopCallback;
  explicit StopToken(std::shared_ptr<internal::StopState> state) : state_(std::move(state)) {}
  std::shared_ptr<internal::StopState> state_;
};

// Runs `callback` when the token stops (at once if it has already), until destroyed.
class StopCallback {
 public:
  StopCallback(const StopToken& token, std::move_only_function<void()> callback);
  ~StopCallback();
  StopCallback(const StopCallback&) = delete;
  StopCallback& operator=(const StopCallback&) = delete;

 private:
  friend void internal::request_stop(std::shared_ptr<internal::StopState> state);
  std::shared_ptr<internal::StopState> state_;
  std::move_only_function<void()> callback_;
  StopCallback* previous_ = nullptr;
  StopCallback* next_ = nullptr;
  bool linked_ = false;
};

}  // namespace codeflare
