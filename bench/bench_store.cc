// Measures the API server's store: durable commits with 1 and 64 writers beside a bare loop of
// write and fdatasync on the same disk, commits in memory, memory per object, and reads.
//   bench_store [Google Benchmark's options]

#include "apiserver/store/memory_log.h"
#include "apiserver/store/sqlite_log.h"
#include "apiserver/store/store.h"
#include "base/async/task_group.h"
#include "base/env/real_env.h"

#include <benchmark/benchmark.h>

#include <cstdint>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <malloc.h>
#include <memory>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace codeflare::apiserver {
namespace {

constexpr std::size_t kTextBytes = 2048;

std::string pod_text(const std::string& name) {
  std::string text = R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":")" + name +
                     R"(","namespace":"default","uid":"uid-)" + name +
                     R"(","labels":{"app":"bench"}},"spec":{"filler":")";
  return text + std::string(kTextBytes - text.size() - 3, 'x') + "\"}}";
}

// A store on the real world, in a directory of its own.
class World {
 public:
  explicit World(bool durable) {
    directory_ =
        (std::filesystem::temp_directory_path() / ("codeflare-" + env().random.uuid())).string();
    std::unique_ptr<Log> log = open_memory_log();
    if (durable) {
      log = open_sqlite_log(env().files, {.directory = directory_}).value();
    }
    store_ =
        run(env().loop, Store::open(env(), std::move(log), {}, Logger(), metrics_)).value().value();
    pods_ = store_->collection("pods");
  }
  ~World() { close(); }
  void close() {
    if (store_) {
      CHECK(run(env().loop, store_->close()));
      store_.reset();
      std::filesystem::remove_all(directory_);
    }
  }

  Env env() { return real_.env(); }
  Store& store() { return *store_; }
  CollectionId pods() const { return pods_; }
  const MetricsRegistry& metrics() const { return metrics_; }

  Task<void> create(int count) {
    for (int i = 0; i < count; ++i) {
      std::string name = "pod-" + std::to_string(++names_);
      Write write{.collection = pods_, .ns = "default", .name = name, .text = pod_text(name)};
      Result<ObjectPtr> done = co_await store_->commit(std::move(write));
      CHECK(done.has_value());
    }
  }
  void create_with(int writers, int each) {
    TaskGroup group(env().loop);
    for (int i = 0; i < writers; ++i) {
      group.spawn(create(each));
    }
    CHECK(run(env().loop, group.join()));
  }
  // In transactions of a hundred.
  void update_all() {
    std::vector<Write> writes;
    auto flush = [&] {
      CHECK(run(env().loop, store_->commit(std::exchange(writes, {})))->has_value());
    };
    std::vector<ObjectPtr> all;
    CHECK(store_->visit(pods_, {}, [&](const ObjectPtr& pod) {
      all.push_back(pod);
      return true;
    }));
    for (ObjectPtr& pod : all) {
      writes.push_back({.op = Write::Op::update,
                        .collection = pods_,
                        .ns = std::string(pod->ns()),
                        .name = std::string(pod->name()),
                        .text = std::string(pod->json()),
                        .expected = pod->revision()});
      pod.reset();
      if (writes.size() == 100) {
        flush();
      }
    }
    flush();
  }

 private:
  RealEnv real_;
  std::string directory_;
  MetricsRegistry metrics_;
  std::unique_ptr<Store> store_;
  CollectionId pods_ = 0;
  std::uint64_t names_ = 0;
};

void bare_write_and_sync(benchmark::State& state) {
  std::string path =
      (std::filesystem::temp_directory_path() / ("codeflare-bare-" + std::to_string(::getpid())))
          .string();
  int file = ::open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
  std::string text = pod_text("bare");
  for (auto _ : state) {
    CHECK(::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    CHECK(::fdatasync(file) == 0);
  }
  ::close(file);
  std::filesystem::remove(path);
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(bare_write_and_sync)->UseRealTime()->MinTime(2);

void durable_commits(benchmark::State& state) {
  World world(true);
  int writers = static_cast<int>(state.range(0));
  for (auto _ : state) {
    world.create_with(writers, 10);
  }
  state.SetItemsProcessed(state.iterations() * writers * 10);
}
BENCHMARK(durable_commits)->ArgName("writers")->Arg(1)->Arg(64)->UseRealTime()->MinTime(2);

void memory_commits(benchmark::State& state) {
  World world(false);
  int writers = static_cast<int>(state.range(0));
  for (auto _ : state) {
    world.create_with(writers, 10);
  }
  state.SetItemsProcessed(state.iterations() * writers * 10);
}
BENCHMARK(memory_commits)->ArgName("writers")->Arg(64)->UseRealTime()->Iterations(200);

// The work of a first start.
void open_in_an_empty_directory(benchmark::State& state) {
  for (auto _ : state) {
    World world(true);
    state.PauseTiming();
    world.close();
    state.ResumeTiming();
  }
}
BENCHMARK(open_in_an_empty_directory)->Unit(benchmark::kMillisecond)->UseRealTime();

double resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  double pages = 0;
  statm >> pages >> pages;
  return pages * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

// One durable server with 10,000 pods of 2 KiB, then three updates of each.
void memory_of_ten_thousand_pods(benchmark::State& state) {
  constexpr int kPods = 10'000;
  for (auto _ : state) {
    ::malloc_trim(0);
    double before = resident_bytes();
    World world(true);
    world.create_with(100, kPods / 100);
    double created = resident_bytes();
    state.counters["bytes_per_pod"] = (created - before) / kPods;
    state.counters["resident_MB"] = created / 1e6;
    for (int round = 0; round < 3; ++round) {
      world.update_all();
    }
    state.counters["resident_updated_MB"] = resident_bytes() / 1e6;
  }
}
BENCHMARK(memory_of_ten_thousand_pods)->Unit(benchmark::kMillisecond)->Iterations(1);

void list_ten_thousand(benchmark::State& state) {
  World world(false);
  world.create_with(100, 100);
  Store::Range range;
  if (state.range(0) != 0) {
    range.at = world.store().revision() - static_cast<Revision>(state.range(0));
  }
  for (auto _ : state) {
    std::size_t bytes = 0;
    auto seen = world.store().visit(world.pods(), range, [&](const ObjectPtr& pod) {
      bytes += pod->json().size();
      return true;
    });
    CHECK(seen.has_value());
    benchmark::DoNotOptimize(bytes);
  }
}
BENCHMARK(list_ten_thousand)->ArgName("undone")->Arg(0)->Arg(1000)->Unit(benchmark::kMicrosecond);

void make_objects(benchmark::State& state) {
  std::string text = pod_text("pod");
  Revision revision = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(make_object({.text = text, .revision = ++revision}));
  }
}
BENCHMARK(make_objects);

}  // namespace
}  // namespace codeflare::apiserver

BENCHMARK_MAIN();
