// The load of `./dev bench queue`, one JSON line at the end:
//   queue_load run FILE            submits the workloads of FILE (Kueue's generator.yaml) as
//                                  AppWrappers, plays the nodes, until all have finished
//   queue_load observe FILE        watches Kueue's Workloads while Kueue's own runner does that
//   queue_load bare FILE CLIENTS   the writes of `run`, without a controller
// The server is the one of KUBECONFIG. `cpu_seconds` is this program's own.

#include "base/async/task_group.h"
#include "base/env/real_env.h"
#include "bench/load.h"
#include "bench/queue_program/objects.h"
#include "bench/queue_program/runner.h"
#include "json/write.h"
#include "kube/watcher.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <vector>

using namespace codeflare;
using namespace codeflare::bench;

namespace {

// --- Kueue ---

bool is_true(const json::Value& object, std::string_view condition) {
  const json::Value* conditions = object.get({"status", "conditions"});
  for (const json::Value& each :
       conditions == nullptr ? std::span<const json::Value>() : conditions->items()) {
    if (each.string_or_empty("type") == condition) {
      return each.string_or_empty("status") == "True";
    }
  }
  return false;
}

void workload_seen(const kube::Object& workload, Record& record) {
  const kube::ObjectKey key = workload.key();
  record.created(key);
  const Result<json::Document> document = workload.parse();
  if (!document) {
    return;
  }
  if (is_true(document->root, "Finished")) {
    record.finished(key);
  } else if (is_true(document->root, "Evicted")) {
    record.evicted(key);
  } else if (is_true(document->root, "Admitted")) {
    record.admitted(key);
  }
}

Task<Result<std::string>> observe(Env env, kube::Client& client, Scenario scenario) {
  Record record(env.clock);
  kube::Watcher watcher(client, kWorkloads, {});
  while (record.finished_count() < scenario.workloads()) {
    CO_TRY_ASSIGN(kube::WatcherEvent event, co_await watcher.next());
    if (event.type == kube::WatcherEvent::Type::init_object ||
        event.type == kube::WatcherEvent::Type::applied) {
      workload_seen(*event.object, record);
    }
  }
  co_return record.report();
}

// --- ours ---

Task<Result<std::string>> submit(Env env, kube::Client& client, Scenario scenario) {
  Runner runner(env, client, std::move(scenario));
  Result<void> ended = co_await runner.run();
  // The report until then helps to understand why.
  std::string report = runner.record().report();
  if (!ended) {
    std::fprintf(stderr, "%s\n", report.c_str());
    co_return fail(std::move(ended).error());
  }
  co_return report;
}

// --- nobody ---

struct Bare {
  kube::Client& client;
  const Scenario& scenario;
  std::int64_t next = 0;
  std::int64_t writes = 0;
  std::optional<Error> failure{};
};

// The writes of one workload that had to wait, in their order.
Task<Result<void>> write_one(Bare& bare, std::int64_t number) {
  const WorkClass& work_class = bare.scenario.cohorts[0].queues[0].work[0].classes[0];
  const kube::ObjectKey key{"default", work_class.name + "-" + std::to_string(number)};
  const kube::WriteOptions status{.subresource = "status"};
  CO_TRY_ASSIGN(kube::ObjectRef wrapper,
                co_await bare.client.create(kAppWrappers, key.ns, app_wrapper(key, work_class)));
  for (int i = 0; i < kStatusWrites; ++i) {
    if (i == 2) {  // between intent and dispatch
      CO_TRY(co_await bare.client.create(kRuns, key.ns, run_object(key, work_class)));
    }
    if (i == 3) {
      CO_TRY(
          co_await bare.client.patch(kRuns, key, kube::PatchKind::merge, run_complete(), status));
    }
    CO_TRY_ASSIGN(
        wrapper, co_await bare.client.update(kAppWrappers, key, status_write(i, *wrapper), status));
  }
  bare.writes += kStatusWrites + 3;
  co_return Result<void>();
}

Task<void> write_many(Bare& bare) {
  while (!bare.failure && bare.next < bare.scenario.workloads()) {
    Result<void> written = co_await write_one(bare, bare.next++);
    if (!written) {
      bare.failure = std::move(written).error();
    }
  }
}

Task<Result<std::string>> write_bare(Env env, kube::Client& client, Scenario scenario,
                                     std::int64_t clients) {
  Bare bare{.client = client, .scenario = scenario};
  const Instant began = env.clock.now();
  TaskGroup group(env.loop);
  for (std::int64_t i = 0; i < clients; ++i) {
    group.spawn(write_many(bare));
  }
  co_await group.join();
  if (bare.failure) {
    co_return fail(*std::move(bare.failure));
  }
  std::string text;
  json::Writer w(text);
  const std::chrono::duration<double> took = env.clock.now() - began;
  w.begin_object().key("writes").integer(bare.writes);
  w.key("wall_seconds").number(took.count()).end_object();
  co_return text;
}

Task<Result<std::string>> load(Env env, std::vector<std::string> words, Scenario scenario) {
  CO_TRY_ASSIGN(std::unique_ptr<net::HttpClient> connections, bench::connect(env));
  kube::Client client(env, *connections, {.user_agent = "queue-load"});
  if (words[0] == "run") {
    co_return co_await submit(env, client, std::move(scenario));
  }
  if (words[0] == "observe") {
    co_return co_await observe(env, client, std::move(scenario));
  }
  if (words[0] == "bare") {
    const std::int64_t clients = words.size() > 2 ? std::atoll(words[2].c_str()) : 32;
    co_return co_await write_bare(env, client, std::move(scenario), clients);
  }
  co_return fail(invalid_argument("no such load: " + words[0]));
}

// The JSON line.
Task<Result<std::string>> measure(Env env, std::vector<std::string> words) {
  CO_TRY_ASSIGN(const std::string yaml, env.files.read(words[1]));
  CO_TRY_ASSIGN(Scenario scenario, read_scenario(yaml));
  CO_TRY_ASSIGN(const std::string result, co_await load(env, std::move(words), scenario));
  std::string line;
  json::Writer w(line);
  w.begin_object().key("result").raw(result);
  w.key("workloads").integer(scenario.workloads());
  // As fast as the quota allows, if nothing ever waited for anything else.
  w.key("least_seconds").number(scenario.work() / static_cast<double>(scenario.nominal()));
  w.key("cpu_seconds").number(cpu_seconds()).end_object();
  co_return line;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("usage: queue_load run|observe|bare FILE [CLIENTS]\n", stderr);
    return 2;
  }
  RealEnv world;
  StopSource stop;
  world.on_signals({SIGINT, SIGTERM}, [&](int) { stop.request_stop(); });
  const std::optional<Result<std::string>> result =
      run(world.env().loop, measure(world.env(), {argv + 1, argv + argc}), stop.token());
  if (!result || !*result) {
    std::fprintf(stderr, "queue_load: %s\n",
                 result ? result->error().to_string().c_str() : "nothing left to wait for");
    return 1;
  }
  std::puts((*result)->c_str());
  return 0;
}
