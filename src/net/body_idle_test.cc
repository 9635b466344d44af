#include "net/body_idle.h"

#include "base/async/sleep.h"
#include "base/env/sim_env.h"
#include "net/testing/scripted_service.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

namespace codeflare::net {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A letter after each pause, then the end. Tells when it is dropped.
class SlowBody final : public BodyStream {
 public:
  SlowBody(std::vector<Duration> pauses, bool& dropped)
      : pauses_(std::move(pauses)), dropped_(dropped) {}
  ~SlowBody() override { dropped_ = true; }

  Task<Result<Bytes>> read() override {
    if (next_ == pauses_.size()) {
      co_return Bytes();
    }
    CO_TRY(co_await sleep_for(pauses_[next_]));
    ++next_;
    co_return Bytes::from(std::string("x"));
  }

 private:
  std::vector<Duration> pauses_;
  std::size_t next_ = 0;
  bool& dropped_;
};

TEST(BodyIdle, a_pause_beyond_the_limit_ends_it_and_closes_what_is_behind) {
  SimEnv sim;
  bool dropped = false;
  Body body = limit_idle(
      std::make_unique<SlowBody>(std::vector<Duration>{seconds(9), seconds(11)}, dropped),
      seconds(10));
  EXPECT_EQ((*run(sim.env().loop, body->read()))->view(), "x");
  const Instant before = sim.env().loop.now();
  Result<Bytes> late = *run(sim.env().loop, body->read());
  EXPECT_EQ(sim.env().loop.now() - before, seconds(10));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().to_string(), "unavailable: response body: nothing came for 10s");
  EXPECT_TRUE(dropped);
  EXPECT_EQ((*run(sim.env().loop, body->read())).error().code, ErrorCode::unavailable);
  EXPECT_FALSE(body->ready());
}

TEST(BodyIdle, many_short_pauses_may_last_longer_than_the_limit) {
  SimEnv sim;
  bool dropped = false;
  Body body = limit_idle(
      std::make_unique<SlowBody>(std::vector<Duration>(100, seconds(9)), dropped), seconds(10));
  EXPECT_EQ(run(sim.env().loop, read_all(std::move(body), 1000))->value().size(), 100u);
}

TEST(BodyIdle, only_the_time_of_a_read_counts) {
  SimEnv sim;
  bool dropped = false;
  Body body =
      limit_idle(std::make_unique<SlowBody>(std::vector<Duration>{seconds(1), seconds(1)}, dropped),
                 seconds(10));
  EXPECT_TRUE(*run(sim.env().loop, body->read()));
  run(sim.env().loop, sleep_for(std::chrono::hours(1)));
  EXPECT_EQ((*run(sim.env().loop, body->read()))->view(), "x") << "the reader was slow, not it";
}

TEST(BodyIdle, a_reader_that_stopped_may_come_again) {
  SimEnv sim;
  bool dropped = false;
  Body body = limit_idle(std::make_unique<SlowBody>(std::vector<Duration>{seconds(5)}, dropped),
                         seconds(10));
  Result<Bytes> stopped =
      *run(sim.env().loop, with_timeout(milliseconds(1), "reader", body->read()));
  EXPECT_EQ(stopped.error().code, ErrorCode::deadline_exceeded) << "its own deadline, not ours";
  EXPECT_FALSE(dropped);
  EXPECT_EQ((*run(sim.env().loop, body->read()))->view(), "x");
}

TEST(BodyIdle, what_is_there_is_handed_on_and_no_body_stays_none) {
  Body body = limit_idle(std::make_unique<testing::ListBody>(std::vector<std::string>{"a", "b"}),
                         seconds(10));
  EXPECT_EQ(body->ready()->view(), "a");
  SimEnv sim;
  EXPECT_EQ((*run(sim.env().loop, body->read()))->view(), "b");
  EXPECT_EQ(limit_idle(nullptr, seconds(10)), nullptr);
}

}  // namespace
}  // namespace codeflare::net
