#include "net/sim_link.h"

#include "base/async/sleep.h"
#include "base/env/sim_env.h"
#include "net/testing/scripted_service.h"

#include <gtest/gtest.h>

namespace codeflare::net {
namespace {

using testing::ListBody;
using testing::ScriptedService;
using namespace std::chrono_literals;

constexpr std::size_t kMany = 1u << 20;

struct Sim {
  explicit Sim(std::uint64_t seed = 1) : world({.seed = seed}) {}
  SimEnv world;
  Random& random = world.env().random;
  Loop& loop = world.env().loop;
  int effects = 0;
  ScriptedService target{[this](Request) -> Task<Result<Response>> {
    ++effects;
    Response response;
    response.body =
        std::make_unique<ListBody>(std::vector<std::string>{"one ", "two ", "three ", "four "});
    return done(std::move(response));
  }};
  static Task<Result<Response>> done(Response response) { co_return std::move(response); }

  Result<Response> send(SimLink& link, std::string method = "POST") {
    return *run(loop, link.send({.method = std::move(method)}));
  }
  Result<std::string> read(Result<Response> response) {
    return *run(loop, read_all(std::move(response->body), kMany));
  }
};

TEST(SimLink, without_faults_only_delays) {
  Sim sim;
  SimLink link(sim.target, sim.random);
  Instant before = sim.loop.now();
  EXPECT_EQ(*sim.read(sim.send(link)), "one two three four ");
  EXPECT_GT(sim.loop.now(), before);
  EXPECT_EQ(link.counts().faults, 0u);
}

TEST(SimLink, refused_and_lost_requests_have_no_effect) {
  Sim sim;
  SimLink link(sim.target, sim.random, {.refused = 1});
  EXPECT_EQ(sim.send(link).error().code, ErrorCode::unavailable);
  link.set_faults({.lost_request = 1});
  Instant before = sim.loop.now();
  EXPECT_EQ(sim.send(link).error().code, ErrorCode::deadline_exceeded);
  EXPECT_GE(sim.loop.now() - before, 30s);
  EXPECT_EQ(sim.effects, 0);
}

TEST(SimLink, a_lost_reply_has_its_effect) {
  Sim sim;
  SimLink link(sim.target, sim.random, {.lost_reply = 1});
  EXPECT_EQ(sim.send(link).error().code, ErrorCode::deadline_exceeded);
  EXPECT_EQ(sim.effects, 1);
}

TEST(SimLink, made_up_answers_do_not_reach_the_target) {
  Sim sim;
  SimLink link(sim.target, sim.random, {.conflict = 1});
  EXPECT_EQ(sim.send(link, "PUT")->status, 409);
  EXPECT_EQ(sim.effects, 0);
  EXPECT_EQ(sim.send(link, "GET")->status, 200);
  link.set_faults({.throttled = 1});
  Result<Response> throttled = sim.send(link);
  EXPECT_EQ(throttled->status, 429);
  EXPECT_TRUE(throttled->headers.has("Retry-After"));
  link.set_faults({.internal = 1});
  EXPECT_EQ(sim.send(link)->status, 500);
  link.set_faults({.unavailable = 1});
  link.set_answer([](int status) { return make_response(status, "application/json", {}); });
  Result<Response> made_up = sim.send(link);
  EXPECT_EQ(made_up->status, 503);
  EXPECT_EQ(made_up->headers.get("content-type"), "application/json");
  EXPECT_EQ(sim.effects, 1);
}

TEST(SimLink, a_cut_stream_delivers_a_prefix_and_then_fails) {
  const std::string whole = "one two three four ";
  bool cut_within_a_piece = false;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Sim sim(seed);
    SimLink link(sim.target, sim.random, {.cut_stream = 1, .pieces_before_fault_max = 3});
    Result<Response> response = sim.send(link);
    std::string got;
    Error error = internal_error("no error");
    for (;;) {
      Result<Bytes> piece = *run(sim.loop, response->body->read());
      if (!piece) {
        error = piece.error();
        break;
      }
      ASSERT_FALSE(piece->empty()) << "a cut stream must not end cleanly, seed " << seed;
      got += piece->view();
    }
    EXPECT_EQ(error.code, ErrorCode::unavailable);
    EXPECT_LT(got.size(), whole.size());
    EXPECT_TRUE(whole.starts_with(got));
    cut_within_a_piece |= !got.empty() && got.back() != ' ';
  }
  EXPECT_TRUE(cut_within_a_piece);
}

TEST(SimLink, a_silent_stream_stays_open_until_the_reader_gives_up) {
  Sim sim;
  SimLink link(sim.target, sim.random, {.silent_stream = 1, .pieces_before_fault_max = 0});
  Result<Response> response = sim.send(link);
  link.heal();
  Instant before = sim.loop.now();
  Result<Bytes> piece = *run(sim.loop, with_timeout(1h, "watch", response->body->read()));
  EXPECT_EQ(piece.error().code, ErrorCode::deadline_exceeded);
  EXPECT_EQ(sim.loop.now() - before, 1h);
}

TEST(SimLink, a_partition_stops_everything_and_heals) {
  Sim sim;
  SimLink link(sim.target, sim.random);
  Result<Response> open = sim.send(link);
  link.partition();
  EXPECT_EQ(sim.send(link).error().code, ErrorCode::deadline_exceeded);
  EXPECT_EQ(run(sim.loop, with_timeout(5s, "", open->body->read()))->error().code,
            ErrorCode::deadline_exceeded);
  link.heal();
  EXPECT_EQ(*sim.read(sim.send(link)), "one two three four ");
  EXPECT_EQ(sim.effects, 2);
}

TEST(SimLink, a_reader_that_gives_up_during_a_delay_loses_nothing) {
  Sim sim;
  SimLink link(sim.target, sim.random, {.piece_delay_max = 10ms});
  Result<Response> response = sim.send(link);
  std::string got;
  int given_up = 0;
  for (;;) {
    Result<Bytes> piece = *run(sim.loop, with_timeout(3ms, "piece", response->body->read()));
    if (!piece) {
      ++given_up;
      continue;
    }
    if (piece->empty()) {
      break;
    }
    got += piece->view();
  }
  EXPECT_EQ(got, "one two three four ");
  EXPECT_GT(given_up, 0);
}

TEST(SimLink, the_same_seed_gives_the_same_faults) {
  auto history = [](std::uint64_t seed) {
    Sim sim(seed);
    LinkFaults faults{.refused = 0.1, .lost_request = 0.1, .lost_reply = 0.1, .throttled = 0.2};
    SimLink link(sim.target, sim.random, faults);
    std::string text;
    for (int i = 0; i < 100; ++i) {
      Result<Response> response = sim.send(link);
      text += response ? std::to_string(response->status) : response.error().message;
    }
    return text + std::to_string(sim.loop.now().time_since_epoch().count());
  };
  EXPECT_EQ(history(7), history(7));
  EXPECT_NE(history(7), history(8));
}

}  // namespace
}  // namespace codeflare::net
