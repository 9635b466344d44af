#include "apiserver/store/testing/power_cut_run.h"

#include "apiserver/store/repair.h"
#include "base/async/sleep.h"
#include "base/check.h"
#include "json/scan.h"

#include <algorithm>
#include <array>
#include <utility>

namespace codeflare::apiserver {

namespace {

using std::chrono::milliseconds;

constexpr int kKeysPerWriter = 3;
constexpr int kWritesMax = 150;

std::string text_of(const std::string& name, const std::string& data) {
  return R"({"metadata":{"name":")" + name + R"("},"data":")" + data + "\"}";
}

}  // namespace

PowerCutRun::PowerCutRun(Options options)
    : options_(options), sim_({.seed = options.seed, .shuffle = true}), disk_(options.seed) {}

std::vector<std::string> PowerCutRun::run() {
  for (int life = 0; life < options_.lives && findings_.empty(); ++life) {
    live();
    end_life();
  }
  if (options_.flip) {
    flip_bit();
    return findings_;
  }
  disk_.restart();
  if (findings_.empty()) {
    // The last one, without trouble.
    Result<std::unique_ptr<Store>> store = open();
    if (store) {
      check(**store);
      CHECK(codeflare::run(sim_.env().loop, (*store)->close()));
    } else {
      findings_.push_back("does not open: " + store.error().to_string());
    }
  }
  return findings_;
}

void PowerCutRun::end_life() {
  if (sim_.env().random.below(3) == 0) {
    disk_.restart_process();
  } else {
    disk_.restart();
  }
}

void PowerCutRun::flip_bit() {
  Random& random = sim_.env().random;
  std::vector<std::string> files;
  for (const std::string& name : disk_.list("/data").value()) {
    const std::string path = "/data/" + name;
    if (name.starts_with("store-") && disk_.info(path)->size > 0) {
      // Most of what is on a disk is not in this small file.
      files.insert(files.end(), name.ends_with("-acknowledged") ? 1 : 4, path);
    }
  }
  if (files.empty()) {
    return;  // the power went before there was anything
  }
  const std::string path = files[random.below(files.size())];
  const std::uint64_t bit = random.below(disk_.info(path)->size * 8);
  disk_.flip_bit(path, bit);
  flip_story_ = path + ": bit " + std::to_string(bit);
  const Result<void> started = start_twice();
  flip_ = started ? Flip::harmless : Flip::reported;
  if (!started) {
    flip_story_ += ": " + started.error().to_string();
    check_repaired();
  }
}

Result<void> PowerCutRun::start_twice() {
  for (int start = 0; start < 2; ++start) {
    TRY_ASSIGN(store_, open());
    check(*store_);
    CHECK(codeflare::run(sim_.env().loop, write_once({"w0-0"})));
    CHECK(codeflare::run(sim_.env().loop, store_->close()));
    store_.reset();
  }
  return {};
}

// Acknowledged writes may be gone, but what is there was written, and revisions have moved on.
void PowerCutRun::check_repaired() {
  disk_.restart_process();
  const Result<Repaired> repaired =
      repair_data_directory(disk_, {.directory = "/data", .vfs = disk_.vfs()});
  if (!repaired) {
    flip_story_ += "; " + repaired.error().to_string();
    return;
  }
  flip_ = Flip::repaired;
  Result<std::unique_ptr<Store>> opened = open();
  if (!opened) {
    findings_.push_back("does not open when repaired: " + opened.error().to_string());
    return;
  }
  Store& store = **opened;
  pods_ = store.collection("pods");
  if (store.revision() < revision_ + 1'000'000) {
    findings_.push_back("repaired to revision " + std::to_string(store.revision()) + " after " +
                        std::to_string(revision_));
  }
  for (const auto& [name, known] : known_) {
    if (!known.ever.contains(state_of(store, name))) {
      findings_.push_back(name + " is as nobody wrote it");
    }
  }
  CHECK(codeflare::run(sim_.env().loop, store.close()));
}

Result<std::unique_ptr<Store>> PowerCutRun::open() {
  TRY_ASSIGN(std::unique_ptr<Log> log, open_sqlite_log(disk_, {.directory = "/data",
                                                               .durability = options_.durability,
                                                               .backlog_bytes_max = 64 << 10,
                                                               .vfs = disk_.vfs()}));
  auto opened = codeflare::run(sim_.env().loop,
                               Store::open(sim_.env(), std::move(log), {}, Logger(), metrics_));
  CHECK(opened.has_value());
  return *std::move(opened);
}

void PowerCutRun::live() {
  Random& random = sim_.env().random;
  // Often early, so that starting and recovering are cut too.
  disk_.cut_after(random.below(4) == 0 ? random.below(40) : random.below(1000));
  Result<std::unique_ptr<Store>> opened = open();
  if (!opened) {
    if (!disk_.is_dead()) {
      findings_.push_back("does not open: " + opened.error().to_string());
    }
    ++cuts_while_open_;
    return;
  }
  store_ = *std::move(opened);
  check(*store_);
  Loop& loop = sim_.env().loop;
  TaskGroup writers(loop);
  TaskGroup trouble(loop);
  for (int writer = 0; writer < options_.writers; ++writer) {
    writers.spawn(write_until_dead(writer));
  }
  if (options_.faults) {
    trouble.spawn(make_trouble());
  }
  CHECK(codeflare::run(loop, writers.join()));
  CHECK(codeflare::run(loop, trouble.close()));
  // Orderly now and then, where that makes a difference to what lies on the disk.
  if (!options_.flip || sim_.env().random.below(4) != 0) {
    disk_.cut_after(0);
  }
  CHECK(codeflare::run(loop, store_->close()));
  store_.reset();
}

std::uint64_t PowerCutRun::rebuilds() {
  return static_cast<std::uint64_t>(
      metrics_.counter("apiserver_storage_rebuilds_total", "").value());
}

std::string PowerCutRun::data_of(const Object& object) {
  static constexpr std::array<std::string_view, 1> kPaths = {"data"};
  std::array<std::string_view, 1> slices;
  CHECK(json::scan(object.json(), kPaths, slices).has_value());
  return std::string(slices[0].substr(1, slices[0].size() - 2));
}

PowerCutRun::State PowerCutRun::state_of(Store& store, const std::string& name) {
  ObjectPtr object = store.get(pods_, "", name);
  return object ? State(data_of(*object)) : std::nullopt;
}

void PowerCutRun::check(Store& store) {
  pods_ = store.collection("pods");
  auto show = [](const State& state) { return state ? state->substr(0, 12) : "nothing"; };
  if (store.revision() < revision_) {
    findings_.push_back("revision " + std::to_string(store.revision()) + " after " +
                        std::to_string(revision_) + " was acknowledged");
  }
  for (auto& [name, known] : known_) {
    State state = state_of(store, name);
    if (state != known.acknowledged && std::ranges::count(known.attempted, state) == 0) {
      findings_.push_back(name + " is " + show(state) + ", acknowledged was " +
                          show(known.acknowledged));
    }
    known.acknowledged = state;
    known.attempted.clear();
  }
  for (int writer = 0; writer < options_.writers; ++writer) {
    std::string prefix = "w" + std::to_string(writer);
    if (state_of(store, prefix + "-left") != state_of(store, prefix + "-right")) {
      findings_.push_back(prefix + ": half a transaction");
    }
  }
  // Names nobody wrote.
  if (store.size(pods_) > known_.size()) {
    findings_.push_back("more objects than were written");
  }
}

Write PowerCutRun::random_write(const std::string& name, const std::string& data) {
  Write write{.collection = pods_, .name = name};
  ObjectPtr there = store_->get(pods_, "", name);
  if (there) {
    // The data decides, so that both halves of a transaction do the same.
    bool removes = data.size() % 5 == 0;
    write.op = removes ? Write::Op::remove : Write::Op::update;
    write.expected = there->revision();
  }
  if (write.op != Write::Op::remove) {
    write.text = text_of(name, data);
  }
  return write;
}

Task<bool> PowerCutRun::write_once(std::vector<std::string> names) {
  Random& random = sim_.env().random;
  std::string data = std::to_string(++counter_) + std::string(random.below(3000), 'x');
  std::vector<Write> writes;
  std::vector<State> states;
  for (const std::string& name : names) {
    writes.push_back(random_write(name, data));
    states.push_back(writes.back().op == Write::Op::remove ? State() : State(data));
    known_[name].attempted.push_back(states.back());
    known_[name].ever.insert(states.back());
  }
  Result<std::vector<ObjectPtr>> done = co_await store_->commit(std::move(writes));
  if (!done) {
    if (done.error().code != ErrorCode::unavailable) {
      findings_.push_back("a write failed: " + done.error().to_string());
      co_return false;
    }
    co_return !disk_.is_dead() && (co_await sleep_for(milliseconds(random.below(100)))).has_value();
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    known_[names[i]].acknowledged = states[i];
    known_[names[i]].attempted.clear();
    revision_ = std::max(revision_, (*done)[i]->revision());
    ++acknowledged_;
  }
  co_return true;
}

Task<void> PowerCutRun::write_until_dead(int writer) {
  std::string prefix = "w" + std::to_string(writer);
  for (int i = 0; i < kWritesMax; ++i) {
    std::uint64_t dice = sim_.env().random.below(kKeysPerWriter + 1);
    std::vector<std::string> names{prefix + "-left", prefix + "-right"};
    if (dice < kKeysPerWriter) {
      names = {prefix + "-" + std::to_string(dice)};
    }
    bool go_on = co_await write_once(std::move(names));
    if (!go_on) {
      co_return;
    }
  }
}

Task<void> PowerCutRun::make_trouble() {
  Random& random = sim_.env().random;
  while ((co_await sleep_for(milliseconds(random.below(60)))).has_value()) {
    switch (random.below(4)) {
      case 0:
        disk_.fail_syncs(1 + static_cast<int>(random.below(3)));
        break;
      case 1:
        disk_.set_full(true);
        break;
      default:
        disk_.set_full(false);
        break;
    }
  }
  disk_.set_full(false);
}

}  // namespace codeflare::apiserver
