#pragma once

#include "base/async/loop.h"
#include "base/async/wait_list.h"
#include "base/result.h"
#include "net/http.h"
#include "net/internal/body_batch.h"
#include "net/internal/real_stream.h"

#include <coroutine>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace codeflare::net::internal {

// Sends what many connections get to say at the same moment, such as an event to all its watchers.
// The cost of that is mostly memory that is not in the processor's caches. So nobody is woken for
// it: each body is asked, encrypted into one buffer that all share, and sent, a few connections at
// a time. A connection's coroutine is woken only when it has something to do itself.
class FanOut {
 public:
  class Member;

  explicit FanOut(Loop& loop) : loop_(loop) {}
  FanOut(const FanOut&) = delete;
  FanOut& operator=(const FanOut&) = delete;
  ~FanOut();

 private:
  struct Packet {
    Member* member;
    std::size_t begin;
    std::size_t size;
  };
  // Place in the queue.
  std::size_t add(Member& member);
  void schedule();
  void run();
  void fetch_ahead(std::size_t place) const;
  void prepare(Member& member);
  void send(const Packet& packet);

  Loop& loop_;
  std::optional<TimerId> timer_;
  std::vector<Member*> queue_;  // null: has gone
  std::size_t done_ = 0;        // of the queue
  // Of the group that is being sent; kept for the next one.
  std::string wire_;
  std::vector<Packet> packets_;
  BodyBatch batch_;
};

// One connection while the rest of its body is written as it comes:
//   FanOut::Member member(fan_out, stream, body, batch);
//   if (member.joined()) { CO_TRY(co_await member.wait()); ... }
// Over TLS and in chunks. Exactly one writes: the fan-out while the coroutine waits, else the
// coroutine.
class FanOut::Member final : private BodyListener {
 public:
  // The coroutine gets the bytes to write in `batch`.
  Member(FanOut& all, Stream& stream, BodyStream& body, BodyBatch& batch);
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;
  ~Member();

  // Whether the body tells when it has more; else it has to be read.
  bool joined() const { return joined_; }

  class Awaiter;
  // Until there is something to write in the batch, or to send that the stream holds. Fails with
  // what the connection met, or `cancelled`. The body must have nothing ready.
  Awaiter wait();

 private:
  friend class FanOut;
  static constexpr std::size_t kFetchSteps = 2 + TlsSession::kFetchSteps;
  void fetch(std::size_t step) const;
  void on_ready() override;
  void wake();

  FanOut& all_;
  Stream& stream_;
  BodyStream& body_;
  BodyBatch& batch_;
  std::optional<std::size_t> place_;  // in the queue
  codeflare::internal::Waiter* waiter_ = nullptr;
  std::optional<Error> failure_;
  bool joined_;
};

class FanOut::Member::Awaiter {
 public:
  explicit Awaiter(Member& member) : member_(member) {}
  bool await_ready() const noexcept { return false; }
  template <typename Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) {
    const TaskContext& context = self.promise().context();
    refused_ = context.stop.stop_requested();
    if (!refused_) {
      member_.waiter_ = &waiter_;
      waiter_.suspend(self, context, [this] { member_.waiter_ = nullptr; });
    }
    return !refused_;
  }
  Result<void> await_resume();

 private:
  Member& member_;
  codeflare::internal::Waiter waiter_;
  bool refused_ = false;
};

}  // namespace codeflare::net::internal
