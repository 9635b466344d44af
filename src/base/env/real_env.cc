#include "base/env/real_env.h"

#include "base/env/internal/real_blocking.h"
#include "base/env/internal/real_file_system.h"
#include "base/env/internal/real_launcher.h"
#include "base/env/internal/real_loop.h"
#include "base/env/internal/real_signals.h"
#include "base/env/internal/real_system.h"

#include <utility>
#include <vector>

namespace codeflare {

// Destroyed from the end: first what uses the loop, then the loop.
struct RealEnv::Parts {
  explicit Parts(Options options)
      : loop(clock),
        launcher(loop),
        blocking(loop, static_cast<std::size_t>(options.blocking_threads)) {}

  internal::RealClock clock;
  internal::RealLoop loop;
  internal::RealRandom random;
  internal::RealFileSystem files;
  internal::RealLauncher launcher;
  internal::RealVariables variables;
  std::vector<std::unique_ptr<internal::SignalWatch>> signals;
  internal::RealBlocking blocking;
  std::vector<std::unique_ptr<internal::RealBlocking>> more;
};

RealEnv::RealEnv() : RealEnv(Options{}) {}

RealEnv::RealEnv(Options options) : parts_(std::make_unique<Parts>(options)) {
  internal::prepare_signal_dispositions();
}

RealEnv::~RealEnv() = default;

Env RealEnv::env() {
  return {parts_->loop,     parts_->clock,     parts_->random,  parts_->files,
          parts_->launcher, parts_->variables, parts_->blocking};
}

Blocking& RealEnv::more_threads(int threads) {
  parts_->more.push_back(
      std::make_unique<internal::RealBlocking>(parts_->loop, static_cast<std::size_t>(threads)));
  return *parts_->more.back();
}

void RealEnv::on_signals(std::initializer_list<int> signals, std::function<void(int)> work) {
  parts_->signals.push_back(
      std::make_unique<internal::SignalWatch>(parts_->loop.context(), signals, std::move(work)));
}

}  // namespace codeflare
