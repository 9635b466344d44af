#include "runtime/event_correlator.h"

#include <gtest/gtest.h>

namespace codeflare::runtime {
namespace {

using namespace std::chrono_literals;
using Kind = EventCorrelator::Decision::Kind;

const WallTime kStart{std::chrono::seconds(1'700'000'000)};

EventRecord event(std::string message, std::string object = "web") {
  return {{{"", "v1", "Pod"}, {"default", std::move(object)}, "uid-1", "7"},
          true,
          "Failed",
          std::move(message)};
}

TEST(EventCorrelator, the_same_event_again_counts_up_the_first) {
  EventCorrelator correlator;
  auto first = correlator.decide(event("no space"), kStart);
  EXPECT_EQ(first.kind, Kind::create);
  correlator.created(first.key, "web.1");
  auto second = correlator.decide(event("no space"), kStart + 5s);
  EXPECT_EQ(second.kind, Kind::count);
  EXPECT_EQ(second.count, 2);
  EXPECT_EQ(second.event_name, "web.1");
  EXPECT_EQ(second.first, kStart);
}

TEST(EventCorrelator, an_event_that_the_server_forgot_is_created_anew) {
  EventCorrelator correlator;
  auto first = correlator.decide(event("no space"), kStart);
  correlator.created(first.key, "web.1");
  correlator.lost(first.key);
  EXPECT_EQ(correlator.decide(event("no space"), kStart + 1h).kind, Kind::create);
}

TEST(EventCorrelator, more_than_ten_alike_but_for_the_message_are_combined) {
  EventCorrelator correlator;
  for (int i = 0; i < 10; ++i) {
    auto decision = correlator.decide(event("attempt " + std::to_string(i)), kStart);
    EXPECT_EQ(decision.message, "attempt " + std::to_string(i));
    correlator.created(decision.key, "web." + std::to_string(i));
  }
  auto eleventh = correlator.decide(event("attempt 10"), kStart + 1s);
  EXPECT_EQ(eleventh.kind, Kind::create);
  EXPECT_EQ(eleventh.message, "(combined from similar events): attempt 10");
  correlator.created(eleventh.key, "web.combined");
  auto twelfth = correlator.decide(event("attempt 11"), kStart + 2s);
  EXPECT_EQ(twelfth.kind, Kind::count);
  EXPECT_EQ(twelfth.event_name, "web.combined");
  auto later = correlator.decide(event("attempt 12"), kStart + 20min);
  EXPECT_EQ(later.message, "attempt 12") << "the window has passed";
}

TEST(EventCorrelator, one_object_may_not_flood_the_server_but_others_still_speak) {
  EventCorrelator correlator;
  int written = 0;
  for (int i = 0; i < 100; ++i) {
    written += correlator.decide(event("again"), kStart).kind != Kind::drop;
  }
  EXPECT_EQ(written, 25);
  EXPECT_NE(correlator.decide(event("again", "other"), kStart).kind, Kind::drop);
  EXPECT_NE(correlator.decide(event("again"), kStart + 5min).kind, Kind::drop);
  EXPECT_EQ(correlator.decide(event("again"), kStart + 5min).kind, Kind::drop);
}

TEST(EventCorrelator, forgets_objects_that_have_been_quiet_for_hours) {
  EventCorrelator correlator;
  for (int i = 0; i < 1000; ++i) {
    correlator.decide(event("hello", "pod-" + std::to_string(i)), kStart);
  }
  correlator.decide(event("hello"), kStart + 24h);
  EXPECT_EQ(correlator.size(), 3u);
}

}  // namespace
}  // namespace codeflare::runtime
