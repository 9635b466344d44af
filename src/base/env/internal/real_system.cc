#include "base/env/internal/real_system.h"

#include "base/check.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <sys/random.h>

namespace codeflare::internal {

std::uint64_t RealRandom::next() {
  if (used_ == buffer_.size()) {
    // Up to 256 bytes come whole or not at all.
    static_assert(sizeof(buffer_) <= 256);
    ssize_t n = 0;
    do {
      n = ::getrandom(buffer_.data(), sizeof(buffer_), 0);
    } while (n < 0 && errno == EINTR);
    CHECK(n == static_cast<ssize_t>(sizeof(buffer_)), "the kernel gives no random numbers");
    used_ = 0;
  }
  // Numbers become tokens and keys: none is kept after use.
  return std::exchange(buffer_[used_++], 0);
}

std::optional<std::string> RealVariables::get(const std::string& name) const {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

void prepare_signal_dispositions() {
  struct sigaction ignore{};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, nullptr);

  struct sigaction child{};
  if (::sigaction(SIGCHLD, nullptr, &child) == 0 && child.sa_handler == SIG_IGN) {
    child.sa_handler = SIG_DFL;
    ::sigaction(SIGCHLD, &child, nullptr);
  }
}

}  // namespace codeflare::internal
