#include "sdk/dashboard_tunnel.h"

#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "base/env/real_env.h"
#include "base/env/sim_env.h"
#include "net/client.h"
#include "net/testing/scripted_service.h"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

namespace codeflare::sdk {
namespace {

constexpr std::string_view kProxy =
    "/api/v1/namespaces/team/services/demo-head-svc:dashboard/proxy";

// An API server that notes the requests and answers each with the same head.
struct World {
  net::Response ask(std::string target, std::string host = "127.0.0.1:1234",
                    std::string origin = {}) {
    net::Request request{.target = std::move(target)};
    request.headers.set("Host", std::move(host));
    if (!origin.empty()) {
      request.headers.set("Origin", std::move(origin));
    }
    request.headers.set("Authorization", "Basic somebody");
    request.headers.set("Connection", "keep-alive");
    request.headers.set("Cookie", "ray-authentication-token=t");
    return std::move(*run(sim.env().loop, tunnel.send(std::move(request)))).value();
  }

  SimEnv sim;
  std::vector<net::Request> seen;
  net::Headers answered{{"Content-Type", "text/html"}};
  net::testing::ScriptedService api{
      [this](net::Request request) { return answer(std::move(request)); }};
  DashboardTunnel tunnel{api, {"team", "demo"}};

 private:
  Task<Result<net::Response>> answer(net::Request request) {
    seen.push_back(std::move(request));
    net::Response response = net::make_response(200, "text/html", Bytes::from("page"));
    response.headers = answered;
    co_return response;
  }
};

TEST(DashboardTunnel, leads_to_the_proxy_of_the_head) {
  World w;
  EXPECT_EQ(w.ask("/api/jobs/?a=b").status, 200);
  EXPECT_EQ(w.ask(std::string(kProxy) + "/static/a.js", "localhost:1234").status, 200);
  ASSERT_EQ(w.seen.size(), 2u);
  EXPECT_EQ(w.seen[0].target, std::string(kProxy) + "/api/jobs/?a=b");
  EXPECT_EQ(w.seen[1].target, std::string(kProxy) + "/static/a.js");
  EXPECT_FALSE(w.seen[0].headers.has("Authorization"));
  EXPECT_FALSE(w.seen[0].headers.has("Connection"));
  EXPECT_FALSE(w.seen[0].headers.has("Host"));
  EXPECT_TRUE(w.seen[0].headers.has("Cookie"));
}

TEST(DashboardTunnel, rejects_other_names_of_its_address) {
  World w;
  EXPECT_EQ(w.ask("/", "evil.example:1234").status, 403);
  EXPECT_EQ(w.ask("/", "").status, 403);
  EXPECT_TRUE(w.seen.empty());
}

TEST(DashboardTunnel, rejects_requests_of_pages_from_other_origins) {
  World w;
  for (const char* origin :
       {"https://evil.example", "http://localhost:3000", "http://localhost:1234",
        "https://127.0.0.1:1234", "http://127.0.0.1:1234.evil.example", "null"}) {
    const net::Response answer = w.ask("/api/jobs/", "127.0.0.1:1234", origin);
    EXPECT_EQ(answer.status, 403) << origin;
  }
  EXPECT_TRUE(w.seen.empty());
  EXPECT_EQ(w.ask("/api/jobs/", "127.0.0.1:1234", "http://127.0.0.1:1234").status, 200);
  EXPECT_EQ(w.ask("/api/jobs/", "localhost:1234", "http://localhost:1234").status, 200);
}

TEST(DashboardTunnel, locations_stay_within_it) {
  World w;
  w.answered = {{"Location", std::string(kProxy) + "/login"}};
  EXPECT_EQ(w.ask("/").headers.get("Location"), "/login");
  w.answered = {{"Location", "https://other/"}};
  EXPECT_EQ(w.ask("/").headers.get("Location"), "https://other/");
}

struct Served {
  std::string url;
  std::string page;
};

Task<Result<void>> fetch(Env env, std::string url, Served& served) {
  served.url = url;
  CO_TRY_ASSIGN(net::Url parsed, net::parse_url(url));
  CO_TRY_ASSIGN(const std::unique_ptr<net::HttpClient> client,
                net::HttpClient::create(env, std::move(parsed), {}));
  net::Request request{.target = "/"};
  CO_TRY_ASSIGN(net::Response response, co_await client->send(std::move(request)));
  CO_TRY_ASSIGN(served.page, co_await net::read_all(std::move(response.body), 1 << 20));
  co_return Result<void>();
}

Task<Result<net::Response>> page(net::Request request) {
  co_return net::make_response(200, "text/plain", Bytes::from("asked " + request.target));
}

Task<void> visit(Env env, std::string url, StopSource& stop, Served& served) {
  const Result<void> fetched = co_await fetch(env, std::move(url), served);
  EXPECT_TRUE(fetched);
  stop.request_stop();
}

Task<Result<void>> serve_one_visit(Env env, net::HttpService& api, Served& served) {
  const TaskContext& context = co_await current_context();
  StopSource stop;
  TaskGroup visits(*context.loop);
  TunnelOptions options{.port = 0, .opened = [&](const std::string& url) {
                          visits.spawn(visit(env, url, stop, served));
                        }};
  Result<void> end = co_await with_stop(
      stop.token(), serve_dashboard(env, api, {"team", "demo"}, std::move(options)));
  co_await visits.close();
  co_return end;
}

TEST(DashboardTunnel, is_served_until_it_is_stopped) {
  RealEnv world;
  Served served;
  net::testing::ScriptedService api(page);
  const auto end = run(world.env().loop, serve_one_visit(world.env(), api, served));
  ASSERT_TRUE(end.has_value());
  EXPECT_TRUE(*end);
  EXPECT_TRUE(served.url.starts_with("http://127.0.0.1:")) << served.url;
  EXPECT_EQ(served.page, "asked " + std::string(kProxy) + "/");
}

}  // namespace
}  // namespace codeflare::sdk
