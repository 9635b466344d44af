#include "elastic/agent_machine.h"

#include "base/human_duration.h"
#include "elastic/exit_class.h"

#include <algorithm>
#include <csignal>
#include <utility>

namespace codeflare::elastic {

namespace {

using std::chrono::duration_cast;
using std::chrono::seconds;

constexpr std::size_t kStepsKept = 31;
constexpr double kStallFactor = 10;
constexpr int kFirstStepFactor = 5;
// A worker that made no step for long is not given the whole grace to answer.
constexpr Duration kStalledGrace = seconds(10);
constexpr std::size_t kMessageMax = 4096;
// A pod that has to go learns of it soon after its member has left. One that is not starts workers
// for the next group.
constexpr Duration kLeftTime = seconds(5);

double median(std::deque<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

int exit_code_of_failure(const Member& document) {
  if (document.exit_class == ExitClass::user) {
    return document.exit_code >= 1 && document.exit_code <= 127 ? document.exit_code : 1;
  }
  return document.exit_code >= 128 ? document.exit_code : 128 + SIGTERM;
}

}  // namespace

AgentMachine::AgentMachine(AgentIdentity identity)
    : identity_(std::move(identity)), workers_(static_cast<std::size_t>(identity_.nproc)) {
  document_.pod = identity_.pod;
  document_.agent = identity_.agent;
  document_.address = identity_.address;
  document_.nproc = identity_.nproc;
}

// --- facts ---

void AgentMachine::on_membership(Membership membership, Instant now) {
  // A watch that begins anew may show an older state once more.
  if (membership.generation > membership_.generation) {
    membership_ = std::move(membership);
    round_to_write_.reset();
    settle(now);
  }
}

void AgentMachine::on_round(Round round, Instant now) {
  if (!round_ || round.generation > round_->generation) {
    round_ = std::move(round);
    library_ = library_ || round_->library;
    settle(now);
  }
}

void AgentMachine::on_member(std::int32_t index, std::optional<Member> member, Instant now) {
  if (member) {
    members_.insert_or_assign(index, *std::move(member));
  } else {
    members_.erase(index);
  }
  settle(now);
}

void AgentMachine::on_port(std::int64_t generation, std::int32_t port, Instant now) {
  if (generation == membership_.generation) {
    document_.port = port;
    port_of_ = generation;
    settle(now);
  }
}

void AgentMachine::on_message(std::int32_t local_rank, const WorkerMessage& message, Instant now) {
  using Type = WorkerMessage::Type;
  Worker* worker = find(local_rank);
  if (worker == nullptr || !worker->alive) {
    return;
  }
  if (message.type != Type::hosting && message.type != Type::saved &&
      message.type != Type::unsaved) {
    worker->step = message.step;
    // A worker that starts says what it found; a restarted agent knows nothing else of it.
    document_.step =
        message.type == Type::hello ? std::max(document_.step, message.step) : message.step;
  }
  switch (message.type) {
    case Type::hello:
      worker->library = true;
      library_ = true;
      document_.library = true;
      if (!worker->noticed) {
        worker->kill_at.reset();
      }
      if (worker->group != 0) {
        actions_.push_back(SendWorker{local_rank, round_line(round_for(local_rank))});
      }
      break;
    case Type::ready:
      if (worker->noticed && message.generation > worker->group) {
        worker->group = 0;
        worker->noticed = false;
        worker->kill_at.reset();
      }
      break;
    case Type::hosting:
      if (message.generation == host_asked_) {
        hosted_port_ = message.port;
        host_by_.reset();
      }
      break;
    case Type::running:
      last_step_ = now;
      break;
    case Type::progress:
      last_step_ = now;
      document_.samples_per_second = message.samples_per_second;
      document_.step_seconds = message.step_seconds;
      document_.loss = message.loss;
      document_.remaining_samples = message.remaining_samples;
      if (message.step_seconds) {
        step_seconds_.push_back(*message.step_seconds);
        if (step_seconds_.size() > kStepsKept) {
          step_seconds_.pop_front();
        }
      }
      break;
    case Type::saved:
      // Memory is lost with the pod.
      if (message.tier != "memory") {
        document_.saved_step = std::max(document_.saved_step, message.step);
        if (message.tier == unsaved_tier_) {
          tell_unsaved({}, {});
        }
      }
      break;
    case Type::unsaved:
      if (message.tier != "memory") {
        tell_unsaved(message.tier, message.message);
      }
      break;
    case Type::left:
      break;
    case Type::done:
      worker->done_in = worker->group;
      break;
  }
  settle(now);
}

void AgentMachine::on_exit(std::int32_t local_rank, const WorkerEnd& end, Instant now) {
  Worker* worker = find(local_rank);
  if (worker == nullptr || !worker->alive) {
    return;
  }
  const Worker was =
      std::exchange(*worker, Worker{.begun = worker->begun, .done_in = worker->done_in});
  const ExitClass why = classify_exit({.exit = end.exit,
                                       .planned = was.noticed || was.killed,
                                       .out_of_memory = end.out_of_memory,
                                       .last_lines = end.last_lines});
  if (why == ExitClass::none && !was.noticed && was.group != 0) {
    worker->done_in = was.group;
  } else if (why != ExitClass::none && why != ExitClass::planned && was.done_in != was.group) {
    const std::size_t begin = end.last_lines.size() - std::min(end.last_lines.size(), kMessageMax);
    fail_group(was.group == 0 ? membership_.generation : was.group, why, end.exit.shell_code(),
               end.last_lines.substr(begin));
  } else if (why == ExitClass::none && !was.noticed) {
    fail_group(membership_.generation, ExitClass::user, 0,
               "worker " + std::to_string(local_rank) + " ended before its group was formed");
  }
  settle(now);
}

void AgentMachine::on_start_failed(std::int32_t local_rank, const Error& error, Instant now) {
  if (Worker* worker = find(local_rank); worker != nullptr && worker->alive) {
    const std::int64_t generation = worker->group == 0 ? membership_.generation : worker->group;
    *worker = Worker{.begun = worker->begun};
    fail_group(generation, ExitClass::user, 127, error.message);
    settle(now);
  }
}

void AgentMachine::on_terminate(Instant now) {
  terminating_ = true;
  settle(now);
}

void AgentMachine::on_time(Instant now) {
  settle(now);
}

// --- what follows ---

void AgentMachine::settle(Instant now) {
  if (exit_code_) {
    return;
  }
  check_stall(now);
  const bool stopping = stop_workers(now);
  kill_late_workers(now);
  replace_silent_host(now);
  if (stopping) {
    report(MemberState::stopping, membership_.generation);
  } else if (is_over()) {
    end();
  } else if (!is_member()) {
    wait_outside(now);
  } else {
    follow_membership(now);
  }
}

bool AgentMachine::is_member() const {
  const MemberRef* own = membership_.find(identity_.index);
  return own != nullptr && own->pod == identity_.pod;
}

bool AgentMachine::is_leader() const {
  return is_member() && membership_.members.front().index == identity_.index;
}

bool AgentMachine::all_done_in(std::int64_t generation) const {
  return generation > 0 && std::ranges::all_of(workers_, [&](const Worker& worker) {
           return !worker.alive && worker.done_in == generation;
         });
}

bool AgentMachine::has_failed() const {
  return document_.state == MemberState::failed && document_.generation == membership_.generation;
}

std::optional<bool> AgentMachine::must_leave(const Worker& worker) const {
  const bool paused = membership_.generation > 0 && membership_.members.empty();
  if (is_over() || paused) {
    return false;
  }
  if (worker.group == 0) {
    return std::nullopt;  // started ahead, or between two groups
  }
  if (!is_member()) {
    return false;
  }
  if (worker.group < membership_.generation) {
    return true;
  }
  // Its group is broken: plain processes would wait for their peers.
  return has_failed() && !worker.library ? std::optional(true) : std::nullopt;
}

// True while one of them has not left yet.
bool AgentMachine::stop_workers(Instant now) {
  bool stopping = false;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    if (!workers_[i].alive) {
      continue;
    }
    if (const std::optional<bool> stay = must_leave(workers_[i])) {
      notify_worker(static_cast<std::int32_t>(i), *stay, now);
      // A broken group is reported as failed, not as stopping.
      stopping = stopping || !has_failed();
    }
  }
  return stopping;
}

void AgentMachine::notify_worker(std::int32_t local_rank, bool stay, Instant now) {
  Worker& worker = workers_[static_cast<std::size_t>(local_rank)];
  const std::int64_t generation = std::max(membership_.generation, worker.group);
  if (worker.noticed && worker.notice_of == generation && worker.stays == stay) {
    return;
  }
  const Duration grace = stalled_ ? std::min(identity_.grace, kStalledGrace) : identity_.grace;
  if (worker.library) {
    if (worker.group != 0 && !worker.noticed && membership_.reason == reason::kReplace) {
      actions_.push_back(SendWorker{local_rank, lost_line(worker.group)});
    }
    const Notice notice{.generation = generation,
                        .reason = membership_.reason,
                        .stay = stay,
                        .grace_seconds = duration_cast<seconds>(grace).count()};
    actions_.push_back(SendWorker{local_rank, notice_line(notice)});
  } else if (!worker.noticed) {
    actions_.push_back(SignalWorker{local_rank, SIGTERM});
  }
  worker.noticed = true;
  worker.notice_of = generation;
  worker.stays = stay;
  worker.kill_at = std::min(worker.kill_at.value_or(now + grace), now + grace);
}

void AgentMachine::kill_late_workers(Instant now) {
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    Worker& worker = workers_[i];
    if (worker.alive && worker.kill_at && now >= *worker.kill_at && !worker.killed) {
      worker.killed = true;
      if (worker.group == 0 && !worker.noticed) {
        worker.begun = -1;  // it did not come up: another one may
      }
      actions_.push_back(SignalWorker{static_cast<std::int32_t>(i), SIGKILL});
    }
  }
}

// A first worker that is stuck between two groups would hold up everybody.
void AgentMachine::replace_silent_host(Instant now) {
  Worker& worker = workers_.front();
  if (!host_by_ || now < *host_by_) {
    return;
  }
  host_by_.reset();
  if (worker.alive && worker.group == 0 && host_asked_ == membership_.generation) {
    host_asked_ = 0;
    worker.killed = true;
    worker.library = false;
    worker.begun = -1;
    actions_.push_back(SignalWorker{0, SIGKILL});
  }
}

// All workers are gone.
void AgentMachine::end() {
  const bool done = document_.state == MemberState::done || all_done_in(joined_);
  if (done || membership_.reason == reason::kFinish) {
    report(done ? MemberState::done : MemberState::left, membership_.generation);
    exit_code_ = kExitSuccess;
  } else if (document_.state == MemberState::failed) {
    exit_code_ = exit_code_of_failure(document_);
  } else {
    report(MemberState::left, membership_.generation);
    exit_code_ = kExitLeft;
  }
}

// Not a member: no worker is in a group.
void AgentMachine::wait_outside(Instant now) {
  watched_.clear();
  const bool paused = membership_.members.empty();
  if (was_member_ && !paused) {
    left_at_ = left_at_.value_or(now);
    if (now < *left_at_ + kLeftTime) {
      report(MemberState::left, membership_.generation);
      return;
    }
    was_member_ = false;
  }
  left_at_.reset();
  if (paused || has_failed() || start_ahead(now)) {
    if (!has_failed()) {
      report(MemberState::registered, membership_.generation);
    }
  } else {
    report(MemberState::starting, membership_.generation);
  }
}

// With the library, workers are started before there is a group for them. True when all have said
// hello, or need not.
bool AgentMachine::start_ahead(Instant now) {
  if (!library_) {
    return true;
  }
  bool up = true;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    Worker& worker = workers_[i];
    if (!worker.alive && worker.begun < membership_.generation) {
      worker = Worker{.alive = true, .begun = membership_.generation};
      if (identity_.stall_min > Duration::zero()) {
        worker.kill_at = now + kFirstStepFactor * identity_.stall_min;
      }
      actions_.push_back(StartWorker{.local_rank = static_cast<std::int32_t>(i)});
    }
    up = up && worker.alive && worker.library;
  }
  return up;
}

void AgentMachine::follow_membership(Instant now) {
  const std::int64_t generation = membership_.generation;
  was_member_ = true;
  left_at_.reset();
  if (joined_ == generation) {
    watch_group();
  } else if (document_.library && all_done_in(joined_)) {
    // The training is complete: the group was whole until its last step.
    report(MemberState::done, joined_);
  } else if (round_ && round_->generation == generation) {
    join_round(now);
  } else if (!has_failed()) {
    if (!start_ahead(now)) {
      report(MemberState::starting, generation);
    } else {
      become_ready(now);
    }
  }
}

void AgentMachine::join_round(Instant now) {
  const RoundRank* own = round_->find(identity_.index);
  if (own == nullptr || own->agent != identity_.agent) {
    // Its group has begun with an agent that is gone.
    fail_group(membership_.generation, ExitClass::infrastructure, 0,
               "the agent was restarted while its group trained");
    return;
  }
  joined_ = membership_.generation;
  tell_unsaved({}, {});  // another worker may be the one that saves
  round_to_write_.reset();
  last_step_ = now;
  step_seconds_.clear();
  stalled_ = false;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    const auto local_rank = static_cast<std::int32_t>(i);
    Worker& worker = workers_[i];
    if (worker.alive) {
      worker = Worker{.alive = true,
                      .library = worker.library,
                      .group = joined_,
                      .begun = worker.begun,
                      .step = worker.step};
      actions_.push_back(SendWorker{local_rank, round_line(round_for(local_rank))});
    } else {
      worker = Worker{.alive = true, .group = joined_, .begun = joined_};
      actions_.push_back(StartWorker{.local_rank = local_rank, .round = round_});
    }
  }
  watch_group();
}

// The round has begun.
void AgentMachine::watch_group() {
  watched_.clear();
  if (has_failed()) {
    return;
  }
  if (all_done_in(joined_)) {
    report(MemberState::done, joined_);
  } else {
    report(MemberState::running, joined_);
  }
}

void AgentMachine::become_ready(Instant now) {
  const std::int64_t generation = membership_.generation;
  if (port_of_ != generation) {
    if (port_asked_ != generation) {
      port_asked_ = generation;
      actions_.push_back(PickPort{generation});
    }
    return;
  }
  if (library_) {
    // A worker that was started anew has the state that it found, not the one that was lost.
    document_.step = std::ranges::max(workers_, {}, &Worker::step).step;
  }
  if (document_.state != MemberState::hosting || document_.generation != generation) {
    report(MemberState::ready, generation);
  }
  if (is_leader()) {
    lead(now);
  } else {
    watched_.clear();
  }
}

void AgentMachine::lead(Instant now) {
  watched_.clear();
  for (const MemberRef& member : membership_.members) {
    if (member.index != identity_.index) {
      watched_.insert(member.index);
    }
  }
  std::optional<Round> agreed = agreed_round();
  if (!agreed) {
    return;
  }
  if (library_) {
    if (host_asked_ != membership_.generation) {
      host_asked_ = membership_.generation;
      hosted_port_.reset();
      host_by_ = now + identity_.grace;
      actions_.push_back(SendWorker{0, host_line(host_asked_)});
    }
    if (!hosted_port_) {
      return;
    }
    document_.port = *hosted_port_;
    report(MemberState::hosting, membership_.generation);
    agreed->port = *hosted_port_;
    agreed->ranks.front().port = *hosted_port_;
  }
  round_to_write_ = std::move(agreed);
}

// Nothing until all members are ready.
std::optional<Round> AgentMachine::agreed_round() const {
  Round round{.generation = membership_.generation,
              .address = document_.address,
              .port = document_.port,
              .library = library_};
  std::int64_t most = -1;
  for (const MemberRef& ref : membership_.members) {
    auto at = members_.find(ref.index);
    const bool own = ref.index == identity_.index;
    const Member* member = own ? &document_ : at == members_.end() ? nullptr : &at->second;
    if (member == nullptr || member->generation != round.generation || member->pod != ref.pod ||
        (member->state != MemberState::ready && member->state != MemberState::hosting)) {
      return std::nullopt;
    }
    if (member->step > most) {
      most = member->step;
      round.source = round.world_size;
    }
    round.ranks.push_back({.index = ref.index,
                           .rank = round.world_size,
                           .nproc = member->nproc,
                           .agent = member->agent,
                           .address = member->address,
                           .port = member->port});
    round.world_size += member->nproc;
  }
  return round;
}

// --- stalls, reports ---

std::optional<Instant> AgentMachine::stall_at() const {
  if (identity_.stall_min == Duration::zero() || !last_step_ || !document_.library ||
      document_.state != MemberState::running) {
    return std::nullopt;
  }
  if (step_seconds_.empty()) {
    // The first step of a group compiles and loads.
    return *last_step_ + kFirstStepFactor * identity_.stall_min;
  }
  const std::chrono::duration<double> limit(kStallFactor * median(step_seconds_));
  return *last_step_ + std::max(identity_.stall_min, duration_cast<Duration>(limit));
}

void AgentMachine::check_stall(Instant now) {
  const std::optional<Instant> at = stall_at();
  if (!at || now < *at) {
    return;
  }
  stalled_ = true;
  fail_group(joined_, ExitClass::infrastructure, 0,
             "no step for " + human_duration(now - *last_step_) +
                 (step_seconds_.empty()
                      ? std::string(" since the group was formed")
                      : ", the median is " + std::to_string(median(step_seconds_)) + " s"));
}

std::optional<Instant> AgentMachine::deadline() const {
  std::optional<Instant> first = stall_at();
  if (host_by_ && (!first || *host_by_ < *first)) {
    first = host_by_;
  }
  if (left_at_ && (!first || *left_at_ + kLeftTime < *first)) {
    first = *left_at_ + kLeftTime;
  }
  for (const Worker& worker : workers_) {
    if (worker.alive && worker.kill_at && !worker.killed && (!first || *worker.kill_at < *first)) {
      first = worker.kill_at;
    }
  }
  return first;
}

void AgentMachine::report(MemberState state, std::int64_t generation) {
  document_.state = state;
  document_.generation = generation;
  if (state != MemberState::stopping && state != MemberState::left) {
    document_.exit_class = ExitClass::none;
    document_.exit_code = 0;
    document_.message.clear();
  }
}

void AgentMachine::tell_unsaved(std::string tier, std::string_view why) {
  document_.unsaved = tier.empty() ? "" : (why.empty() ? tier : tier + ": " + std::string(why));
  unsaved_tier_ = std::move(tier);
}

void AgentMachine::fail_group(std::int64_t generation, ExitClass why, std::int32_t code,
                              std::string message) {
  // The first failure is the cause; others follow from it.
  if (document_.state == MemberState::failed && document_.generation == generation) {
    return;
  }
  document_.state = MemberState::failed;
  document_.generation = generation;
  document_.exit_class = why;
  document_.exit_code = code;
  document_.message = std::move(message);
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    const Worker& worker = workers_[i];
    if (worker.alive && worker.library && worker.group == generation && !worker.noticed) {
      actions_.push_back(SendWorker{static_cast<std::int32_t>(i), lost_line(generation)});
    }
  }
}

RoundForWorker AgentMachine::round_for(std::int32_t local_rank) const {
  const RoundRank* own = round_->find(identity_.index);
  RoundForWorker round{.generation = round_->generation,
                       .rank = (own == nullptr ? 0 : own->rank) + local_rank,
                       .local_rank = local_rank,
                       .local_world_size = identity_.nproc,
                       .world_size = round_->world_size,
                       .master_address = round_->address,
                       .master_port = round_->port,
                       .source = round_->source};
  for (const RoundRank& rank : round_->ranks) {
    round.peers.push_back(rank.address);
  }
  return round;
}

std::vector<AgentAction> AgentMachine::take_actions() {
  return std::exchange(actions_, {});
}

AgentMachine::Worker* AgentMachine::find(std::int32_t local_rank) {
  const auto at = static_cast<std::size_t>(local_rank);
  return local_rank >= 0 && at < workers_.size() ? &workers_[at] : nullptr;
}

}  // namespace codeflare::elastic
