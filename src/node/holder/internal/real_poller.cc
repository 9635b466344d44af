#include "node/holder/internal/real_poller.h"

#include <array>
#include <cerrno>
#include <utility>

namespace codeflare::node::internal {

Result<Poller> Poller::open() {
  FileDescriptor epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll) {
    return fail(posix_error(errno, "make an epoll"));
  }
  return Poller(std::move(epoll));
}

Result<Poller::Id> Poller::add(int descriptor, std::uint32_t events, Handler handler) {
  const Id id = next_++;
  epoll_event event{};
  event.events = events;
  event.data.u64 = id;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event) != 0) {
    return fail(posix_error(errno, "wait for a descriptor"));
  }
  entries_.emplace(id, Entry{descriptor, events, std::make_shared<Handler>(std::move(handler))});
  return id;
}

void Poller::change(Id id, std::uint32_t events) {
  const auto found = entries_.find(id);
  if (found == entries_.end() || found->second.events == events) {
    return;
  }
  found->second.events = events;
  epoll_event event{};
  event.events = events;
  event.data.u64 = id;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, found->second.descriptor, &event);
}

void Poller::remove(Id id) {
  if (const auto found = entries_.find(id); found != entries_.end()) {
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, found->second.descriptor, nullptr);
    entries_.erase(found);
  }
}

Result<void> Poller::turn() {
  std::array<epoll_event, 64> ready{};
  const int count = ::epoll_wait(epoll_.get(), ready.data(), static_cast<int>(ready.size()), -1);
  if (count < 0 && errno != EINTR) {
    return fail(posix_error(errno, "wait"));
  }
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = ready[static_cast<std::size_t>(i)];
    // One that an earlier handler of this turn has removed is not called any more.
    const Id id = event.data.u64;  // copied: the kernel's struct is packed
    const auto found = entries_.find(id);
    if (found != entries_.end()) {
      const std::shared_ptr<Handler> handler = found->second.handler;
      (*handler)(event.events);
    }
  }
  return {};
}

}  // namespace codeflare::node::internal
