#include "tests/sim/sim_queue_process.h"

#include "base/async/sleep.h"
#include "tests/sim/fault_mix.h"

#include <chrono>
#include <utility>

namespace codeflare::sim {

using std::chrono::seconds;

struct SimProcess::Life {
  Life(Env env, const Options& options, const net::LinkFaults& faults,
       runtime::ManagerOptions manager_options)
      : link(*options.server, env.random, faults),
        client(env, link, {.user_agent = options.name}),
        manager(env, client, std::move(manager_options)) {
    options.equip(manager);
  }

  net::SimLink link;
  kube::Client client;
  runtime::Manager manager;
  StopSource end;
};

SimProcess::SimProcess(Env env, TaskGroup& group, Options options)
    : env_(env), group_(group), options_(std::move(options)) {}

SimProcess::~SimProcess() = default;

void SimProcess::start() {
  runtime::ManagerOptions manager_options{.name = options_.name, .logger = options_.logger};
  if (options_.election) {
    manager_options.leader =
        runtime::LeaderOptions{.ns = kLease.ns,
                               .name = kLease.name,
                               .identity = options_.name + "-" + std::to_string(lives_.size()),
                               .exclusive = options_.exclusive};
  }
  lives_.push_back(
      std::make_unique<Life>(env_, options_, options_.faults(), std::move(manager_options)));
  current_ = lives_.back().get();
  if (healed_) {
    current_->link.heal();
  }
  group_.spawn(run(current_));
}

// Also comes back by itself when it ended by itself.
Task<void> SimProcess::run(Life* life) {
  Result<void> end = co_await with_stop(life->end.token(), life->manager.run());
  if (current_ != life) {
    co_return;
  }
  options_.say(options_.name + (end ? " stopped" : " ended: " + end.error().message));
  current_ = nullptr;
  leaderships_lost_ += end ? 0 : 1;
  const Result<void> slept = co_await sleep_for(seconds(1) + up_to(env_.random, seconds(5)));
  if (slept && current_ == nullptr) {
    start();
  }
}

void SimProcess::kill() {
  if (current_ == nullptr) {
    return;
  }
  options_.say(options_.name + " is killed");
  Life* life = std::exchange(current_, nullptr);
  life->link.partition();
  life->end.request_stop();
}

void SimProcess::cut_off() {
  if (current_ != nullptr) {
    options_.say(options_.name + " is cut off");
    current_->link.partition();
  }
}

void SimProcess::reconnect() {
  if (current_ != nullptr) {
    current_->link.heal();
    current_->link.set_faults(options_.faults());
  }
}

void SimProcess::heal() {
  healed_ = true;
  if (current_ != nullptr) {
    current_->link.heal();
  }
}

std::uint64_t SimProcess::faults() const {
  std::uint64_t sum = 0;
  for (const std::unique_ptr<Life>& life : lives_) {
    sum += life->link.counts().faults;
  }
  return sum;
}

}  // namespace codeflare::sim
