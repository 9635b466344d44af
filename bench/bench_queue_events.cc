// The cost of one event for the queue while many AppWrappers wait: each benchmark is one event and
// the step that follows it.
#include "queue/queue.h"
#include "queue/testing/objects.h"

#include <benchmark/benchmark.h>

#include <string>

namespace codeflare::queue {
namespace {

using namespace testing;  // NOLINT

constexpr int kNodes = 1000;

// `waiting` AppWrappers of 50 shapes that no node can hold now.
Queue crowded(int waiting, Binds binds = Binds::nothing) {
  Queue queue(QueueOptions{.binds = binds});
  for (int i = 0; i < kNodes; ++i) {
    queue.upsert_node(node("n" + std::to_string(i), resources("64", "256Gi", "8")));
  }
  for (int i = 0; i < waiting; ++i) {
    const std::string cpu = std::to_string(65 + i % 50);
    CHECK(queue.upsert(wrapper("w" + std::to_string(i), {{2, resources(cpu, "4Gi", "1")}}), kNow)
              .has_value());
  }
  while (queue.step(kNow).more) {
  }
  return queue;
}

void submit_and_start(benchmark::State& state) {
  Queue queue = crowded(static_cast<int>(state.range(0)));
  int i = 0;
  for (auto _ : state) {
    const std::string name = "new" + std::to_string(i++);
    CHECK(queue.upsert(wrapper(name, {{1, resources("1", "1Gi")}}), kNow).has_value());
    benchmark::DoNotOptimize(queue.step(kNow));
    queue.remove("uid-" + name);
    queue.forget("uid-" + name);
  }
}

void submit_misfit(benchmark::State& state) {
  Queue queue = crowded(static_cast<int>(state.range(0)));
  int i = 0;
  for (auto _ : state) {
    const std::string name = "new" + std::to_string(i++);
    CHECK(queue.upsert(wrapper(name, {{2, resources("70", "4Gi", "1")}}), kNow).has_value());
    benchmark::DoNotOptimize(queue.step(kNow));
    queue.forget("uid-" + name);
  }
}

void foreign_pod(benchmark::State& state) {
  Queue queue = crowded(static_cast<int>(state.range(0)));
  int i = 0;
  for (auto _ : state) {
    const std::string name = "p" + std::to_string(i % 5000);
    queue.upsert_pod(pod(name, resources("1", "1Gi"), "n" + std::to_string(i % kNodes)));
    benchmark::DoNotOptimize(queue.step(kNow));
    if (i >= 4000) {
      queue.remove_pod({"team-a", "p" + std::to_string((i - 4000) % 5000)}, "");
    }
    ++i;
  }
}

void node_heartbeat(benchmark::State& state) {
  Queue queue = crowded(static_cast<int>(state.range(0)));
  const auto same = node("n7", resources("64", "256Gi", "8"));
  for (auto _ : state) {
    queue.upsert_node(same);
    benchmark::DoNotOptimize(queue.step(kNow));
  }
}

void bind_a_pod(benchmark::State& state) {
  Queue queue = crowded(static_cast<int>(state.range(0)), Binds::all);
  int i = 0;
  for (auto _ : state) {
    const std::string name = "p" + std::to_string(i++);
    queue.upsert_pod(pod(name, resources("1", "1Gi")));
    const StepOutcome outcome = queue.step(kNow);
    CHECK(outcome.bindings.size() == 1);
    queue.upsert_pod(pod(name, resources("1", "1Gi"), outcome.bindings[0].node));
    queue.remove_pod({"team-a", name}, "uid-" + name);
  }
}

void sentence(benchmark::State& state) {
  const Queue queue = crowded(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    benchmark::DoNotOptimize(queue.sentence("uid-w5", kNow));
  }
}

BENCHMARK(submit_and_start)->Arg(0)->Arg(1000)->Arg(10000);
BENCHMARK(submit_misfit)->Arg(0)->Arg(1000)->Arg(10000);
BENCHMARK(foreign_pod)->Arg(0)->Arg(1000)->Arg(10000);
BENCHMARK(node_heartbeat)->Arg(0)->Arg(10000);
BENCHMARK(bind_a_pod)->Arg(0)->Arg(10000);
BENCHMARK(sentence)->Arg(10)->Arg(10000);

}  // namespace
}  // namespace codeflare::queue

BENCHMARK_MAIN();
