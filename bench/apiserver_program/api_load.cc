// Loads an API server over TLS with keep-alive connections and says what it took, one JSON line:
//   api_load create COUNT CLIENTS     creates COUNT pods of about 2 KiB
//   api_load status COUNT CLIENTS N   replaces the status of each pod N times
//   api_load delete COUNT CLIENTS     deletes them again
//   api_load list TIMES               lists all pods, one request after the other
//   api_load watch WATCHERS EVENTS    one event at a time to all watchers
// The server is the one of KUBECONFIG. `cpu_seconds` is this program's own.

#include "base/async/task_group.h"
#include "base/env/real_env.h"
#include "base/log.h"
#include "bench/load.h"
#include "json/write.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

using namespace codeflare;
using codeflare::bench::cpu_seconds;

namespace {

constexpr const char* kPods = "/api/v1/namespaces/default/pods";
constexpr const char* kMaps = "/api/v1/namespaces/default/configmaps";

std::string pod(std::int64_t number) {
  std::string text = R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"pod-)" +
                     std::to_string(number) + R"(","labels":{"app":"bench","index":")" +
                     std::to_string(number % 100) + R"("},"annotations":{"note":")";
  text.append(700, 'x');
  text += R"("}},"spec":{"automountServiceAccountToken":false,"containers":[{"name":"main",)"
          R"("image":"example/train:1","command":["train","--steps","100"],"resources":{)"
          R"("requests":{"cpu":"1","memory":"1Gi"},"limits":{"cpu":"2","memory":"2Gi"}}}]}})";
  return text;
}

std::string status(std::int64_t round) {
  return R"({"status":{"phase":"Running","hostIP":"10.0.0.1","podIP":"10.1.0.)" +
         std::to_string(round % 250) +
         R"(","conditions":[{"type":"Ready","status":"True","lastTransitionTime":)"
         R"("2026-01-01T00:00:00Z"}],"message":"round )" +
         std::to_string(round) + R"("}})";
}

struct Call {
  std::string method;
  std::string target;
  std::string body{};
  std::string type = "application/json";
};

Task<Result<std::size_t>> call(net::HttpService& service, Call what) {
  net::Request request{.method = std::move(what.method), .target = std::move(what.target)};
  if (!what.body.empty()) {
    request.headers.set("Content-Type", std::move(what.type));
    request.body_size = what.body.size();
    request.body = net::body_of(std::move(what.body));
  }
  CO_TRY_ASSIGN(net::Response response, co_await service.send(std::move(request)));
  std::size_t bytes = 0;
  while (response.body != nullptr) {
    CO_TRY_ASSIGN(Bytes piece, co_await response.body->read());
    if (piece.empty()) {
      break;
    }
    bytes += piece.size();
  }
  if (response.status >= 300) {
    co_return fail(internal_error("status " + std::to_string(response.status)));
  }
  co_return bytes;
}

struct Load {
  Env env;
  net::HttpService& service;
  std::int64_t next = 0;
  std::int64_t failed = 0;
  std::string first_failure{};
  std::vector<Duration> took{};
};

// Takes the next number until all are taken.
Task<void> work(Load& load, std::int64_t count, Call (*make)(std::int64_t)) {
  while (load.next < count) {
    const std::int64_t number = load.next++;
    const Instant began = load.env.clock.now();
    Result<std::size_t> result = co_await call(load.service, make(number));
    load.took.push_back(load.env.clock.now() - began);
    if (!result) {
      ++load.failed;
      load.first_failure = result.error().to_string();
    }
  }
}

Task<void> run_clients(Load& load, std::int64_t count, std::int64_t clients,
                       Call (*make)(std::int64_t)) {
  TaskGroup group(load.env.loop);
  for (std::int64_t i = 0; i < clients; ++i) {
    group.spawn(work(load, count, make));
  }
  co_await group.join();
}

// The sum of all watchers. One that fails, now or later, ends the run: the others wait for events
// that it will never see.
struct Watchers {
  std::int64_t opened = 0;
  std::int64_t seen = 0;
  WaitList progress{};
};

void fail_watch(Load& load, Watchers& all, std::string why) {
  ++load.failed;
  load.first_failure = std::move(why);
  all.progress.notify_all();
}

Task<void> watch(Load& load, Watchers& all) {
  net::Request request{.target = std::string(kMaps) + "?watch=1&resourceVersion=0"};
  Result<net::Response> response = co_await load.service.send(std::move(request));
  if (!response || response->status != 200) {
    fail_watch(load, all,
               "watch not opened: " + (response ? "status " + std::to_string(response->status)
                                                : response.error().to_string()));
    co_return;
  }
  ++all.opened;
  all.progress.notify_all();
  const TaskContext& context = co_await current_context();
  while (true) {
    Result<Bytes> piece = co_await response->body->read();
    if (context.stop.stop_requested()) {
      co_return;
    }
    if (!piece || piece->empty()) {
      fail_watch(load, all,
                 "watch ended: " + (piece ? "by the server" : piece.error().to_string()));
      co_return;
    }
    const std::string_view text = piece->view();
    for (std::size_t at = text.find("\"bench-event-"); at != std::string_view::npos;
         at = text.find("\"bench-event-", at + 1)) {
      ++all.seen;
    }
    all.progress.notify_all();
  }
}

Task<void> run_watch(Load& load, std::int64_t watchers, std::int64_t events) {
  Watchers all;
  TaskGroup group(load.env.loop);
  for (std::int64_t i = 0; i < watchers; ++i) {
    group.spawn(watch(load, all));
  }
  while (load.failed == 0 && all.opened < watchers) {
    co_await all.progress.wait_uncancellable();
  }
  std::printf("{\"event\":\"opened\",\"watches\":%lld}\n", static_cast<long long>(all.opened));
  std::fflush(stdout);
  std::getchar();
  for (std::int64_t event = 0; event < events && load.failed == 0; ++event) {
    const Instant began = load.env.clock.now();
    Result<std::size_t> made = co_await call(
        load.service, {.method = "POST",
                       .target = kMaps,
                       .body = R"({"metadata":{"generateName":"e-"},"data":{"key":"bench-event-)" +
                               std::to_string(event) + R"("}})"});
    if (!made) {
      ++load.failed;
      load.first_failure = made.error().to_string();
      break;
    }
    while (load.failed == 0 && all.seen < watchers * (event + 1)) {
      co_await all.progress.wait_uncancellable();
    }
    load.took.push_back(load.env.clock.now() - began);
  }
  co_await group.close();
}

Call make_create(std::int64_t number) {
  return {.method = "POST", .target = kPods, .body = pod(number)};
}

std::int64_t status_pods = 1;

Call make_status(std::int64_t number) {
  return {.method = "PATCH",
          .target = std::string(kPods) + "/pod-" + std::to_string(number % status_pods) + "/status",
          .body = status(number / status_pods),
          .type = "application/merge-patch+json"};
}

Call make_delete(std::int64_t number) {
  return {.method = "DELETE", .target = std::string(kPods) + "/pod-" + std::to_string(number)};
}

Call make_list(std::int64_t) {
  return {.method = "GET", .target = kPods};
}

Task<Result<void>> run_load(Env env, std::vector<std::string> words) {
  CO_TRY_ASSIGN(std::unique_ptr<net::HttpClient> client, bench::connect(env));
  const auto number = [&](std::size_t i) {
    return i < words.size() ? std::atoll(words[i].c_str()) : 1;
  };
  Load load{.env = env, .service = *client};
  const Instant began = env.clock.now();
  const double cpu = cpu_seconds();
  if (words[0] == "create") {
    co_await run_clients(load, number(1), number(2), make_create);
  } else if (words[0] == "delete") {
    co_await run_clients(load, number(1), number(2), make_delete);
  } else if (words[0] == "status") {
    status_pods = number(1);
    co_await run_clients(load, number(1) * number(3), number(2), make_status);
  } else if (words[0] == "list") {
    co_await run_clients(load, number(1), 1, make_list);
  } else if (words[0] == "watch") {
    co_await run_watch(load, number(1), number(2));
  } else {
    co_return fail(invalid_argument("no such load: " + words[0]));
  }
  std::ranges::sort(load.took);
  const auto seconds = [](Duration d) { return std::chrono::duration<double>(d).count(); };
  std::string line;
  json::Writer w(line);
  w.begin_object().member("event", "done");
  w.key("requests").integer(static_cast<std::int64_t>(load.took.size()));
  w.key("failed").integer(load.failed).member("failure", load.first_failure);
  w.key("seconds").number(seconds(env.clock.now() - began));
  w.key("cpu_seconds").number(cpu_seconds() - cpu);
  if (!load.took.empty()) {
    w.key("median_seconds").number(seconds(load.took[load.took.size() / 2]));
    w.key("p99_seconds").number(seconds(load.took[load.took.size() * 99 / 100]));
  }
  w.end_object();
  std::puts(line.c_str());
  co_return Result<void>();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("usage: api_load create|delete|status|list|watch NUMBER...\n", stderr);
    return 2;
  }
  RealEnv world;
  const std::optional<Result<void>> result =
      run(world.env().loop, run_load(world.env(), {argv + 1, argv + argc}));
  if (!result || !*result) {
    std::fprintf(stderr, "api_load: %s\n",
                 result ? result->error().to_string().c_str() : "nothing left to wait for");
    return 1;
  }
  return 0;
}
