#pragma once

#include "base/async/sleep.h"
#include "base/async/when.h"
#include "base/env/real_env.h"
#include "net/client.h"
#include "net/server.h"
#include "net/url.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

// A real Prometheus (2.42 of Debian) with its remote-write receiver, for tests.
namespace codeflare::usage::testing {

inline Task<Result<std::string>> get(net::HttpService& http, std::string target) {
  net::Request request{.target = std::move(target)};
  CO_TRY_ASSIGN(net::Response response, co_await http.send(std::move(request)));
  if (response.status != 200) {
    co_return fail(unavailable("status " + std::to_string(response.status)));
  }
  net::Body body = std::move(response.body);
  co_return co_await net::read_all(std::move(body), 1u << 20);
}

inline Task<Result<std::string>> ask(net::HttpService& http, std::string query) {
  co_return co_await get(http, "/api/v1/query?query=" + net::percent_encode(query));
}

using Story = std::function<Task<Result<void>>(net::HttpService& prometheus)>;

inline Task<Result<CommandResult>> tell(Env env, std::uint16_t port, Story story) {
  CO_TRY_ASSIGN(net::Url url, net::parse_url("http://127.0.0.1:" + std::to_string(port)));
  CO_TRY_ASSIGN(const std::unique_ptr<net::HttpClient> http,
                net::HttpClient::create(env, std::move(url), {}));
  bool ready = false;
  for (int turn = 0; turn < 600 && !ready; ++turn) {
    ready = (co_await get(*http, "/-/ready")).has_value();
    CO_TRY(co_await sleep_for(std::chrono::milliseconds(ready ? 1 : 100)));
  }
  if (!ready) {
    co_return fail(deadline_exceeded("Prometheus is not ready within a minute"));
  }
  CO_TRY(co_await story(*http));
  co_return CommandResult{};
}

inline std::uint16_t free_port(Env env) {
  class Nobody final : public net::HttpService {
    Task<Result<net::Response>> send(net::Request) override { co_return net::Response{}; }
  } nobody;
  net::HttpServer server(env, nobody, {});
  const std::uint16_t port = server.listen("127.0.0.1", 0).value();
  EXPECT_TRUE(run(env.loop, server.drain(Duration::zero())));
  return port;
}

// Starts it, tells the story, stops it.
inline void with_prometheus(Env env, Story story) {
  const std::string folder = join_path(::testing::TempDir(), "prometheus-" + env.random.uuid());
  ASSERT_TRUE(env.files.make_directories(folder));
  ASSERT_TRUE(env.files.write(join_path(folder, "prometheus.yml"), "global: {}\n"));
  const std::uint16_t port = free_port(env);
  Command command{.program = "prometheus",
                  .arguments = {"--web.enable-remote-write-receiver",
                                "--web.listen-address=127.0.0.1:" + std::to_string(port),
                                "--storage.tsdb.path=" + join_path(folder, "data"),
                                "--config.file=" + join_path(folder, "prometheus.yml")}};
  std::vector<Task<Result<CommandResult>>> tasks;
  tasks.push_back(env.launcher.run(std::move(command)));
  tasks.push_back(tell(env, port, std::move(story)));
  const auto first = run(env.loop, when_any(std::move(tasks)));
  EXPECT_TRUE(env.files.remove_all(folder));
  ASSERT_TRUE(first.has_value());
  ASSERT_EQ(first->index, 1u) << "prometheus ended: "
                              << (first->value ? first->value->error_output
                                               : first->value.error().to_string());
  ASSERT_TRUE(first->value) << first->value.error().to_string();
}

}  // namespace codeflare::usage::testing
