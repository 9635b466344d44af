#include "base/async/wait_list.h"

#include <utility>

namespace codeflare {

namespace internal {

void Waiter::suspend(std::coroutine_handle<> handle, const TaskContext& context, Work leave) {
  suspend_uncancellable(handle, context);
  leave_ = std::move(leave);
  CHECK(attach(context.stop), "waits although asked to stop");
}

void Waiter::suspend_uncancellable(std::coroutine_handle<> handle, const TaskContext& context) {
  handle_ = handle;
  loop_ = context.loop;
}

void Waiter::wake() {
  detach();
  loop_->post(handle_);
}

void Waiter::on_stop() {
  stopped_ = true;
  leave_();
  loop_->post(handle_);
}

}  // namespace internal

void WaitList::link(Node& node) {
  node.previous = last_;
  (last_ != nullptr ? last_->next : first_) = &node;
  last_ = &node;
}

void WaitList::unlink(Node& node) {
  (node.previous != nullptr ? node.previous->next : first_) = node.next;
  (node.next != nullptr ? node.next->previous : last_) = node.previous;
  node.previous = node.next = nullptr;
}

void WaitList::notify_one() {
  if (Node* node = first_) {
    unlink(*node);
    node->waiter.wake();
  }
}

void WaitList::notify_all() {
  // Only those waiting now: whoever waits again after waking is not woken twice.
  while (first_ != nullptr) {
    notify_one();
  }
}

}  // namespace codeflare
