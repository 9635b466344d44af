// Sends hostile requests to an API server in this process, one at a time, and reports what they
// cost:
//   hostile_load MINUTES [SEED [NAME]]
// Bodies grow up to the limit while a case stays cheap. A case whose cost grows faster than its
// body stands out in the column `growth`, the power of the size that the cost grew with: 1 is
// linear, 2 quadratic. NAME: only the cases whose name contains it.

#include "apiserver/server/api_server.h"
#include "base/env/real_env.h"
#include "base/log.h"
#include "base/metrics.h"
#include "bench/apiserver_program/hostile_cases.h"
#include "bench/load.h"
#include "json/scan.h"
#include "net/in_process.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace codeflare;
using bench::HostileCall;
using bench::HostileCase;
using bench::HostileCases;

namespace {

constexpr std::size_t kBytesFirst = std::size_t{48} << 10;
constexpr std::size_t kBytesMax = (std::size_t{3} << 20) - 4096;  // the server's limit is 3 MiB
constexpr std::size_t kAnswerBytesMax = std::size_t{32} << 20;    // with managedFields
constexpr double kCpuEnough = 1.0;  // seconds: no larger body is tried
constexpr Duration kStepMax = std::chrono::milliseconds(50);
constexpr double kStepSecondsMax = 0.05;
constexpr std::size_t kRows = 40;

struct Cost {
  std::string name;
  std::size_t bytes = 0;
  int status = 0;
  double cpu_seconds = 0;
  double growth = 0;              // the power of the size that the cost grew with
  double worst_step_seconds = 0;  // of CPU: others may run on the machine too
  double per_kibibyte() const { return cpu_seconds / (static_cast<double>(bytes) / 1024); }
};

struct Bench {
  Env env;
  net::HttpService& service;
  double& worst_step;  // since it was reset
  std::vector<Cost> costs{};
  std::size_t requests = 0;
  std::size_t slow_steps = 0;
};

Task<std::string> uid_of(Bench& bench, std::string target) {
  net::Request request{.method = "GET", .target = std::move(target)};
  Result<net::Response> response = co_await bench.service.send(std::move(request));
  if (!response || response->body == nullptr) {
    co_return std::string();
  }
  Result<std::string> text = co_await net::read_all(std::move(response->body), kAnswerBytesMax);
  if (!text) {
    co_return std::string();
  }
  const Result<json::ObjectHead> head = json::scan_object_head(*text);
  co_return head ? std::string(head->uid) : std::string();
}

void replace_uids(std::string& body, std::string_view uid) {
  for (std::size_t at = 0; (at = body.find(bench::kUidPlace, at)) != std::string::npos;) {
    body.replace(at, bench::kUidPlace.size(), uid);
  }
}

Task<int> send(Bench& bench, HostileCall call) {
  net::Request request{.method = std::move(call.method), .target = std::move(call.target)};
  if (!call.body.empty()) {
    request.headers.set("Content-Type", std::move(call.type));
    request.body_size = call.body.size();
    request.body = net::body_of(std::move(call.body));
  }
  if (!call.accept.empty()) {
    request.headers.set("Accept", std::move(call.accept));
  }
  Result<net::Response> response = co_await bench.service.send(std::move(request));
  while (response && response->body != nullptr) {
    Result<Bytes> piece = co_await response->body->read();
    if (!piece || piece->empty()) {
      break;
    }
  }
  ++bench.requests;
  co_return response ? response->status : 0;
}

Task<Cost> measure(Bench& bench, HostileCase what) {
  for (HostileCall& call : what.before) {
    co_await send(bench, std::move(call));
  }
  if (!what.call.uid_of.empty()) {
    const std::string uid = co_await uid_of(bench, what.call.uid_of);
    replace_uids(what.call.body, uid);
  }
  co_await yield();  // a step is reported after its end
  Cost cost{.name = std::move(what.name),
            .bytes = std::max<std::size_t>(1024, what.call.body.size() + what.call.target.size())};
  bench.worst_step = 0;
  const double cpu = bench::cpu_seconds();
  cost.status = co_await send(bench, std::move(what.call));
  cost.cpu_seconds = bench::cpu_seconds() - cpu;
  co_await yield();
  cost.worst_step_seconds = bench.worst_step;
  for (HostileCall& call : what.after) {
    co_await send(bench, std::move(call));
  }
  co_return cost;
}

Task<void> measure_growing(Bench& bench, std::size_t index) {
  const HostileCases cases;
  Cost last;
  for (std::size_t bytes = kBytesFirst; last.cpu_seconds < kCpuEnough; bytes *= 4) {
    co_await yield();  // making a large body does not count for the request before it
    HostileCase made = cases.make(index, std::min(bytes, kBytesMax));
    co_await yield();
    Cost cost = co_await measure(bench, std::move(made));
    if (last.cpu_seconds > 0.002 && cost.bytes > last.bytes) {
      cost.growth = std::log(cost.cpu_seconds / last.cpu_seconds) /
                    std::log(static_cast<double>(cost.bytes) / static_cast<double>(last.bytes));
    }
    bench.slow_steps += cost.worst_step_seconds > kStepSecondsMax ? 1 : 0;
    last = std::move(cost);
    if (bytes >= kBytesMax) {
      break;
    }
  }
  bench.costs.push_back(std::move(last));
}

void print_worst(std::vector<Cost>& costs, const char* title, double (*key)(const Cost&)) {
  std::ranges::sort(costs, std::greater<>(), key);
  std::printf(
      "\n%s\n\n| request | status | body KiB | CPU ms | CPU us per KiB | growth | "
      "worst step, CPU ms |\n|---|---|---|---|---|---|---|\n",
      title);
  for (std::size_t i = 0; i < std::min(costs.size(), kRows); ++i) {
    const Cost& cost = costs[i];
    std::printf("| %s | %d | %zu | %.1f | %.1f | %.1f | %.0f |\n", cost.name.c_str(), cost.status,
                cost.bytes >> 10, cost.cpu_seconds * 1e3, cost.per_kibibyte() * 1e6, cost.growth,
                cost.worst_step_seconds * 1e3);
  }
}

Task<void> attack(Bench& bench, std::vector<std::size_t> order, Duration time) {
  for (HostileCall& call : bench::hostile_setup()) {
    co_await send(bench, std::move(call));
  }
  const Instant end = bench.env.clock.now() + time;
  std::size_t done = 0;
  for (; done < order.size() && bench.env.clock.now() < end; ++done) {
    co_await measure_growing(bench, order[done]);
  }
  std::printf("%zu requests, %zu of %zu cases, %zu with a step above 50 ms of CPU\n",
              bench.requests, done, order.size(), bench.slow_steps);
}

Task<Result<void>> run_bench(Env env, std::string folder, std::vector<std::size_t> order,
                             Duration time) {
  double worst_step = 0;
  Logger logger(env.clock, LogLevel::warn, [&](const LogRecord& record) {
    if (record.message != "slow step") {
      return;
    }
    for (const LogField& field : record.fields) {
      if (field.key == "cpu") {
        worst_step =
            std::max(worst_step, std::chrono::duration<double>(field.value.duration()).count());
      }
    }
    std::fprintf(stderr, "%s\n", format_log_text(record).c_str());
  });
  MetricsRegistry metrics;
  CO_TRY_ASSIGN(std::unique_ptr<apiserver::ApiServer> server,
                co_await apiserver::ApiServer::start(env,
                                                     {.data_directory = folder,
                                                      .durability = apiserver::Durability::memory,
                                                      .slow_step = kStepMax},
                                                     logger, metrics));
  net::InProcessService client(server->service(),
                               {.address = "bench",
                                .certificate = net::Peer::Certificate{
                                    .common_name = "bench", .organizations = {"system:masters"}}});
  Bench bench{.env = env, .service = client, .worst_step = worst_step};
  co_await attack(bench, std::move(order), time);
  print_worst(bench.costs, "Worst steps", [](const Cost& c) { return c.worst_step_seconds; });
  print_worst(bench.costs, "Most CPU per byte", [](const Cost& c) { return c.per_kibibyte(); });
  co_await server->stop({});
  co_return Result<void>();
}

}  // namespace

int main(int argc, char** argv) {
  const int minutes = argc > 1 ? std::atoi(argv[1]) : 10;
  const auto seed = static_cast<unsigned>(argc > 2 ? std::atoi(argv[2]) : 1);
  const std::string wanted = argc > 3 ? argv[3] : "";
  const HostileCases cases;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < cases.count(); ++i) {
    if (cases.name(i).contains(wanted)) {
      order.push_back(i);
    }
  }
  std::ranges::shuffle(order, std::mt19937(seed));
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("hostile_load-" + std::to_string(getpid()));
  RealEnv world;
  const std::optional<Result<void>> result =
      run(world.env().loop,
          run_bench(world.env(), folder.string(), std::move(order), std::chrono::minutes(minutes)));
  std::filesystem::remove_all(folder);
  if (!result || !*result) {
    std::fprintf(stderr, "hostile_load: %s\n",
                 result ? result->error().to_string().c_str() : "nothing left to wait for");
    return 1;
  }
  return 0;
}
