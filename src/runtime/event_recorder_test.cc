#include "runtime/event_recorder.h"

#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "base/env/sim_env.h"
#include "kube/testing/scripted_service.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::runtime {
namespace {

using namespace std::chrono_literals;
using kube::ObjectRef;

const model::ResourceType kEvents{"", "v1", "Event", "events", true};

EventSubject pod(std::string name = "web") {
  return {{"", "v1", "Pod"}, {"team", std::move(name)}, "uid-1", "7"};
}

// Each request takes a second to get there.
class SlowService final : public net::HttpService {
 public:
  explicit SlowService(net::HttpService& to) : to_(to) {}
  Task<Result<net::Response>> send(net::Request request) override {
    CO_TRY(co_await sleep_for(1s));
    co_return co_await to_.send(std::move(request));
  }

 private:
  net::HttpService& to_;
};

struct World {
  SimEnv sim;
  Env env = sim.env();
  kube::testing::ScriptedService service{env};
  SlowService slow{service};
  kube::Client client{env, slow};
  EventRecorder recorder{env, client, "tester"};
  TaskGroup group{env.loop};

  World() {
    group.spawn(recorder.run());
    settle(0s);
  }
  ~World() { EXPECT_TRUE(run(env.loop, group.close())); }

  void settle(Duration time = 10s) { EXPECT_TRUE(run(env.loop, sleep_for(time))); }
  Duration time_to_close() {
    const Instant begin = env.loop.now();
    EXPECT_TRUE(run(env.loop, group.close()));
    return env.loop.now() - begin;
  }
  void refuse(int status, const char* reason) {
    service.set_intercept([status, reason](const net::Request&) {
      return std::optional(kube::testing::status_answer(status, reason, "not now"));
    });
  }
  std::vector<ObjectRef> events() const {
    std::vector<ObjectRef> found;
    for (const auto& [key, event] : service.objects(kEvents)) {
      found.push_back(event);
    }
    return found;
  }
};

std::int64_t count_of(const ObjectRef& event) {
  return event->parse()->root.find("count")->to_int64().value();
}

TEST(EventRecorder, tells_who_says_what_about_which_object) {
  World w;
  w.recorder.warning(pod(), "Failed", "no space");
  w.settle();
  ASSERT_EQ(w.events().size(), 1u);
  const ObjectRef event = w.events()[0];
  EXPECT_EQ(event->ns(), "team");
  EXPECT_TRUE(event->name().starts_with("web."));
  EXPECT_EQ(event->string_at({"type"}), "Warning");
  EXPECT_EQ(event->string_at({"reason"}), "Failed");
  EXPECT_EQ(event->string_at({"message"}), "no space");
  EXPECT_EQ(event->string_at({"source", "component"}), "tester");
  EXPECT_EQ(event->string_at({"involvedObject", "kind"}), "Pod");
  EXPECT_EQ(event->string_at({"involvedObject", "uid"}), "uid-1");
  EXPECT_EQ(count_of(event), 1);
}

TEST(EventRecorder, the_same_again_is_a_count_in_the_same_event) {
  World w;
  for (int i = 0; i < 3; ++i) {
    w.recorder.normal(pod(), "Started", "it runs");
    w.settle();
  }
  ASSERT_EQ(w.events().size(), 1u);
  EXPECT_EQ(count_of(w.events()[0]), 3);
}

TEST(EventRecorder, an_event_that_the_server_has_lost_is_made_again_with_its_count) {
  World w;
  w.recorder.normal(pod(), "Started", "it runs");
  w.settle();
  const std::string first(w.events().at(0)->name());
  w.service.erase(kEvents, w.events()[0]->key());
  w.recorder.normal(pod(), "Started", "it runs");
  w.settle();
  ASSERT_EQ(w.events().size(), 1u);
  EXPECT_NE(w.events()[0]->name(), first);
  EXPECT_EQ(count_of(w.events()[0]), 2);
  w.recorder.normal(pod(), "Started", "it runs");
  w.settle();
  ASSERT_EQ(w.events().size(), 1u) << "counted in the new one";
  EXPECT_EQ(count_of(w.events()[0]), 3);
}

TEST(EventRecorder, events_about_objects_without_namespace_live_in_default) {
  World w;
  w.recorder.normal({{"", "v1", "Node"}, {"", "n1"}, "uid-2", "8"}, "Ready", "it is ready");
  w.settle();
  ASSERT_EQ(w.events().size(), 1u);
  EXPECT_EQ(w.events()[0]->ns(), "default");
  EXPECT_EQ(w.events()[0]->string_at({"involvedObject", "namespace"}), "");
}

TEST(EventRecorder, long_messages_are_cut_at_1024_bytes_but_not_within_a_character) {
  World w;
  w.recorder.normal(pod("a"), "Long", std::string(1022, 'x') + "é and more");
  w.recorder.normal(pod("b"), "Long", std::string(1023, 'x') + "é and more");
  w.recorder.normal(pod("c"), "Long", std::string(1024, 'x'));
  w.settle();
  ASSERT_EQ(w.events().size(), 3u);
  EXPECT_EQ(w.events()[0]->string_at({"message"}), std::string(1022, 'x') + "é");
  EXPECT_EQ(w.events()[1]->string_at({"message"}), std::string(1023, 'x'));
  EXPECT_EQ(w.events()[2]->string_at({"message"}), std::string(1024, 'x'));
}

TEST(EventRecorder, tries_again_while_the_server_has_a_bad_moment) {
  World w;
  w.refuse(503, "ServiceUnavailable");
  w.recorder.normal(pod(), "Started", "it runs");
  w.settle(1min);
  EXPECT_TRUE(w.events().empty());
  w.service.set_intercept({});
  w.settle(20s);
  EXPECT_EQ(w.events().size(), 1u);
  EXPECT_EQ(w.recorder.dropped(), 0u);
}

TEST(EventRecorder, what_the_server_refuses_for_good_is_dropped_after_one_try) {
  World w;
  w.refuse(403, "Forbidden");
  w.recorder.normal(pod(), "Started", "it runs");
  w.settle(10min);
  EXPECT_EQ(w.service.requests().size(), 1u);
  EXPECT_EQ(w.recorder.dropped(), 1u);
}

TEST(EventRecorder, more_than_it_can_hold_is_dropped_without_waiting) {
  World w;
  for (int i = 0; i < 1005; ++i) {
    w.recorder.normal(pod("pod-" + std::to_string(i)), "Started", "it runs");
  }
  EXPECT_EQ(w.recorder.dropped(), 5u);
}

TEST(EventRecorder, what_is_queued_or_under_way_at_a_stop_is_still_written) {
  World w;
  w.recorder.normal(pod("a"), "Killing", "one");
  w.settle(500ms);
  w.recorder.normal(pod("b"), "Killing", "two");
  EXPECT_EQ(w.time_to_close(), 1500ms);
  EXPECT_EQ(w.events().size(), 2u);
  EXPECT_EQ(w.recorder.dropped(), 0u);
}

TEST(EventRecorder, a_server_that_does_not_answer_delays_the_end_by_seconds_only) {
  World w;
  w.refuse(503, "ServiceUnavailable");
  w.recorder.normal(pod("a"), "Killing", "one");
  w.recorder.normal(pod("b"), "Killing", "two");
  EXPECT_EQ(w.time_to_close(), 3s);
  EXPECT_TRUE(w.events().empty());
}

}  // namespace
}  // namespace codeflare::runtime
