#pragma once

#include <boost/asio/signal_set.hpp>

#include <functional>
#include <initializer_list>

namespace codeflare::internal {

// Calls `work` on the loop for each arrival of one of the signals, until destroyed.
class SignalWatch {
 public:
  SignalWatch(boost::asio::io_context& context, std::initializer_list<int> signals,
              std::function<void(int)> work);

 private:
  void wait();

  boost::asio::signal_set signals_;
  std::function<void(int)> work_;
};

}  // namespace codeflare::internal
