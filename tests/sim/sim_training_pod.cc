#include "tests/sim/sim_training_pod.h"

#include "base/async/sleep.h"
#include "base/async/when.h"
#include "json/parse.h"
#include "kube/client.h"

#include <csignal>
#include <utility>

namespace codeflare::sim {

using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr Duration kStep = milliseconds(400);

// One end of a connection in memory; both ends hold it.
class PairEnd final : public net::ByteStream {
 public:
  PairEnd(std::shared_ptr<net::MemoryPair> pair, bool near) : pair_(std::move(pair)), near_(near) {}
  ~PairEnd() override { near_ ? pair_->close_near() : pair_->close_far(); }
  Task<Result<std::string>> read() override { return end().read(); }
  Task<Result<void>> write(std::string bytes) override { return end().write(std::move(bytes)); }

 private:
  net::ByteStream& end() { return near_ ? pair_->near() : pair_->far(); }
  std::shared_ptr<net::MemoryPair> pair_;
  bool near_;
};

std::string text(std::int64_t number) {
  return std::to_string(number);
}

// The library in a worker: one task reads the agent's messages, one trains.
struct LibraryWorker {
  std::unique_ptr<PairEnd> stream;
  std::shared_ptr<SimProcess> process;
  std::shared_ptr<PodState> state;
  TrainingScene* scene = nullptr;
  std::shared_ptr<TrainingGroup> group{};
  std::int32_t rank = 0;
  std::int64_t generation = 0;
  std::int64_t notice = 0;  // generation of a notice that is not answered yet
  bool ends = false;        // the notice does not let it stay
  bool broken = false;      // its sockets are shut
  bool done = false;
  WaitList changed{};

  Task<Result<void>> say(std::string line) { return stream->write(line + "\n"); }

  Task<Result<bool>> hear() {
    std::string buffer;
    while (!done && !ends_now()) {
      CO_TRY_ASSIGN(const std::string piece, co_await stream->read());
      while (process->frozen()) {
        CO_TRY(co_await process->signalled().wait());
      }
      if (piece.empty()) {
        break;
      }
      buffer += piece;
      for (auto end = buffer.find('\n'); end != std::string::npos; end = buffer.find('\n')) {
        const std::string line = buffer.substr(0, end);
        buffer.erase(0, end + 1);
        CO_TRY(co_await take(line));
      }
    }
    co_return true;
  }
  bool ends_now() const { return ends && group == nullptr && notice == 0; }

  Task<Result<void>> take(const std::string& line) {
    CO_TRY_ASSIGN(const json::Document document, json::parse(line));
    const json::Value& root = document.root;
    const auto number = [&](std::string_view key) {
      const json::Value* value = root.find(key);
      return value == nullptr ? 0 : value->to_int64().value_or(0);
    };
    const std::string_view type = root.string_or_empty("type");
    if (type == "notice") {
      notice = number("generation");
      const json::Value* stay = root.find("stay");
      ends = stay != nullptr && !stay->as_bool();
    } else if (type == "lost") {
      broken = true;
      if (group != nullptr) {
        group->leave(rank);
      }
    } else if (type == "host") {
      CO_TRY(co_await say(R"({"type":"hosting","generation":)" + text(number("generation")) +
                          R"(,"port":)" + text(20000 + number("generation")) + "}"));
    } else if (type == "round") {
      rank = static_cast<std::int32_t>(number("rank"));
      generation = number("generation");
      broken = false;
      notice = 0;
      group =
          scene->group(text(generation) + "@" + std::string(root.string_or_empty("masterAddress")) +
                           ":" + text(number("masterPort")),
                       generation, static_cast<std::int32_t>(number("worldSize")),
                       static_cast<std::int32_t>(number("source")));
    }
    changed.notify_all();
    co_return Result<void>();
  }

  // Between two steps.
  Task<Result<void>> answer() {
    if (group != nullptr) {
      group->leave(rank);
      group = nullptr;
    }
    const std::int64_t to = std::exchange(notice, 0);
    if (ends && rank == 0 && generation != 0) {
      scene->saved.save(to, state->step);
    }
    CO_TRY(co_await say(R"({"type":")" + std::string(ends ? "left" : "ready") +
                        R"(","generation":)" + text(to) + R"(,"step":)" + text(state->step) + "}"));
    changed.notify_all();
    co_return Result<void>();
  }

  Task<Result<bool>> train() {
    CO_TRY(co_await say(R"({"type":"hello","version":1,"pid":)" + text(process->pid()) +
                        R"(,"localRank":0,"step":)" + text(state->step) + "}"));
    while (!ends_now()) {
      if (notice != 0) {
        CO_TRY(co_await answer());
      } else if (group == nullptr || broken) {
        CO_TRY(co_await changed.wait());
      } else {
        CO_TRY_ASSIGN(const bool complete, co_await train_in(group));
        if (complete) {
          CO_TRY(co_await say(R"({"type":"done","step":)" + text(state->step) + "}"));
          done = true;
          co_return true;
        }
      }
    }
    co_return false;
  }

  // True when the training is complete; false when the group is over.
  Task<Result<bool>> train_in(std::shared_ptr<TrainingGroup> in) {
    const std::int32_t own = rank;
    const std::int64_t of = generation;
    if (!co_await in->meet(own, state)) {
      co_return give_up(in);
    }
    bool first = true;
    while (notice == 0 && !broken && group == in) {
      if (state->step >= scene->steps) {
        co_return true;
      }
      CO_TRY(co_await process->sleep(kStep));
      Result<void> stepped = co_await in->step(own);
      if (!stepped) {
        co_return give_up(in);
      }
      if (own == 0 && state->step % scene->save_every == 0) {
        scene->saved.save(of, state->step);
      }
      const std::string step = text(state->step);
      if (std::exchange(first, false)) {
        CO_TRY(co_await say(R"({"type":"running","generation":)" + text(of) + R"(,"step":)" + step +
                            "}"));
      }
      CO_TRY(co_await say(R"({"type":"progress","step":)" + step + R"(,"stepSeconds":0.4})"));
    }
    co_return false;
  }

  Result<bool> give_up(const std::shared_ptr<TrainingGroup>& in) {
    if (group == in) {
      broken = true;
    }
    return false;
  }
};

Task<Result<bool>> with_notice_wake(LibraryWorker* worker) {
  // A worker that waits for its peers is woken by its second thread when a notice has waited long.
  while (!worker->done) {
    CO_TRY(co_await sleep_for(seconds(3)));
    if (worker->notice != 0 && worker->group != nullptr && !worker->process->frozen()) {
      worker->group->leave(worker->rank);
    }
  }
  co_return true;
}

}  // namespace

std::shared_ptr<TrainingGroup> TrainingScene::group(const std::string& key, std::int64_t generation,
                                                    std::int32_t size, std::int32_t source) {
  std::shared_ptr<TrainingGroup>& one = groups[key];
  if (one == nullptr) {
    one = std::make_shared<TrainingGroup>(judge, saved, generation, size, source);
  }
  return one;
}

class TrainingPod::Door final : public elastic::WorkerDoor {
 public:
  Task<Result<std::unique_ptr<net::ByteStream>>> accept() override {
    CO_TRY_ASSIGN(std::shared_ptr<net::MemoryPair> pair, co_await waiting_.pop());
    co_return std::make_unique<PairEnd>(std::move(pair), true);
  }
  std::unique_ptr<PairEnd> connect() {
    auto pair = std::make_shared<net::MemoryPair>();
    if (!waiting_.try_push(pair)) {
      pair->close_near();
    }
    return std::make_unique<PairEnd>(std::move(pair), false);
  }

 private:
  Channel<std::shared_ptr<net::MemoryPair>> waiting_{64};
};

// The store of an agent, with a round that is not the one agreed on.
class TrainingPod::TamperedStore final : public elastic::Store {
 public:
  TamperedStore(elastic::Store& store, const TrainingScene& scene) : store_(store), scene_(scene) {}
  Task<Result<elastic::StoreEntry>> get(elastic::StoreKey key) override { return store_.get(key); }
  std::unique_ptr<elastic::StoreWatch> watch(elastic::StoreKey key) override {
    return store_.watch(key);
  }
  Task<Result<void>> put(elastic::StoreKey key, std::string value, Duration ttl) override {
    return store_.put(key, std::move(value), ttl);
  }
  Task<Result<void>> swap(elastic::StoreKey key, std::string value, std::string version) override {
    if (scene_.tamper_round) {
      // Nobody may go by the right one.
      CO_TRY(co_await store_.swap(key, scene_.tamper_round(std::move(value)), std::move(version)));
      co_return fail(unavailable("written"));
    }
    co_return co_await store_.swap(key, std::move(value), std::move(version));
  }

 private:
  elastic::Store& store_;
  const TrainingScene& scene_;
};

TrainingPod::TrainingPod(TrainingScene& scene, std::int32_t index, std::string uid)
    : scene_(scene),
      index_(index),
      uid_(std::move(uid)),
      link_(scene.service, scene.env.random, scene.faults) {}

TrainingPod::~TrainingPod() = default;

Task<void> TrainingPod::run() {
  const TaskContext& context = co_await current_context();
  while (!killed_ && !exit_code_ && !context.stop.stop_requested()) {
    co_await live_once();
  }
  ended_ = true;
  state_->lost = true;
}

Task<void> TrainingPod::live_once() {
  crash_ = StopSource();
  children_ = std::make_unique<SimChildren>(scene_.env.loop);
  door_ = std::make_unique<Door>();
  children_->set_program("train", [this](std::shared_ptr<SimProcess> process) {
    return scene_.library ? library_worker(std::move(process)) : plain_worker(std::move(process));
  });
  kube::Client client(scene_.env, link_, {.attempts_max = 1, .transport_attempts_max = 1});
  elastic::KubernetesStore real(client, {.ns = "default", .job = "bert", .holder = uid_});
  TamperedStore store(real, scene_);
  elastic::AgentOptions options{.command = {"train"}, .run_id = "uid", .state_directory = "/state"};
  options.identity = {.index = index_,
                      .pod = uid_,
                      .agent = uid_ + "-" + std::to_string(++lives_),
                      .address = "10.0.0." + std::to_string(index_),
                      .grace = seconds(10),
                      .stall_min = seconds(20)};
  std::uint16_t port = static_cast<std::uint16_t>(1000 * lives_);
  elastic::Agent agent({.env = scene_.env,
                        .store = store,
                        .children = *children_,
                        .door = *door_,
                        .free_port = [&port]() -> Result<std::uint16_t> { return ++port; },
                        .output = [](Child::Stream, std::string_view) {},
                        .logger = {}},
                       std::move(options));
  agent_ = &agent;
  const int code = co_await with_stop(crash_.token(), agent.run());
  if (!crash_.stop_requested()) {
    exit_code_ = code;
  }
  agent_ = nullptr;
  co_await children_->close();
}

Task<ChildExit> TrainingPod::library_worker(std::shared_ptr<SimProcess> process) {
  LibraryWorker worker{
      .stream = door_->connect(), .process = std::move(process), .state = state_, .scene = &scene_};
  if (!co_await worker.process->sleep(seconds(2))) {
    co_return ChildExit{};
  }
  std::vector<Task<Result<bool>>> threads;
  threads.push_back(worker.train());
  threads.push_back(worker.hear());
  threads.push_back(with_notice_wake(&worker));
  (void)co_await when_any(std::move(threads));
  if (worker.group != nullptr) {
    worker.group->leave(worker.rank);
  }
  co_return ChildExit{};
}

Task<ChildExit> TrainingPod::plain_worker(std::shared_ptr<SimProcess> process) {
  const auto number = [&](const char* name) { return std::stoll(process->variable(name)); };
  const std::int64_t generation = number("LATTICE_GENERATION");
  const auto rank = static_cast<std::int32_t>(number("RANK"));
  auto group = scene_.group(text(generation) + "@" + process->variable("MASTER_ADDR") + ":" +
                                process->variable("MASTER_PORT"),
                            generation, static_cast<std::int32_t>(number("WORLD_SIZE")), 0);
  // Its checkpoint is on storage that all pods share, written with each step. SIGTERM ends it.
  auto state = std::make_shared<PodState>();
  ChildExit exit{.code = 143};
  if (co_await process->sleep(seconds(2))) {
    state->step = scene_.judge.last_step();
    bool on = (co_await group->meet(rank, state)).has_value();
    while (on) {
      if (state->step >= scene_.steps) {
        exit = {};
        break;
      }
      on = (co_await process->sleep(kStep)).has_value() && (co_await group->step(rank)).has_value();
    }
  }
  group->leave(rank);
  co_return exit;
}

void TrainingPod::kill() {
  killed_ = true;
  crash_.request_stop();
}

void TrainingPod::restart_agent() {
  crash_.request_stop();
}

void TrainingPod::terminate() {
  if (agent_ != nullptr) {
    agent_->terminate();
  }
}

void TrainingPod::signal_worker(int number) {
  if (children_ != nullptr && !children_->running().empty()) {
    children_->signal(children_->running().begin()->first, number);
  }
}

}  // namespace codeflare::sim
