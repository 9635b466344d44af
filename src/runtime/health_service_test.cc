#include "runtime/health_service.h"

#include "base/env/sim_env.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace codeflare::runtime {
namespace {

struct World {
  SimEnv sim;
  std::string missing;
  HealthService service{{.why_not_ready = [this] { return missing; },
                         .metrics = [] { return std::string("up 1\n"); }}};

  // "200 ok"
  std::string ask(std::string target, std::string method = "GET") {
    net::Response response = send(service, std::move(target), std::move(method));
    return std::to_string(response.status) + " " + body_of(std::move(response));
  }
  net::Response send(HealthService& asked, std::string target, std::string method = "GET") {
    net::Request request;
    request.method = std::move(method);
    request.target = std::move(target);
    return *std::move(*run(sim.env().loop, asked.send(std::move(request))));
  }
  std::string body_of(net::Response response) {
    return **run(sim.env().loop, net::read_all(std::move(response.body), 1 << 20));
  }
};

TEST(HealthService, says_its_note_while_it_is_ready) {
  World w;
  HealthService noted({.why_not_ready = [&] { return w.missing; },
                       .ready_note = [] { return std::string("Grace: the licence"); }});
  net::Response ready = w.send(noted, "/readyz");
  EXPECT_EQ(ready.status, 200);
  EXPECT_EQ(w.body_of(std::move(ready)), "ok\nGrace: the licence\n");
  w.missing = "pods: still listing";
  EXPECT_EQ(w.send(noted, "/readyz").status, 503);
}

TEST(HealthService, the_process_is_healthy_while_it_answers) {
  World w;
  w.missing = "pods: still listing";
  EXPECT_EQ(w.ask("/healthz"), "200 ok");
  EXPECT_EQ(w.ask("/livez?verbose=true"), "200 ok");
}

TEST(HealthService, is_ready_when_nothing_is_missing_and_says_what_is) {
  World w;
  w.missing = "pods: still listing";
  EXPECT_EQ(w.ask("/readyz"), "503 not ready: pods: still listing\n");
  w.missing = "";
  EXPECT_EQ(w.ask("/readyz"), "200 ok");
  HealthService plain(HealthService::Answers{});
  EXPECT_EQ(w.send(plain, "/readyz").status, 200);
}

TEST(HealthService, metrics_are_told_in_the_format_that_prometheus_asks_for) {
  World w;
  net::Response response = w.send(w.service, "/metrics");
  EXPECT_EQ(response.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_EQ(w.body_of(std::move(response)), "up 1\n");
  HealthService plain(HealthService::Answers{});
  EXPECT_EQ(w.send(plain, "/metrics").status, 404);
}

TEST(HealthService, anything_else_is_refused) {
  World w;
  EXPECT_TRUE(w.ask("/").starts_with("404 there are /healthz"));
  EXPECT_TRUE(w.ask("/healthz", "POST").starts_with("405 "));
  EXPECT_EQ(w.send(w.service, "/healthz", "HEAD").status, 200);
}

}  // namespace
}  // namespace codeflare::runtime
