#include "runtime/client_actor.h"

#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "base/env/sim_env.h"
#include "base/log_capture.h"
#include "kube/testing/scripted_service.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::runtime {
namespace {

using namespace std::chrono_literals;

const ResourceType kJobs{"batch", "v1", "Job", "jobs", true};
const ResourceType kPods{"", "v1", "Pod", "pods", true};
const ResourceType kEvents{"", "v1", "Event", "events", true};
const ObjectKey kJob{"default", "job"};

std::string pod(const std::string& name) {
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name + R"("}})";
}

Action create(const std::string& name, bool together = false) {
  return {.verb = Action::Verb::create,
          .type = kPods,
          .key = {"default", name},
          .body = pod(name),
          .why = "it is wanted",
          .together = together};
}

Action remove(const std::string& name) {
  return {.verb = Action::Verb::remove, .type = kPods, .key = {"default", name}, .why = "enough"};
}

// Each request takes a second to get there, or each answer back, once told so.
class Delay final : public net::HttpService {
 public:
  explicit Delay(net::HttpService& to) : to_(to) {}
  Task<Result<net::Response>> send(net::Request request) override {
    if (on) {
      CO_TRY(co_await sleep_for(1s));
    }
    Result<net::Response> response = co_await to_.send(std::move(request));
    if (late_answers) {
      CO_TRY(co_await sleep_for(1s));
    }
    co_return response;
  }
  bool on = false;
  bool late_answers = false;

 private:
  net::HttpService& to_;
};

// A Job that is reconciled, pods that its controller writes, and the caches of both.
struct World {
  SimEnv sim;
  Env env = sim.env();
  kube::testing::ScriptedService service{env};
  Delay delay{service};
  kube::Client client{env, delay};
  LogCapture log;
  Informer jobs{env, client, kJobs};
  Informer pods{env, client, kPods};
  EventRecorder events{env, client, "tester"};
  ClientActor actor{client, jobs, &events, log.logger(env.clock)};
  TaskGroup group{env.loop};

  World() {
    actor.follow(pods);
    service.put(kJobs, R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"job",)"
                       R"("namespace":"default"}})");
    group.spawn(jobs.run());
    group.spawn(pods.run());
    group.spawn(events.run());
    settle();
  }
  ~World() { EXPECT_TRUE(run(env.loop, group.close())); }

  void settle(Duration time = 1s) { EXPECT_TRUE(run(env.loop, sleep_for(time))); }
  Result<void> act(std::vector<Action> actions, std::vector<EventNote> notes = {}) {
    Plan plan;
    plan.actions = std::move(actions);
    plan.events = std::move(notes);
    return *run(env.loop, actor.act(kJob, std::move(plan)));
  }
  Result<void> ready() { return *run(env.loop, actor.ready(kJob)); }
  bool has(const std::string& name) { return service.find(kPods, {"default", name}) != nullptr; }
  bool cached(const std::string& name) { return pods.store().get("default", name) != nullptr; }
  // Of pods.
  void refuse(std::string method, int status, const char* reason) {
    service.set_intercept([method, status, reason](const net::Request& request) {
      return request.method == method && request.target.contains("/pods")
                 ? std::optional(kube::testing::status_answer(status, reason, "not for you"))
                 : std::nullopt;
    });
  }
  // The events about the Job: "FailedCreate: ..."
  std::vector<std::string> told() {
    settle();
    std::vector<std::string> found;
    for (const auto& [key, event] : service.objects(kEvents)) {
      found.push_back(event->string_at({"reason"}) + ": " + event->string_at({"message"}));
    }
    return found;
  }
};

TEST(ClientActor, writes_in_order_and_stops_at_the_first_failure) {
  World w;
  const Result<void> done = w.act({create("a"), create("a"), create("b")});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::already_exists);
  EXPECT_TRUE(w.has("a"));
  EXPECT_FALSE(w.has("b"));
}

TEST(ClientActor, goes_on_when_what_may_exist_exists) {
  World w;
  Action again = create("a");
  again.existing_is_fine = true;
  const Result<void> done = w.act({create("a"), again, create("b")});
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_TRUE(w.has("b"));
}

TEST(ClientActor, says_what_it_writes_and_why) {
  World w;
  ASSERT_TRUE(w.act({create("a")}));
  EXPECT_TRUE(w.log.has("verb=create"));
  EXPECT_TRUE(w.log.has("it is wanted"));
}

TEST(ClientActor, removing_what_is_gone_is_no_failure) {
  World w;
  EXPECT_TRUE(w.act({remove("a"), create("b")}));
  EXPECT_TRUE(w.has("b"));
}

TEST(ClientActor, a_key_is_ready_again_when_the_caches_show_what_was_written) {
  World w;
  ASSERT_TRUE(w.act({create("a")}));
  EXPECT_FALSE(w.cached("a")) << "or the test shows nothing";
  ASSERT_TRUE(w.ready());
  EXPECT_TRUE(w.cached("a"));
  ASSERT_TRUE(w.act({remove("a")}));
  EXPECT_TRUE(w.cached("a")) << "or the test shows nothing";
  ASSERT_TRUE(w.ready());
  EXPECT_FALSE(w.cached("a"));
}

TEST(ClientActor, the_successor_of_what_was_removed_is_not_waited_for) {
  World w;
  ASSERT_TRUE(w.act({create("a")}));
  ASSERT_TRUE(w.ready());
  w.delay.late_answers = true;
  w.env.loop.start_timer(after(w.env.loop.now(), 500ms), [&w] {
    w.service.put(kPods, R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a",)"
                         R"("namespace":"default"}})");
  });
  ASSERT_TRUE(w.act({remove("a")}));
  w.delay.late_answers = false;
  w.settle(5s);
  ASSERT_TRUE(w.cached("a")) << "or the test shows nothing";
  EXPECT_TRUE(w.ready());
}

TEST(ClientActor, a_key_whose_writes_do_not_show_stays_not_ready) {
  World w;
  w.refuse("GET", 503, "ServiceUnavailable");
  w.service.break_watches();
  w.settle();
  ASSERT_TRUE(w.act({create("a")}));
  for (int i = 0; i < 2; ++i) {
    const Result<void> ready = w.ready();
    ASSERT_FALSE(ready);
    EXPECT_EQ(ready.error().code, ErrorCode::unavailable);
  }
  EXPECT_TRUE(*run(w.env.loop, w.actor.ready({"default", "other"})))
      << "other keys have nothing to wait for";
  w.service.set_intercept({});
  w.settle(1min);
  EXPECT_TRUE(w.ready());
  EXPECT_TRUE(w.cached("a"));
}

TEST(ClientActor, a_refused_creation_is_told_in_an_event) {
  World w;
  w.refuse("POST", 403, "Forbidden");
  const Result<void> done = w.act({create("a")});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::permission_denied);
  w.service.set_intercept({});
  ASSERT_EQ(w.told().size(), 1u);
  EXPECT_TRUE(w.told()[0].starts_with("FailedCreate: Error creating: ")) << w.told()[0];
  EXPECT_TRUE(w.told()[0].contains("not for you")) << w.told()[0];
}

TEST(ClientActor, a_server_that_is_away_is_not_told_in_events) {
  World w;
  w.refuse("POST", 503, "ServiceUnavailable");
  EXPECT_FALSE(w.act({create("a")}));
  w.service.set_intercept({});
  EXPECT_TRUE(w.told().empty());
}

TEST(ClientActor, events_of_a_plan_are_recorded_when_its_writes_went_well) {
  World w;
  EXPECT_FALSE(w.act({create("a"), create("a")}, {{.reason = "Made", .message = "two pods"}}));
  EXPECT_TRUE(w.told().empty());
  EXPECT_TRUE(w.act({create("b")}, {{.reason = "Made", .message = "a pod"}}));
  EXPECT_EQ(w.told(), std::vector<std::string>{"Made: a pod"});
}

TEST(ClientActor, writes_that_may_go_together_share_the_wait_in_bounded_numbers) {
  World w;
  w.delay.on = true;
  const Instant begin = w.env.loop.now();
  ASSERT_TRUE(w.act({create("a"), create("b")}));
  EXPECT_EQ(w.env.loop.now() - begin, 2s) << "one after the other";
  std::vector<Action> many;
  for (int i = 0; i < 64; ++i) {
    many.push_back(create("p" + std::to_string(i), true));
  }
  ASSERT_TRUE(w.act(std::move(many)));
  EXPECT_EQ(w.env.loop.now() - begin, 4s) << "32 at a time";
  EXPECT_EQ(w.service.objects(kPods).size(), 66u);
}

TEST(ClientActor, after_a_failure_no_more_of_those_that_go_together_are_begun) {
  World w;
  w.delay.on = true;
  w.refuse("POST", 403, "Forbidden");
  w.service.forget_requests();
  std::vector<Action> many;
  for (int i = 0; i < 64; ++i) {
    many.push_back(create("p" + std::to_string(i), true));
  }
  EXPECT_FALSE(w.act(std::move(many)));
  const auto posts = std::ranges::count_if(w.service.requests(), [](const std::string& request) {
    return request.starts_with("POST ") && request.contains("/pods");
  });
  EXPECT_EQ(posts, 32);
}

}  // namespace
}  // namespace codeflare::runtime
