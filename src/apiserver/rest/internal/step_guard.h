#pragma once

#include "base/async/loop.h"
#include "base/env/env.h"
#include "base/log.h"
#include "base/time.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace codeflare::apiserver::internal {

// A debugging aid: logs each step of the loop that takes longer than a limit, with the request that
// it worked for. The loop knows how long a step took, the pipeline knows the request.
class StepGuard {
 public:
  // A limit of zero turns it off; then it costs nothing.
  StepGuard(Env env, Logger logger, Duration limit);
  ~StepGuard();
  StepGuard(const StepGuard&) = delete;
  StepGuard& operator=(const StepGuard&) = delete;

  struct Request {
    std::string_view method;
    std::string_view target;
    std::string_view type;  // of the body
    std::size_t bytes = 0;  // of the body, as far as they are known
  };
  // The step that runs now works for this request. Called where a request continues after a wait.
  void enter(const Request& request);

 private:
  void report(const LoopStep& step) const;

  Loop& loop_;
  Logger logger_;
  const bool on_;
  Instant entered_{};
  std::string name_;
  std::size_t bytes_ = 0;
};

}  // namespace codeflare::apiserver::internal
