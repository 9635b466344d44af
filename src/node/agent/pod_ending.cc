#include "node/agent/pod_ending.h"

#include "base/async/sleep.h"
#include "base/async/when.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <utility>

namespace codeflare::node {

namespace {

constexpr Duration kLook = std::chrono::milliseconds(20);

using Names = std::vector<std::string>;

bool runs(const PodRuntime& pods, const std::string& uid, const std::string& container) {
  const SandboxView* view = pods.find(uid);
  const RunRecord* last = view == nullptr || !view->alive ? nullptr : view->state.last(container);
  return last != nullptr && !last->exited();
}

// The running containers, in groups that end one after the other.
std::deque<Names> turns_of(const PodRuntime& pods, const PodEnding& ending) {
  std::deque<Names> turns(1);
  const SandboxView* view = pods.find(ending.uid);
  for (const RunRecord& run : view == nullptr ? std::vector<RunRecord>() : view->state.runs) {
    if (view->alive && !run.exited() &&
        std::ranges::find(ending.sidecars, run.name) == ending.sidecars.end()) {
      turns.front().push_back(run.name);
    }
  }
  for (const std::string& sidecar : ending.sidecars) {
    if (runs(pods, ending.uid, sidecar)) {
      turns.insert(turns.begin() + 1, Names{sidecar});
    }
  }
  return turns;
}

class Ender {
 public:
  Ender(Env env, PodRuntime& pods, PodEnding ending)
      : env_(env),
        pods_(pods),
        ending_(std::move(ending)),
        until_(after(env.clock.now(), ending_.grace)) {}

  Task<Result<void>> end() {
    for (std::deque<Names> turns = turns_of(pods_, ending_); !turns.empty();) {
      Names turn = std::move(turns.front());
      turns.pop_front();
      if (is_time_up()) {
        for (Names& rest : std::exchange(turns, {})) {
          std::ranges::move(rest, std::back_inserter(turn));
        }
        until_ = after(env_.clock.now(), std::min(kLastGrace, ending_.grace));
      }
      CO_TRY(co_await end_turn(std::move(turn)));
    }
    co_return co_await pods_.close(ending_.uid);
  }

 private:
  bool is_time_up() const {
    return (ending_.grace_skipped && ending_.grace_skipped()) || env_.clock.now() >= until_;
  }

  Task<Result<void>> end_turn(Names turn) {
    for (const std::string& name : turn) {
      if (ending_.begin_hook && ending_.begin_hook(name, until_ - env_.clock.now())) {
        static_cast<void>(co_await pods_.cut_off(ending_.uid, name, PodRuntime::Ask::later));
      }
    }
    while (ending_.hooks_pending && ending_.hooks_pending() && !is_time_up()) {
      CO_TRY(co_await sleep_for(kLook));
    }
    // A container that cannot be reached is ended with the rest when the time is up.
    for (const std::string& name : turn) {
      static_cast<void>(co_await pods_.cut_off(ending_.uid, name, PodRuntime::Ask::now));
    }
    const auto one_runs = [&](const std::string& name) { return runs(pods_, ending_.uid, name); };
    while (std::ranges::any_of(turn, one_runs) && !is_time_up()) {
      CO_TRY(co_await sleep_for(kLook));
    }
    co_return Result<void>();
  }

  Env env_;
  PodRuntime& pods_;
  PodEnding ending_;
  Instant until_;
};

}  // namespace

Task<Result<void>> end_with_node(Env env, PodRuntime& pods, PodEnding ending) {
  Ender ender(env, pods, std::move(ending));
  co_return co_await ender.end();
}

Task<Result<std::size_t>> end_left_pods(Env env, PodRuntime& pods) {
  CO_TRY_ASSIGN(const std::vector<PodRuntime::Found> found, co_await pods.adopt());
  std::vector<Task<Result<void>>> ends;
  Names names;
  for (const PodRuntime::Found& one : found) {
    if (one.alive) {
      PodEnding ending{
          .uid = one.spec.uid,
          .grace = std::chrono::seconds(one.spec.grace_seconds.value_or(kUsualGraceSeconds)),
          .sidecars = one.spec.sidecars};
      ends.push_back(end_with_node(env, pods, std::move(ending)));
      names.push_back(one.spec.ns + "/" + one.spec.name);
    }
  }
  Names stayed = pods.left_alone();
  const std::vector<Result<void>> ended = co_await when_all(std::move(ends));
  for (std::size_t i = 0; i < ended.size(); ++i) {
    if (!ended[i] && ended[i].error().code == ErrorCode::cancelled) {
      co_return fail(ended[i].error());
    }
    if (!ended[i]) {
      stayed.push_back(names[i] + " (" + ended[i].error().message + ")");
    }
  }
  if (!stayed.empty()) {
    std::string text;
    for (const std::string& name : stayed) {
      text += (text.empty() ? "" : ", ") + name;
    }
    co_return fail(unavailable("pods did not end: " + text));
  }
  co_return names.size();
}

}  // namespace codeflare::node
