#pragma once

#include "base/env/env.h"

#include <functional>
#include <initializer_list>
#include <memory>

namespace boost::asio {
class io_context;
}

namespace codeflare {

// The world as it is: one loop on the calling thread, the system's clocks, files and processes.
// Build one in main, pass env() down, run the loop with run(env.loop, task). A write to a closed
// pipe becomes an error: the process ignores SIGPIPE from here on.
class RealEnv {
 public:
  struct Options {
    // Threads for run_blocking; started when first needed.
    int blocking_threads = 4;
  };
  RealEnv();
  explicit RealEnv(Options options);
  ~RealEnv();
  RealEnv(const RealEnv&) = delete;
  RealEnv& operator=(const RealEnv&) = delete;

  Env env();
  // More threads for blocking work, apart from those of env(): for what must not wait for work that
  // may take long. Owned by this.
  Blocking& more_threads(int threads);

  // Runs `work` on the loop when one of the signals arrives (SIGINT, SIGTERM...), each time.
  void on_signals(std::initializer_list<int> signals, std::function<void(int)> work);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

// The Asio context under a real loop, for the socket code in net/internal alone. CHECKs that the
// loop is a real one.
boost::asio::io_context& io_context_of(Loop& loop);

}  // namespace codeflare
