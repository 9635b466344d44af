#include "base/async/stop_token.h"

namespace codeflare {

namespace internal {

struct StopState {
  bool requested = false;
  StopHook* first = nullptr;
  StopHook* last = nullptr;
};

// A hook may destroy the source, itself or other hooks: the state is held by value, and one hook
// at a time is taken from the front.
void request_stop(std::shared_ptr<StopState> state) {
  if (state->requested) {
    return;
  }
  state->requested = true;
  while (StopHook* hook = state->first) {
    hook->detach();
    hook->on_stop();
  }
}

bool StopHook::attach(const StopToken& token) {
  if (token.state_ == nullptr) {
    return true;
  }
  if (token.state_->requested) {
    return false;
  }
  state_ = token.state_;
  previous_ = state_->last;
  (previous_ != nullptr ? previous_->next_ : state_->first) = this;
  state_->last = this;
  return true;
}

void StopHook::detach() {
  if (state_ == nullptr) {
    return;
  }
  (previous_ != nullptr ? previous_->next_ : state_->first) = next_;
  (next_ != nullptr ? next_->previous_ : state_->last) = previous_;
  previous_ = next_ = nullptr;
  state_.reset();
}

}  // namespace internal

StopSource::StopSource() : state_(std::make_shared<internal::StopState>()) {}

StopSource::StopSource(const StopToken& parent) : StopSource() {
  if (parent.stop_possible()) {
    link_ =
        std::make_unique<StopCallback>(parent, [state = state_] { internal::request_stop(state); });
  }
}

StopSource::~StopSource() = default;
StopSource::StopSource(StopSource&&) noexcept = default;
StopSource& StopSource::operator=(StopSource&&) noexcept = default;

StopToken StopSource::token() const {
  return StopToken(state_);
}

bool StopSource::stop_requested() const {
  return state_->requested;
}

void StopSource::request_stop() {
  internal::request_stop(state_);
}

bool StopToken::stop_requested() const {
  return state_ != nullptr && state_->requested;
}

StopCallback::StopCallback(const StopToken& token, std::move_only_function<void()> callback)
    : callback_(std::move(callback)) {
  if (!attach(token)) {
    on_stop();
  }
}

void StopCallback::on_stop() {
  // Moved out first: the callback may destroy this object.
  auto run = std::move(callback_);
  run();
}

}  // namespace codeflare
