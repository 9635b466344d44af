#include "elastic/agent.h"

#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "base/async/when.h"
#include "base/env/backoff.h"
#include "elastic/exit_class.h"
#include "elastic/internal/worker_link.h"
#include "elastic/internal/worker_output.h"
#include "elastic/memory_events.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

namespace codeflare::elastic {

using internal::WorkerLink;
using internal::WorkerOutput;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr Duration kPutPatience = seconds(3);
constexpr Duration kRetry = milliseconds(300);
// After the end of a process its last message is read; a child that it left may hold the socket.
constexpr Duration kLastWords = milliseconds(500);
constexpr const char* kMemoryEvents = "/sys/fs/cgroup/memory.events";

// Progress can wait for the next renewal.
bool is_urgent(const Member& now, const Member& put) {
  return now.state != put.state || now.generation != put.generation || now.port != put.port ||
         now.library != put.library || now.saved_step != put.saved_step ||
         now.message != put.message || now.exit_class != put.exit_class;
}

}  // namespace

class Agent::Parts {
 public:
  Parts(AgentWorld world, AgentOptions options)
      : world_(std::move(world)),
        options_(std::move(options)),
        machine_(options_.identity),
        slots_(static_cast<std::size_t>(options_.identity.nproc)),
        group_(world_.env.loop) {}

  Task<int> run() {
    oom_kills_ = co_await count_oom_kills();
    group_.spawn(follow(StoreKey::membership()));
    group_.spawn(follow(StoreKey::round()));
    group_.spawn(keep_reporting());
    group_.spawn(write_rounds());
    group_.spawn(keep_time());
    group_.spawn(welcome_workers());
    while (!machine_.exit_code()) {
      if (!co_await changed_.wait()) {
        break;
      }
    }
    if (machine_.exit_code()) {
      // The last word: others learn at once that this member has left.
      (void)co_await put(machine_.document());
    }
    co_await group_.close();
    for (Slot& slot : slots_) {
      slot.child.reset();
    }
    co_return machine_.exit_code().value_or(kExitLeft);
  }

  void terminate() {
    machine_.on_terminate(now());
    apply();
  }

  const Member& document() const { return machine_.document(); }

 private:
  struct Slot {
    std::shared_ptr<Child> child{};
    std::shared_ptr<WorkerLink> link{};
    std::int64_t starts = 0;
  };

  Instant now() const { return world_.env.clock.now(); }
  Slot& slot(std::int32_t local_rank) { return slots_[static_cast<std::size_t>(local_rank)]; }

  // --- what the machine wants ---

  void apply() {
    for (std::vector<AgentAction> actions = machine_.take_actions(); !actions.empty();
         actions = machine_.take_actions()) {
      for (AgentAction& action : actions) {
        std::visit([this](auto& one) { perform(one); }, action);
      }
    }
    watch_members();
    if (machine_.document().state != logged_) {
      logged_ = machine_.document().state;
      world_.logger.info("member state changed",
                         {{"state", to_string(logged_)},
                          {"generation", machine_.document().generation},
                          {"step", machine_.document().step},
                          {"message", last_line(machine_.document().message)}});
    }
    changed_.notify_all();
  }

  void perform(const StartWorker& start) {
    Slot& at = slot(start.local_rank);
    const WorkerSetting setting{.framework = options_.framework,
                                .run_id = options_.run_id,
                                .socket = options_.socket,
                                .state_directory = options_.state_directory,
                                .error_file = error_file(start.local_rank),
                                .index = options_.identity.index,
                                .local_rank = start.local_rank,
                                .nproc = options_.identity.nproc,
                                .restarts = at.starts,
                                .restarts_max = options_.restarts_max,
                                .round = start.round,
                                .threads_given = options_.threads_given};
    ChildCommand command{.program = options_.command.front(),
                         .arguments = {options_.command.begin() + 1, options_.command.end()},
                         .variables = worker_variables(setting)};
    (void)world_.env.files.remove(setting.error_file);
    ++at.starts;
    Result<std::unique_ptr<Child>> child = world_.children.start(std::move(command));
    if (!child) {
      world_.logger.warn("worker not started",
                         {{"localRank", start.local_rank}, {"error", child.error()}});
      machine_.on_start_failed(start.local_rank, child.error(), now());
      return;
    }
    at.child = *std::move(child);
    at.link = nullptr;
    world_.logger.info("worker started", {{"localRank", start.local_rank},
                                          {"pid", at.child->pid()},
                                          {"generation", machine_.generation()}});
    group_.spawn(attend(start.local_rank, at.child));
  }

  void perform(const SignalWorker& signal) {
    if (Slot& at = slot(signal.local_rank); at.child != nullptr) {
      at.child->signal(signal.number);
    }
  }

  void perform(SendWorker& message) {
    Slot& at = slot(message.local_rank);
    if (at.link == nullptr || !at.link->send(std::move(message.line))) {
      world_.logger.warn("message not sent to worker", {{"localRank", message.local_rank}});
    }
  }

  void perform(const PickPort& pick) {
    if (Result<std::uint16_t> port = world_.free_port()) {
      machine_.on_port(pick.generation, *port, now());
    } else {
      world_.logger.error("no free port", {{"error", port.error()}});
    }
  }

  // --- the store ---

  Task<void> follow(StoreKey key) {
    std::unique_ptr<StoreWatch> watch = world_.store.watch(key);
    while (true) {
      Result<StoreEntry> entry = co_await watch->next();
      if (!entry) {
        co_return;
      }
      hear(key, entry->value);
    }
  }

  void hear(const StoreKey& key, const std::optional<std::string>& value) {
    Result<void> understood;
    if (key.kind == StoreKey::Kind::member) {
      Result<Member> member = value ? parse_member(*value) : fail(not_found("gone"));
      machine_.on_member(key.index, member ? std::optional(*member) : std::nullopt, now());
    } else if (value && key.kind == StoreKey::Kind::membership) {
      if (Result<Membership> membership = parse_membership(*value)) {
        machine_.on_membership(*std::move(membership), now());
      } else {
        understood = fail(std::move(membership).error());
      }
    } else if (value) {
      if (Result<Round> round = parse_round(*value)) {
        machine_.on_round(*std::move(round), now());
      } else {
        understood = fail(std::move(round).error());
      }
    }
    if (!understood) {
      world_.logger.warn("document ignored",
                         {{"key", key.to_string()}, {"error", understood.error()}});
    }
    apply();
  }

  void watch_members() {
    for (auto at = member_watches_.begin(); at != member_watches_.end();) {
      if (machine_.watched().contains(at->first)) {
        ++at;
      } else {
        at->second.request_stop();
        at = member_watches_.erase(at);
      }
    }
    for (std::int32_t index : machine_.watched()) {
      if (!member_watches_.contains(index)) {
        StopSource& stop = member_watches_[index];
        group_.spawn(with_stop(stop.token(), follow(StoreKey::member(index))));
      }
    }
  }

  Task<Result<void>> put(Member document) {
    std::string text = model::to_json_text(document);
    Result<void> done = co_await with_timeout(
        kPutPatience, "put the member's document",
        world_.store.put(StoreKey::member(options_.identity.index), std::move(text), options_.ttl));
    if (done) {
      put_ = std::move(document);
      renew_at_ = after(now(), options_.renew);
      unreachable_ = false;
    } else if (done.error().code != ErrorCode::cancelled && !std::exchange(unreachable_, true)) {
      world_.logger.warn("rendezvous store is not reachable; workers continue",
                         {{"error", done.error()}});
    }
    co_return done;
  }

  Task<void> keep_reporting() {
    while (true) {
      Result<void> done;
      if (!put_ || is_urgent(machine_.document(), *put_) || now() >= renew_at_) {
        done = co_await put(machine_.document());
        if (!done && !co_await sleep_for(kRetry)) {
          co_return;
        }
      } else if (!co_await wait_for_change(renew_at_)) {
        co_return;
      }
    }
  }

  Task<void> write_rounds() {
    while (true) {
      if (!machine_.round_to_write()) {
        if (!co_await changed_.wait()) {
          co_return;
        }
        continue;
      }
      const Round round = *machine_.round_to_write();
      Result<Round> written =
          co_await with_timeout(kPutPatience, "write the round", write_round(round));
      if (written) {
        machine_.on_round(*std::move(written), now());
        apply();
      } else if (!co_await sleep_for(kRetry)) {
        co_return;
      }
    }
  }

  // The round as it stands then: ours, or that of a newer generation.
  Task<Result<Round>> write_round(Round round) {
    CO_TRY_ASSIGN(const StoreEntry before, co_await world_.store.get(StoreKey::round()));
    if (before.value) {
      if (Result<Round> other = parse_round(*before.value);
          other && other->generation >= round.generation) {
        co_return other;
      }
    }
    std::string text = model::to_json_text(round);
    CO_TRY(co_await world_.store.swap(StoreKey::round(), std::move(text), before.version));
    co_return round;
  }

  // --- time ---

  // At the latest then.
  Task<Result<void>> wait_for_change(Instant when) {
    const Duration wait = std::max(Duration::zero(), when - now());
    Result<void> waited = co_await with_timeout(wait, "a change", next_change());
    const bool on = waited || waited.error().code == ErrorCode::deadline_exceeded;
    co_return on ? Result<void>() : waited;
  }
  Task<Result<void>> next_change() { co_return co_await changed_.wait(); }

  Task<void> keep_time() {
    while (true) {
      const std::optional<Instant> due = machine_.deadline();
      if (due && now() >= *due) {
        machine_.on_time(now());
        apply();
      }
      if (!co_await wait_for_change(due.value_or(after(now(), std::chrono::minutes(10))))) {
        co_return;
      }
    }
  }

  // --- workers ---

  Task<void> welcome_workers() {
    while (true) {
      Result<std::unique_ptr<net::ByteStream>> stream = co_await world_.door.accept();
      if (stream) {
        group_.spawn(listen(std::make_shared<WorkerLink>(*std::move(stream))));
      } else if (stream.error().code == ErrorCode::cancelled || !co_await sleep_for(kRetry)) {
        co_return;
      }
    }
  }

  Task<void> listen(std::shared_ptr<WorkerLink> link) {
    group_.spawn(write_lines(link));
    while (true) {
      Result<std::string> line = co_await link->read_line();
      if (!line) {
        break;
      }
      if (Result<WorkerMessage> message = parse_worker_message(*line)) {
        receive(link, *message);
      } else {
        world_.logger.warn("message of a worker ignored", {{"error", message.error()}});
      }
    }
    link->ended = true;
    link->close();
    link->on_end.notify_all();
  }

  static Task<void> write_lines(std::shared_ptr<WorkerLink> link) { co_await link->write_lines(); }

  void receive(const std::shared_ptr<WorkerLink>& link, const WorkerMessage& message) {
    if (message.type == WorkerMessage::Type::hello) {
      if (message.local_rank >= options_.identity.nproc) {
        return;
      }
      link->local_rank = message.local_rank;
      slot(message.local_rank).link = link;
    }
    if (link->local_rank >= 0 && slot(link->local_rank).link == link) {
      machine_.on_message(link->local_rank, message, now());
      apply();
    }
  }

  // From the start of a worker to its end.
  Task<void> attend(std::int32_t local_rank, std::shared_ptr<Child> child) {
    const bool several = options_.identity.nproc > 1;
    WorkerOutput output(several ? "[" + std::to_string(local_rank) + "] " : "");
    std::vector<Task<void>> pumps;
    pumps.push_back(pump(child, Child::Stream::output, &output));
    pumps.push_back(pump(child, Child::Stream::error_output, &output));
    co_await when_all(std::move(pumps));
    output.finish(world_.output);
    Result<ChildExit> exit = co_await child->wait();
    if (!exit) {
      co_return;
    }
    if (std::shared_ptr<WorkerLink> link = slot(local_rank).link; link != nullptr && !link->ended) {
      (void)co_await with_timeout(kLastWords, "the last message", end_of(link));
    }
    const std::int64_t kills = co_await count_oom_kills();
    AgentMachine::WorkerEnd end{.exit = *exit,
                                .out_of_memory = kills > std::exchange(oom_kills_, kills),
                                .last_lines = output.last_lines()};
    if (std::string message = co_await read_error_file(local_rank); !message.empty()) {
      end.last_lines += "\n" + message;
    }
    world_.logger.info("worker ended", {{"localRank", local_rank},
                                        {"code", exit->shell_code()},
                                        {"outOfMemory", end.out_of_memory}});
    slot(local_rank).link = nullptr;
    slot(local_rank).child = nullptr;
    machine_.on_exit(local_rank, end, now());
    apply();
  }

  Task<void> pump(std::shared_ptr<Child> child, Child::Stream stream, WorkerOutput* output) {
    while (true) {
      Result<std::string> piece = co_await child->read(stream);
      if (!piece || piece->empty()) {
        co_return;
      }
      output->add(stream, *piece, world_.output);
    }
  }

  static Task<Result<void>> end_of(std::shared_ptr<WorkerLink> link) {
    while (!link->ended) {
      CO_TRY(co_await link->on_end.wait());
    }
    co_return Result<void>();
  }

  std::string error_file(std::int32_t local_rank) const {
    return join_path(options_.state_directory, "error-" + std::to_string(local_rank) + ".json");
  }

  Task<std::string> read_error_file(std::int32_t local_rank) {
    const std::string path = error_file(local_rank);
    FileSystem& files = world_.env.files;
    Result<std::string> text =
        co_await run_blocking(world_.env, [&files, path] { return files.read(path, 1u << 20); });
    co_return text ? error_file_message(*text) : std::string();
  }

  Task<std::int64_t> count_oom_kills() {
    FileSystem& files = world_.env.files;
    Result<std::string> text =
        co_await run_blocking(world_.env, [&files] { return files.read(kMemoryEvents, 1u << 16); });
    co_return text ? oom_kills_in(*text) : 0;
  }

  AgentWorld world_;
  AgentOptions options_;
  AgentMachine machine_;
  std::vector<Slot> slots_;
  std::map<std::int32_t, StopSource> member_watches_;
  std::optional<Member> put_;
  Instant renew_at_{};
  bool unreachable_ = false;
  MemberState logged_ = MemberState::registered;
  std::int64_t oom_kills_ = 0;
  WaitList changed_;
  TaskGroup group_;
};

Agent::Agent(AgentWorld world, AgentOptions options)
    : parts_(std::make_unique<Parts>(std::move(world), std::move(options))) {}

Agent::~Agent() = default;

Task<int> Agent::run() {
  return parts_->run();
}

void Agent::terminate() {
  parts_->terminate();
}

const Member& Agent::document() const {
  return parts_->document();
}

}  // namespace codeflare::elastic
