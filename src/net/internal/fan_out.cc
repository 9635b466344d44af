#include "net/internal/fan_out.h"

#include "net/internal/prefetch.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace codeflare::net::internal {

namespace {

// Connections at a time: what was touched to encrypt is still at hand for sending, and others get
// their turn between two groups.
constexpr std::size_t kGroup = 32;
// More than this is written by the coroutine, in records that share the body's bytes until they are
// sent: what a slow reader makes us hold of our own is bounded.
constexpr std::size_t kSmallBytes = 8u << 10;
constexpr std::size_t kKeptBytes = 64u << 10;

// Of a body, where it is hoped to have what it needs first.
constexpr std::size_t kBodyBytes = 384;

}  // namespace

FanOut::~FanOut() {
  if (timer_) {
    loop_.cancel_timer(*timer_);
  }
}

std::size_t FanOut::add(Member& member) {
  queue_.push_back(&member);
  schedule();
  return queue_.size() - 1;
}

void FanOut::schedule() {
  if (!timer_) {
    timer_ = loop_.start_timer(loop_.now(), [this] { run(); });
  }
}

void FanOut::run() {
  timer_.reset();
  const std::size_t end = std::min(queue_.size(), done_ + kGroup);
  for (; done_ < end; ++done_) {
    fetch_ahead(done_);
    if (Member* member = queue_[done_]) {
      member->place_.reset();
      prepare(*member);
    }
  }
  for (const Packet& packet : packets_) {
    send(packet);
  }
  packets_.clear();
  wire_.clear();
  if (wire_.capacity() > kKeptBytes) {
    wire_ = std::string();
  }
  if (done_ < queue_.size()) {
    schedule();
  } else {
    queue_.clear();
    done_ = 0;
  }
}

// The data of a member lies behind pointers behind pointers, and hardly ever in the caches. While
// one is served, those that follow are fetched, each a step further than the one behind it.
void FanOut::fetch_ahead(std::size_t place) const {
  for (std::size_t step = 0; step < Member::kFetchSteps; ++step) {
    const std::size_t ahead = place + Member::kFetchSteps - step;
    if (ahead < queue_.size() && queue_[ahead] != nullptr) {
      queue_[ahead]->fetch(step);
    }
  }
}

void FanOut::prepare(Member& member) {
  if (member.waiter_ == nullptr) {
    return;  // its coroutine looks before it waits
  }
  batch_.add_ready(member.body_);
  if (batch_.empty()) {
    return;
  }
  if (!batch_.ended() && batch_.bytes() <= kSmallBytes) {
    BodyBatch::List list;
    const std::size_t begin = wire_.size();
    Result<bool> prepared = member.stream_.prepare(batch_.framed(true, list), wire_);
    if (!prepared) {
      member.failure_ = std::move(prepared).error();
      member.wake();
    } else if (*prepared) {
      packets_.push_back({&member, begin, wire_.size() - begin});
    }
    if (!prepared || *prepared) {
      batch_.clear();
      return;
    }
  }
  member.batch_ = std::exchange(batch_, BodyBatch());
  member.wake();
}

void FanOut::send(const Packet& packet) {
  Member& member = *packet.member;
  Result<bool> sent =
      member.stream_.send(std::string_view(wire_).substr(packet.begin, packet.size));
  if (!sent) {
    member.failure_ = std::move(sent).error();
  }
  if (!sent || !*sent) {
    member.wake();
  }
}

FanOut::Member::Member(FanOut& all, Stream& stream, BodyStream& body, BodyBatch& batch)
    : all_(all), stream_(stream), body_(body), batch_(batch), joined_(body.tell(this)) {}

FanOut::Member::~Member() {
  body_.tell(nullptr);
  if (place_) {
    all_.queue_[*place_] = nullptr;
  }
}

void FanOut::Member::fetch(std::size_t step) const {
  switch (step) {
    case 0:
      prefetch(this, sizeof *this);
      break;
    case 1:
      prefetch(&body_, kBodyBytes);
      prefetch(&stream_, sizeof stream_);
      break;
    default:
      stream_.tls()->fetch(step - 2);
  }
}

void FanOut::Member::on_ready() {
  if (!place_) {
    place_ = all_.add(*this);
  }
}

void FanOut::Member::wake() {
  std::exchange(waiter_, nullptr)->wake();
}

FanOut::Member::Awaiter FanOut::Member::wait() {
  return Awaiter(*this);
}

Result<void> FanOut::Member::Awaiter::await_resume() {
  if (member_.failure_) {
    return fail(*member_.failure_);
  }
  return refused_ || waiter_.stopped() ? Result<void>(fail(cancelled())) : Result<void>();
}

}  // namespace codeflare::net::internal
