#pragma once

#include "base/posix.h"
#include "base/result.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <sys/epoll.h>
#include <unordered_map>

namespace codeflare::node::internal {

// Calls back when descriptors are ready. One thread. A handler may add and remove any descriptor,
// its own too.
class Poller {
 public:
  using Id = std::uint64_t;
  using Handler = std::function<void(std::uint32_t events)>;

  static Result<Poller> open();

  // Until removed; the descriptor has to stay open that long.
  Result<Id> add(int descriptor, std::uint32_t events, Handler handler);
  void change(Id id, std::uint32_t events);
  void remove(Id id);

  // Waits for something to be ready and calls the handlers.
  Result<void> turn();

 private:
  explicit Poller(FileDescriptor epoll) : epoll_(std::move(epoll)) {}
  struct Entry {
    int descriptor;
    std::uint32_t events;
    std::shared_ptr<Handler> handler;  // lives while it runs, whatever it removes
  };

  FileDescriptor epoll_;
  Id next_ = 1;
  std::unordered_map<Id, Entry> entries_;  // never iterated
};

}  // namespace codeflare::node::internal
