#pragma once

#include "base/posix.h"
#include "node/holder/internal/real_poller.h"

#include <cstddef>
#include <functional>
#include <string>

namespace codeflare::node::internal {

// Copies bytes between two connected sockets in both directions until both have ended or one
// breaks. A few bytes that one side does not take yet are held; meanwhile the other is not read.
class Relay {
 public:
  // `done` is called once, from a handler; it may destroy this. `moved` is called whenever bytes
  // arrive.
  Relay(Poller& poller, FileDescriptor left, FileDescriptor right, std::function<void()> done,
        std::function<void()> moved = {});
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

 private:
  struct Side {
    FileDescriptor socket;
    Poller::Id id = 0;
    std::string unsent{};       // for this side
    bool ended = false;         // nothing more comes from it
    bool told_the_end = false;  // it knows that nothing more comes
  };
  void ready(Side& side, Side& other, std::uint32_t events);
  static bool receive(Side& from, Side& to);
  static bool send(Side& to, const Side& from);
  void wait(Side& side, Side& other);
  void finish();

  Poller& poller_;
  Side left_;
  Side right_;
  std::function<void()> done_;
  std::function<void()> moved_;
};

}  // namespace codeflare::node::internal
