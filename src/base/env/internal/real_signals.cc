#include "base/env/internal/real_signals.h"

#include <utility>

namespace codeflare::internal {

SignalWatch::SignalWatch(boost::asio::io_context& context, std::initializer_list<int> signals,
                         std::function<void(int)> work)
    : signals_(context), work_(std::move(work)) {
  for (int signal : signals) {
    signals_.add(signal);
  }
  wait();
}

void SignalWatch::wait() {
  signals_.async_wait([this](const boost::system::error_code& error, int signal) {
    // An error comes only with the end of the watch, when there is no `this` any more.
    if (error) {
      return;
    }
    wait();
    work_(signal);
  });
}

}  // namespace codeflare::internal
