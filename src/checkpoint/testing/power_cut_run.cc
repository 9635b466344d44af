#include "checkpoint/testing/power_cut_run.h"

#include "base/async/task_group.h"
#include "checkpoint/refusal.h"

#include <algorithm>

namespace codeflare::checkpoint {

namespace {

const JobKey kJobs[] = {{"team", "a"}, {"team", "b"}, {"other", "a"}};

// The content of a part names its owner: a part of another checkpoint cannot pass.
std::string content_of(const JobKey& job, const Checkpoint& checkpoint, std::string_view part) {
  std::string line = job.text() + " " + std::to_string(checkpoint.id) + " " +
                     std::to_string(checkpoint.step) + " " + std::string(part) + "\n";
  std::string text;
  for (std::int64_t n = 0; n <= checkpoint.step % 50; ++n) {
    text += line;
  }
  return text;
}

}  // namespace

PowerCutRun::PowerCutRun(Options options)
    : options_(options),
      world_({.seed = options.seed, .shuffle = true}),
      disk_(world_.env().files, world_.env().random) {
  if (options_.ignore_syncs) {
    disk_.ignore_syncs();
  }
}

Env PowerCutRun::env() {
  const Env plain = world_.env();
  return {plain.loop,     plain.clock,     plain.random,  disk_,
          plain.launcher, plain.variables, plain.blocking};
}

void PowerCutRun::found(std::string what) {
  if (finding_.empty()) {
    finding_ = std::move(what);
  }
}

std::string PowerCutRun::run() {
  for (int life = 0; life < options_.lives && finding_.empty(); ++life) {
    codeflare::run(world_.env().loop, live());
  }
  if (finding_.empty()) {
    disk_.cut_after(UINT64_MAX);
    codeflare::run(world_.env().loop, check());
  }
  return finding_;
}

// From a start to a cut. The power may go during the start already.
Task<void> PowerCutRun::live() {
  disk_.cut_after(20 + env().random.below(400));
  Result<std::unique_ptr<Store>> store =
      co_await Store::open(env(), {.directory = "/data"}, Logger());
  if (store) {
    store_ = *std::move(store);
    co_await check();
    TaskGroup writers(env().loop);
    for (const JobKey& job : kJobs) {
      writers.spawn(write(job, 12));
      writers.spawn(write(job, 12));
    }
    co_await writers.join();
    co_await store_->close();
    store_.reset();
  } else if (!disk_.is_dead()) {
    found("the store does not open: " + store.error().to_string());
  }
  store = fail(cancelled());
  cuts_ += disk_.is_dead() ? 1 : 0;
  disk_.tear();
  world_.crash_files();
  disk_.revive();
}

Task<void> PowerCutRun::write(JobKey job, int saves) {
  for (int n = 0; n < saves && !disk_.is_dead(); ++n) {
    Known& known = known_[job];
    const std::int64_t generation = known.generation + (env().random.below(4) == 0 ? 1 : 0);
    const std::int64_t step = static_cast<std::int64_t>(env().random.below(1'000'000));
    static_cast<void>(co_await save(job, generation, step));
  }
}

Task<Result<void>> PowerCutRun::save(JobKey job, std::int64_t generation, std::int64_t step) {
  CO_TRY_ASSIGN(const Store::Begun begun,
                co_await store_->begin(job, {.generation = generation, .step = step}));
  Known& known = known_[job];
  known.generation = std::max(known.generation, generation);
  if (begun.is_new && !known.ids.insert(begun.checkpoint->id).second) {
    found("id " + std::to_string(begun.checkpoint->id) + " of " + job.text() + " given twice");
  }
  const Checkpoint checkpoint = *begun.checkpoint;
  for (const std::string part : {"model", "optimizer"}) {
    const std::string text = content_of(job, checkpoint, part);
    const std::size_t half = env().random.below(text.size());
    if (half > 0) {
      CO_TRY(co_await store_->put(job, checkpoint.id, {.part = part, .offset = half},
                                  net::body_of(text.substr(half))));
    }
    if (env().random.below(4) == 0) {  // replaced below
      CO_TRY(co_await store_->put(job, checkpoint.id, {.part = part}, net::body_of("wrong")));
    }
    const std::string first = half > 0 ? text.substr(0, half) : text;
    CO_TRY(co_await store_->put(job, checkpoint.id, {.part = part}, net::body_of(first)));
  }
  if (env().random.below(8) == 0) {
    CO_TRY(co_await store_->abort(job, checkpoint.id));
    co_return Result<void>();
  }
  known_[job].attempted.insert({generation, step});
  CO_TRY(co_await store_->commit(job, checkpoint.id, {}));
  ++acknowledged_;
  known_[job].committed = std::max(known_[job].committed, Order{generation, step});
  co_return Result<void>();
}

Task<void> PowerCutRun::check() {
  const bool opened_here = store_ == nullptr;
  if (opened_here) {
    Result<std::unique_ptr<Store>> store =
        co_await Store::open(env(), {.directory = "/data"}, Logger());
    if (!store) {
      found("the store does not open: " + store.error().to_string());
      co_return;
    }
    store_ = *std::move(store);
  }
  for (const JobKey& job : kJobs) {
    co_await check_job(job);
  }
  if (opened_here) {
    co_await store_->close();
    store_.reset();
  }
}

Task<void> PowerCutRun::check_job(JobKey job) {
  const Known known = known_[job];
  const Result<CheckpointPtr> latest = store_->latest(job);
  const Order newest = latest ? Order{(*latest)->generation, (*latest)->step} : Order{-1, -1};
  if (newest < known.committed) {
    found(job.text() + ": an acknowledged checkpoint is gone");
  }
  for (const CheckpointPtr& checkpoint : store_->list(job, SIZE_MAX)) {
    if (!known.attempted.contains({checkpoint->generation, checkpoint->step})) {
      found(job.text() + ": a checkpoint is visible that nobody committed");
    }
    co_await check_checkpoint(job, checkpoint);
  }
  const std::int64_t old = known.generation - 1;
  if (old >= 0 && !disk_.is_dead()) {
    const auto refused = co_await store_->begin(job, {.generation = old, .step = 1});
    if (refused) {
      found(job.text() + ": an old generation may save again");
    }
  }
}

Task<void> PowerCutRun::check_checkpoint(JobKey job, CheckpointPtr checkpoint) {
  for (const std::string part : {"model", "optimizer"}) {
    Result<Store::Reading> reading = store_->read(job, checkpoint->id, part, "");
    if (!reading) {
      found(job.text() + ": " + reading.error().to_string());
      co_return;
    }
    const Result<std::string> text = co_await net::read_all(std::move(reading->body), 1u << 20);
    if (!disk_.is_dead() && text.value_or("") != content_of(job, *checkpoint, part)) {
      found(job.text() + ": part " + part + " of checkpoint " + std::to_string(checkpoint->id) +
            " is not as it was saved");
    }
  }
}

}  // namespace codeflare::checkpoint
