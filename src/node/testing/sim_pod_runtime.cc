#include "node/testing/sim_pod_runtime.h"

#include "base/async/sleep.h"
#include "base/check.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace codeflare::node::testing {

namespace {

constexpr Duration kReaction = std::chrono::milliseconds(200);

int number(const ContainerSpec& spec, std::size_t index, int otherwise) {
  int value = otherwise;
  if (spec.command.size() > index) {
    const std::string& text = spec.command[index];
    std::from_chars(text.data(), text.data() + text.size(), value);
  }
  return value;
}

}  // namespace

SimPodRuntime::~SimPodRuntime() {
  CHECK(run(env_.loop, group_.close()));
}

Task<Result<std::vector<PodRuntime::Found>>> SimPodRuntime::adopt() {
  std::vector<Found> found;
  for (const auto& [uid, pod] : pods_) {
    found.push_back({.spec = pod.sandbox.spec, .alive = pod.view.alive});
  }
  if (on_adopt) {
    on_adopt();
  }
  co_return found;
}

const SandboxView* SimPodRuntime::find(const std::string& uid) const {
  const auto found = pods_.find(uid);
  return found == pods_.end() ? nullptr : &found->second.view;
}

Task<Result<void>> SimPodRuntime::make(NewSandbox sandbox) {
  const std::string uid = sandbox.spec.uid;
  Pod& pod = pods_[uid];
  CHECK(!pod.view.alive, "two keepers of one pod");
  pod.sandbox = std::move(sandbox);
  pod.view.alive = true;
  ++pod.view.state.sandbox;
  tell(uid);
  co_return Result<void>();
}

Task<Result<void>> SimPodRuntime::start(std::string uid, ContainerSpec spec) {
  Pod& pod = pods_[uid];
  if (!pod.view.alive) {
    co_return fail(unavailable("the pod has no keeper"));
  }
  const RunRecord* last = pod.view.state.last(spec.name);
  if (last != nullptr && (last->attempt >= spec.attempt || !last->exited())) {
    co_return fail(failed_precondition("it was started already"));
  }
  const bool missing = !spec.command.empty() && spec.command[0] == "missing";
  pod.view.state.runs.push_back({.name = spec.name,
                                 .attempt = spec.attempt,
                                 .sandbox = pod.view.state.sandbox,
                                 .state = missing ? "starting" : "running",
                                 .started = missing ? 0 : now(),
                                 .backoff_ms = spec.backoff_ms});
  pod.view.state.forget_old();
  pod.started.push_back(spec);
  tell(uid);
  group_.spawn(play(std::move(uid), std::move(spec)));
  co_return Result<void>();
}

Task<void> SimPodRuntime::play(std::string uid, ContainerSpec spec) {
  const std::string what = spec.command.empty() ? "" : spec.command[0];
  if (what == "sleep") {
    if (co_await sleep_for(std::chrono::seconds(number(spec, 1, 1)))) {
      finish(uid, spec.name, spec.attempt, number(spec, 2, 0), 0);
    }
  } else if (what == "exit") {
    finish(uid, spec.name, spec.attempt, number(spec, 1, 0), 0);
  } else if (what == "missing") {
    if (const auto found = pods_.find(uid); found != pods_.end()) {
      if (RunRecord* run = found->second.view.state.find(spec.name, spec.attempt)) {
        run->error = "exec: \"missing\": executable file not found in $PATH";
      }
    }
    finish(uid, spec.name, spec.attempt, 128, 0);
  }
}

void SimPodRuntime::finish(const std::string& uid, const std::string& container,
                           std::int32_t attempt, std::int32_t code, std::int32_t signal) {
  const auto found = pods_.find(uid);
  RunRecord* run =
      found == pods_.end() ? nullptr : found->second.view.state.find(container, attempt);
  if (run == nullptr || run->exited()) {
    return;
  }
  run->state = "exited";
  run->finished = now();
  run->exit_code = code;
  run->signal = signal;
  tell(uid);
}

Task<void> SimPodRuntime::end_soon(std::string uid, std::string container, std::int32_t attempt,
                                   bool polite) {
  if (co_await sleep_for(kReaction)) {
    finish(uid, container, attempt, polite ? 0 : 143, polite ? 0 : 15);
  }
}

Task<Result<void>> SimPodRuntime::ask_to_end(std::string uid, std::string container) {
  const auto found = pods_.find(uid);
  if (found == pods_.end() || !found->second.view.alive || deaf) {
    co_return fail(unavailable("the pod has no keeper"));
  }
  const RunRecord* last = found->second.view.state.last(container);
  if (last == nullptr || last->exited()) {
    co_return Result<void>();
  }
  const std::int32_t attempt = last->attempt;
  RunRecord* run = found->second.view.state.find(container, attempt);
  if (run->asked_to_end == 0) {
    run->asked_to_end = now();
  }
  const auto spec = std::ranges::find(found->second.started, container, &ContainerSpec::name);
  if (spec->command.at(0) != "stubborn") {
    group_.spawn(end_soon(uid, container, attempt, spec->command.at(0) == "polite"));
  }
  tell(uid);
  co_return Result<void>();
}

Task<Result<void>> SimPodRuntime::cut_off(std::string uid, std::string container, Ask ask) {
  const auto found = pods_.find(uid);
  if (found != pods_.end() && found->second.view.alive && !deaf) {
    const RunRecord* last = found->second.view.state.last(container);
    if (last != nullptr && !last->exited()) {
      found->second.view.state.find(container, last->attempt)->cut_off = true;
    }
  }
  co_return ask == Ask::now ? co_await ask_to_end(std::move(uid), std::move(container))
                            : Result<void>();
}

Task<Result<void>> SimPodRuntime::kill(std::string uid, std::string container) {
  const auto found = pods_.find(uid);
  if (deaf) {
    co_return fail(unavailable("the pod has no keeper"));
  }
  if (found != pods_.end()) {
    if (const RunRecord* last = found->second.view.state.last(container)) {
      finish(uid, container, last->attempt, 137, 9);
    }
  }
  co_return Result<void>();
}

Task<Result<void>> SimPodRuntime::write_volumes(std::string uid, std::vector<VolumePlan> volumes) {
  const auto found = pods_.find(uid);
  if (found == pods_.end()) {
    co_return fail(not_found("no such pod"));
  }
  for (VolumePlan& volume : volumes) {
    const auto old =
        std::ranges::find(found->second.sandbox.volumes, volume.name, &VolumePlan::name);
    if (old != found->second.sandbox.volumes.end()) {
      *old = std::move(volume);
    }
  }
  co_return Result<void>();
}

Task<Result<PodUsage>> SimPodRuntime::usage(std::string uid) {
  const auto found = pods_.find(uid);
  if (found == pods_.end()) {
    co_return fail(not_found("no such pod"));
  }
  const std::string name = found->second.sandbox.spec.name;
  if (const auto time = looking.find(name); time != looking.end()) {
    CO_TRY(co_await sleep_for(time->second));
  }
  const auto known = usages.find(name);
  co_return known == usages.end() ? PodUsage() : known->second;
}

Task<Result<void>> SimPodRuntime::close(std::string uid) {
  const auto found = pods_.find(uid);
  if (found == pods_.end() || !found->second.view.alive) {
    co_return Result<void>();
  }
  if (!why_not_closed.empty()) {
    co_return fail(unavailable(why_not_closed));
  }
  const std::vector<RunRecord> runs = found->second.view.state.runs;
  for (const RunRecord& run : runs) {
    finish(uid, run.name, run.attempt, 137, 9);
  }
  if (tidying > Duration::zero()) {
    CO_TRY(co_await sleep_for(tidying));
  }
  if (const auto still = pods_.find(uid); still != pods_.end()) {
    still->second.view.alive = false;
    tell(uid);
  }
  co_return Result<void>();
}

Task<Result<void>> SimPodRuntime::remove(std::string uid) {
  CO_TRY(co_await close(uid));
  if (tidying > Duration::zero()) {
    CO_TRY(co_await sleep_for(tidying));
  }
  pods_.erase(uid);
  co_return Result<void>();
}

std::string SimPodRuntime::log_directory(const std::string& uid,
                                         const std::string& container) const {
  return "/pods/" + uid + "/logs/" + container;
}

void SimPodRuntime::lose_keeper(const std::string& uid) {
  Pod& pod = pods_.at(uid);
  pod.view.alive = false;
  pod.view.state.lose(now());
  tell(uid);
}

void SimPodRuntime::lose_all() {
  for (const auto& [uid, pod] : pods_) {
    lose_keeper(uid);
  }
}

std::size_t SimPodRuntime::running() const {
  std::size_t count = 0;
  for (const auto& [uid, pod] : pods_) {
    count += static_cast<std::size_t>(std::ranges::count_if(
        pod.view.state.runs, [](const RunRecord& run) { return !run.exited(); }));
  }
  return count;
}

std::vector<ContainerSpec> SimPodRuntime::started_in(const std::string& pod_name) const {
  for (const auto& [uid, pod] : pods_) {
    if (pod.sandbox.spec.name == pod_name) {
      return pod.started;
    }
  }
  return {};
}

Result<std::string> SimLogFiles::read(const std::string& path, std::uint64_t offset,
                                      std::size_t bytes_max) {
  TRY_ASSIGN(const std::string text, files_.read(path));
  return offset >= text.size() ? std::string()
                               : text.substr(static_cast<std::size_t>(offset), bytes_max);
}

}  // namespace codeflare::node::testing
