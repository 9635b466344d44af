#include "base/async/stop_token.h"

namespace codeflare {

namespace internal {

// The callbacks form an intrusive list: registering and leaving cost no allocation.
struct StopState {
  bool requested = false;
  StopCallback* first = nullptr;
  StopCallback* last = nullptr;
};

// A callback may destroy the source, itself or other callbacks: the state is held by value, and
// one callback at a time is taken from the front.
void request_stop(std::shared_ptr<StopState> state) {
  if (state->requested) {
    return;
  }
  state->requested = true;
  while (StopCallback* callback = state->first) {
    state->first = callback->next_;
    (state->first != nullptr ? state->first->previous_ : state->last) = nullptr;
    callback->linked_ = false;
    auto run = std::move(callback->callback_);
    run();
  }
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
    : state_(token.state_), callback_(std::move(callback)) {
  if (state_ == nullptr) {
    return;
  }
  if (state_->requested) {
    auto run = std::move(callback_);
    run();
    return;
  }
  linked_ = true;
  previous_ = state_->last;
  if (previous_ != nullptr) {
    previous_->next_ = this;
  } else {
    state_->first = this;
  }
  state_->last = this;
}

StopCallback::~StopCallback() {
  if (!linked_) {
    return;
  }
  (previous_ != nullptr ? previous_->next_ : state_->first) = next_;
  (next_ != nullptr ? next_->previous_ : state_->last) = previous_;
}

}  // namespace codeflare
