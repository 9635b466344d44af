#include "apiserver/rest/internal/step_guard.h"

#include <utility>

namespace codeflare::apiserver::internal {

StepGuard::StepGuard(Env env, Logger logger, Duration limit)
    : loop_(env.loop), logger_(std::move(logger)), on_(limit > Duration::zero()) {
  if (on_) {
    loop_.watch_steps(limit, [this](const LoopStep& step) { report(step); });
  }
}

StepGuard::~StepGuard() {
  if (on_) {
    loop_.watch_steps({}, nullptr);
  }
}

void StepGuard::enter(const Request& request) {
  if (!on_) {
    return;
  }
  constexpr std::size_t kTargetMax = 256;
  entered_ = loop_.now();
  name_.assign(request.method).append(" ").append(request.target.substr(0, kTargetMax));
  if (!request.type.empty()) {
    name_.append(" ").append(request.type.substr(0, kTargetMax));
  }
  bytes_ = request.bytes;
}

void StepGuard::report(const LoopStep& step) const {
  // A request that entered before this step has nothing to do with it.
  const bool of_request = entered_ >= step.began;
  logger_.warn("slow step", {{"request", of_request ? std::string_view(name_) : "none"},
                             {"body_bytes", of_request ? bytes_ : 0},
                             {"took", step.took},
                             {"cpu", step.cpu}});
}

}  // namespace codeflare::apiserver::internal
