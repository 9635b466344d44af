#include "ray/client.h"

#include "base/env/sim_env.h"
#include "net/sim_link.h"
#include "net/testing/scripted_service.h"
#include "ray/testing/fake_dashboard.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace codeflare::ray {
namespace {

using net::testing::ScriptedService;
using testing::FakeDashboard;
using namespace std::chrono_literals;

JobRequest a_job(std::string id = "a") {
  return {.submission_id = std::move(id), .entrypoint = "python main.py"};
}

// A dashboard and a client for it, in one simulated world.
struct World {
  explicit World(FakeDashboard::Options options = {}, ClientOptions client_options = {})
      : dashboard(sim.env(), std::move(options)),
        client(sim.env(), dashboard, std::move(client_options)) {}

  template <typename T>
  Result<T> run(Task<Result<T>> task) {
    return *codeflare::run(sim.env().loop, std::move(task));
  }
  long count(std::string_view request) const {
    return std::ranges::count(dashboard.requests, request);
  }

  SimEnv sim;
  FakeDashboard dashboard;
  Client client;
};

Task<Result<void>> collect(std::string* log, std::string text) {
  *log += text;
  co_return Result<void>();
}

LogSink into(std::string& log) {
  return [&log](std::string text) { return collect(&log, std::move(text)); };
}

TEST(RayClient, submits_and_sees_and_removes_a_job) {
  World world;
  EXPECT_EQ(world.run(world.client.version()).value().ray, "2.60.0");
  JobRequest request = a_job("a/b");
  request.metadata = {{"who", "me"}};
  request.num_cpus = 0.5;
  ASSERT_TRUE(world.run(world.client.submit(request)));
  const Job job = world.run(world.client.info("a/b")).value();
  EXPECT_EQ(job.status, JobStatus::running);
  EXPECT_EQ(job.entrypoint, "python main.py");
  EXPECT_EQ(job.metadata.at("who"), "me");
  EXPECT_EQ(world.run(world.client.list()).value().size(), 1u);
  EXPECT_EQ(world.run(world.client.remove("a/b")).error().code, ErrorCode::failed_precondition);
  EXPECT_TRUE(world.run(world.client.stop("a/b")).value());
  EXPECT_FALSE(world.run(world.client.stop("a/b")).value());
  EXPECT_EQ(world.run(world.client.info("a/b")).value().status, JobStatus::stopped);
  EXPECT_TRUE(world.run(world.client.remove("a/b")));
  EXPECT_EQ(world.run(world.client.info("a/b")).error().code, ErrorCode::not_found);
  EXPECT_EQ(world.run(world.client.remove("a/b")).error().code, ErrorCode::not_found);
}

TEST(RayClient, sends_the_token_where_an_api_server_leaves_it) {
  World world({}, {.token = Secret("s3cret")});
  ASSERT_TRUE(world.run(world.client.list()));
  EXPECT_EQ(world.dashboard.last_headers.at("X-Ray-Authorization"), "Bearer s3cret");
  EXPECT_FALSE(world.dashboard.last_headers.contains("Authorization"));
}

TEST(RayClient, goes_below_the_prefix) {
  World world({}, {.prefix = "/api/v1/namespaces/x/services/y:dashboard/proxy"});
  EXPECT_FALSE(world.run(world.client.list()));
  EXPECT_EQ(world.count("GET /api/v1/namespaces/x/services/y:dashboard/proxy/api/jobs/"), 1);
}

TEST(RayClient, waits_for_a_dashboard_that_is_not_ready) {
  World starting({.refusals = 3});
  EXPECT_TRUE(starting.run(starting.client.submit(a_job())));
  EXPECT_EQ(starting.dashboard.accepted, 1);
  World no_agent({.refusals = 2,
                  .refusal_status = 500,
                  .refusal_text = "No available agent to submit job, please try again later."});
  EXPECT_TRUE(no_agent.run(no_agent.client.submit(a_job())));
  EXPECT_EQ(no_agent.dashboard.accepted, 1);
}

TEST(RayClient, gives_up_when_its_patience_ends) {
  World world({.refusals = 1'000'000}, {.retry_for = 20s});
  const Instant before = world.sim.env().loop.now();
  const auto listed = world.run(world.client.list());
  ASSERT_FALSE(listed);
  EXPECT_EQ(listed.error().code, ErrorCode::unavailable);
  EXPECT_EQ(listed.error().message, "list jobs: starting (tried for 20s)");
  EXPECT_LE(world.sim.env().loop.now() - before, 20s);
}

TEST(RayClient, does_not_repeat_what_the_server_rejects) {
  World world({.refusals = 1, .refusal_status = 401, .refusal_text = "Unauthorized: Missing"});
  const auto listed = world.run(world.client.list());
  ASSERT_FALSE(listed);
  EXPECT_EQ(listed.error().code, ErrorCode::unauthenticated);
  EXPECT_EQ(world.dashboard.requests.size(), 1u);
}

TEST(RayClient, rejects_an_id_that_is_taken) {
  World world;
  ASSERT_TRUE(world.run(world.client.submit(a_job())));
  const auto again = world.run(world.client.submit(a_job()));
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::already_exists);
  EXPECT_TRUE(again.error().message.contains("submission_id a already exists"));
  EXPECT_EQ(world.count("POST /api/jobs/"), 2);
}

// Loses the first reply to a POST; `before_first` may change the world first.
struct Lossy {
  explicit Lossy(World& world_in, bool deliver)
      : world(world_in), service([this, deliver](net::Request request) {
          return send(std::move(request), deliver);
        }) {}

  Task<Result<net::Response>> send(net::Request request, bool deliver) {
    if (request.method != "POST" || lost++ > 0) {
      co_return co_await world.dashboard.send(std::move(request));
    }
    if (deliver) {
      CO_TRY(co_await world.dashboard.send(std::move(request)));
    }
    if (meanwhile) {
      meanwhile();
    }
    co_return fail(deadline_exceeded("no answer"));
  }

  World& world;
  ScriptedService service;
  std::function<void()> meanwhile{};
  int lost = 0;
};

TEST(RayClient, settles_a_lost_answer_by_asking) {
  World world;
  Lossy lossy(world, true);
  Client client(world.sim.env(), lossy.service, {});
  EXPECT_TRUE(world.run(client.submit(a_job())));
  EXPECT_EQ(world.dashboard.accepted, 1);
  EXPECT_EQ(world.count("POST /api/jobs/"), 1);
}

TEST(RayClient, repeats_a_submission_that_was_lost) {
  World world;
  Lossy lossy(world, false);
  Client client(world.sim.env(), lossy.service, {});
  EXPECT_TRUE(world.run(client.submit(a_job())));
  EXPECT_EQ(world.dashboard.accepted, 1);
}

TEST(RayClient, does_not_take_the_job_of_somebody_else_for_its_own) {
  World world;
  Lossy lossy(world, false);
  lossy.meanwhile = [&] {
    world.dashboard.jobs.emplace(
        "a", FakeDashboard::Record{
                 .entrypoint = "other", .metadata = "{}", .started = world.sim.env().loop.now()});
  };
  Client client(world.sim.env(), lossy.service, {});
  const auto submitted = world.run(client.submit(a_job()));
  ASSERT_FALSE(submitted);
  EXPECT_EQ(submitted.error().code, ErrorCode::already_exists);
}

// Delivers the first request, answers it with `status` and `text`, and everything after it with
// `later` if there is one.
struct Broken {
  Task<Result<net::Response>> send(net::Request request) {
    if (sent++ == 0) {
      CO_TRY(co_await world.dashboard.send(std::move(request)));
      co_return net::make_response(status, "text/plain", Bytes::from(std::string(text)));
    }
    if (later) {
      co_return fail(*later);
    }
    co_return co_await world.dashboard.send(std::move(request));
  }

  World& world;
  int status;
  std::string text;
  std::optional<Error> later{};
  int sent = 0;
  ScriptedService service{[this](net::Request request) { return send(std::move(request)); }};
};

TEST(RayClient, settles_a_connection_that_broke_behind_the_proxy) {
  World world;
  Broken broken{world, 503, "error trying to reach service: EOF"};
  Client client(world.sim.env(), broken.service, {});
  const auto submitted = world.run(client.submit(a_job()));
  EXPECT_TRUE(submitted) << submitted.error().to_string();
  EXPECT_EQ(world.dashboard.accepted, 1);
}

TEST(RayClient, does_not_claim_that_nothing_was_done_when_nobody_can_say) {
  World world;
  Broken broken{world, 504, "timeout", unavailable("connection refused")};
  Client client(world.sim.env(), broken.service, {.retry_for = 10s});
  const auto submitted = world.run(client.submit(a_job()));
  ASSERT_FALSE(submitted);
  EXPECT_EQ(submitted.error().code, ErrorCode::deadline_exceeded);
  EXPECT_EQ(world.dashboard.accepted, 1);
}

TEST(RayClient, names_what_an_older_server_cannot_do) {
  World world({.api_version = 0});
  JobRequest request = a_job();
  request.num_cpus = 1;
  const auto submitted = world.run(world.client.submit(request));
  ASSERT_FALSE(submitted);
  EXPECT_EQ(submitted.error().code, ErrorCode::unsupported);
  EXPECT_EQ(submitted.error().message,
            "the server (Ray 2.60.0, jobs API version 0) does not support the field "
            "entrypoint_num_cpus");
  ASSERT_TRUE(world.run(world.client.submit(a_job())));
  EXPECT_TRUE(world.run(world.client.remove("a"))
                  .error()
                  .message.contains("does not support deleting jobs"));
  std::string log;
  const auto tailed = world.run(world.client.tail("a", into(log)));
  ASSERT_FALSE(tailed);
  EXPECT_TRUE(tailed.error().message.contains("does not support following logs"));
}

TEST(RayTail, shows_the_log_to_the_end_of_the_job) {
  World world;
  ASSERT_TRUE(world.run(world.client.submit(a_job())));
  std::string log;
  const auto end = world.run(world.client.tail("a", into(log)));
  ASSERT_TRUE(end) << end.error().to_string();
  EXPECT_EQ(end->job.status, JobStatus::succeeded);
  EXPECT_FALSE(end->log_error);
  EXPECT_EQ(log, world.dashboard.log_of(world.dashboard.jobs.at("a")));
  EXPECT_EQ(std::ranges::count(log, '\n'), 20);
  EXPECT_EQ(world.count("GET /api/jobs/a/logs/tail"), 1);
}

TEST(RayTail, goes_on_where_a_connection_closed_although_the_job_runs) {
  World world({.tail_messages_max = 3});
  ASSERT_TRUE(world.run(world.client.submit(a_job())));
  std::string log;
  const auto end = world.run(world.client.tail("a", into(log)));
  ASSERT_TRUE(end) << end.error().to_string();
  EXPECT_EQ(log, world.dashboard.log_of(world.dashboard.jobs.at("a")));
  EXPECT_GT(world.count("GET /api/jobs/a/logs/tail"), 1);
}

TEST(RayTail, of_a_job_that_does_not_exist_fails) {
  World world;
  std::string log;
  const auto end = world.run(world.client.tail("a", into(log)));
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, ErrorCode::not_found);
}

TEST(RayTail, costs_few_requests_while_a_job_says_nothing) {
  World world({.lines = 2, .line_interval = 10min});
  ASSERT_TRUE(world.run(world.client.submit(a_job())));
  std::string log;
  ASSERT_TRUE(world.run(world.client.tail("a", into(log))));
  EXPECT_EQ(std::ranges::count(log, '\n'), 2);
  EXPECT_LE(world.dashboard.requests.size(), 4u);
}

Task<Result<void>> stop_at_once(std::string) {
  co_return fail(failed_precondition("enough"));
}

TEST(RayTail, ends_with_the_error_of_the_sink) {
  World world;
  ASSERT_TRUE(world.run(world.client.submit(a_job())));
  const auto end = world.run(world.client.tail("a", stop_at_once));
  ASSERT_FALSE(end);
  EXPECT_TRUE(end.error().message.ends_with("enough"));
}

// On every network: at most one job, every line once.
TEST(RayClient, accepts_a_job_once_and_shows_each_line_once_over_a_bad_network) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SimEnv sim({.seed = seed, .shuffle = true});
    FakeDashboard dashboard(sim.env(), {.tail_messages_max = 7});
    net::SimLink link(dashboard, sim.env().random,
                      {.refused = 0.1,
                       .lost_request = 0.1,
                       .lost_reply = 0.1,
                       .throttled = 0.05,
                       .unavailable = 0.1,
                       .cut_stream = 0.3,
                       .silent_stream = 0.1});
    Client client(sim.env(), link, {.retry_for = 30min});
    const auto submitted = codeflare::run(sim.env().loop, client.submit(a_job()));
    ASSERT_TRUE(submitted && *submitted) << seed << " " << submitted->error().to_string();
    EXPECT_EQ(dashboard.accepted, 1) << seed;
    std::string log;
    const auto end = codeflare::run(sim.env().loop, client.tail("a", into(log)));
    ASSERT_TRUE(end && *end) << seed << " " << end->error().to_string();
    EXPECT_EQ((*end)->job.status, JobStatus::succeeded);
    EXPECT_EQ(log, dashboard.log_of(dashboard.jobs.at("a"))) << seed;
  }
}

TEST(RayClient, uploads_only_packages_that_the_server_lacks) {
  World world;
  FileSystem& files = world.sim.env().files;
  ASSERT_TRUE(files.make_directories("/w"));
  ASSERT_TRUE(files.write("/w/main.py", "print()"));
  const Package package = package_directory(files, "/w", {}, {}).value();
  ASSERT_TRUE(world.run(world.client.upload_missing({package})));
  ASSERT_TRUE(world.run(world.client.upload_missing({package})));
  const std::string target = " /api/packages/gcs/" + package.uri.substr(6);
  EXPECT_EQ(world.count("GET" + target), 2);
  EXPECT_EQ(world.count("PUT" + target), 1);
  EXPECT_EQ(world.dashboard.packages.begin()->second, package_bytes(files, package).value());
  EXPECT_EQ(world.run(world.client.package_exists("s3://x.zip")).error().code,
            ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace codeflare::ray
