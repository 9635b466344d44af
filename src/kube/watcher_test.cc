#include "kube/watcher.h"

#include "base/async/sleep.h"
#include "base/env/sim_env.h"
#include "base/log_capture.h"
#include "kube/testing/scripted_service.h"
#include "kube/testing/watch_recorder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace codeflare::kube {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::ScriptedOptions;
using testing::ScriptedService;
using testing::status_answer;
using testing::WatchRecorder;
using Lines = std::vector<std::string>;

const ResourceType kPods{"", "v1", "Pod", "pods", true};
const ResourceType kJobs{"batch", "v1", "Job", "jobs", true};

// A place where one server can take over from another.
class Switch final : public net::HttpService {
 public:
  explicit Switch(HttpService& first) : target(&first) {}
  Task<Result<net::Response>> send(net::Request request) override {
    return target->send(std::move(request));
  }
  HttpService* target;
};

// A stream that stays open and says nothing.
class SilentBody final : public net::BodyStream {
 public:
  Task<Result<Bytes>> read() override {
    CO_TRY(co_await sleep_until(Instant::max()));
    co_return Bytes();
  }
};

bool is_watch(const net::Request& request) {
  return request.target.contains("watch=true");
}

class WatcherTest : public ::testing::Test {
 protected:
  // Revision 100 is the empty server; the first write makes 101.
  void put(const std::string& name, const std::string& more = "") {
    service().put(kPods, R"({"kind":"Pod","metadata":{"namespace":"a","name":")" + name + "\"" +
                             more + R"(},"spec":{"n":)" + std::to_string(++writes_) + "}}");
  }
  void erase(const std::string& name) { ASSERT_TRUE(service().erase(kPods, {"a", name})); }

  ScriptedService& service() {
    if (!service_) {
      service_.emplace(sim_.env(), options_);
    }
    return *service_;
  }
  WatchRecorder& follow(WatcherOptions options = {.watch_list = false}) {
    recorder_.emplace(sim_.env(), client(), kPods, std::move(options));
    return *recorder_;
  }
  Client& client() {
    if (!client_) {
      switch_.emplace(service());
      client_.emplace(sim_.env(), *switch_);
    }
    return *client_;
  }
  // Lets time pass and tells what the watcher said meanwhile, but for its progress.
  Lines after(Duration duration) {
    run(sim_.env().loop, sleep_for(duration));
    Lines lines = recorder_->take();
    std::erase_if(lines, [](const std::string& line) { return line.starts_with("progress"); });
    return lines;
  }
  Lines requests() {
    Lines lines = service().requests();
    service().forget_requests();
    return lines;
  }
  // Positions of the watches among the requests so far.
  Lines watch_positions() {
    Lines positions;
    for (const std::string& line : requests()) {
      const std::size_t at = line.find("&resourceVersion=");
      if (line.contains("watch=true") && at != std::string::npos) {
        positions.push_back(line.substr(at + 17, line.find('&', at + 17) - at - 17));
      }
    }
    return positions;
  }

  SimEnv sim_;
  ScriptedOptions options_;
  std::optional<ScriptedService> service_;
  std::optional<Switch> switch_;
  std::optional<Client> client_;
  std::optional<WatchRecorder> recorder_;
  int writes_ = 0;
};

TEST_F(WatcherTest, lists_then_watches_from_there) {
  put("x");
  put("y");
  follow();
  EXPECT_EQ(after(seconds(1)), (Lines{"begin", "init x@101", "init y@102", "done@102"}));
  put("x");
  erase("y");
  put("z");
  EXPECT_EQ(after(seconds(1)), (Lines{"apply x@103", "delete y@104", "apply z@105"}));
  const Lines sent = requests();
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[0], "GET /api/v1/pods?resourceVersion=0&limit=500");
  EXPECT_TRUE(
      sent[1].starts_with("GET /api/v1/pods?watch=true&allowWatchBookmarks=true&"
                          "resourceVersion=102&timeoutSeconds=2"))
      << sent[1];
}

TEST_F(WatcherTest, reads_the_list_page_by_page) {
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    put(name);
  }
  follow({.page_limit = 2, .watch_list = false});
  EXPECT_EQ(after(seconds(1)), (Lines{"begin", "init a@101", "init b@102", "init c@103",
                                      "init d@104", "init e@105", "done@105"}));
  EXPECT_EQ(requests().size(), 4u);
}

TEST_F(WatcherTest, a_list_whose_pages_expire_starts_over_in_one_piece) {
  for (const char* name : {"a", "b", "c"}) {
    put(name);
  }
  bool expired = false;
  service().set_intercept([&](const net::Request& request) -> std::optional<net::Response> {
    if (request.target.contains("continue=") && !std::exchange(expired, true)) {
      put("b");
      service().compact();
    }
    return std::nullopt;
  });
  follow({.page_limit = 2, .watch_list = false});
  EXPECT_EQ(after(milliseconds(1)),
            (Lines{"begin", "init a@101", "init b@102",  //
                   "begin", "init a@101", "init b@104", "init c@103", "done@104"}));
  EXPECT_EQ(requests()[2], "GET /api/v1/pods");
}

// Item by item is what keeps the memory small: the answer is not turned into objects that wait
// beside the cache. An item that is none proves it, for what stands before it has been delivered.
TEST_F(WatcherTest, makes_an_object_of_a_list_only_when_it_is_its_turn) {
  put("x");
  follow();
  after(seconds(2));
  bool forgot = false;
  bool listed = false;
  service().set_intercept([&](const net::Request& request) -> std::optional<net::Response> {
    if (is_watch(request)) {
      return std::exchange(forgot, true) ? std::nullopt
                                         : std::optional(status_answer(410, "Expired", "gone"));
    }
    if (std::exchange(listed, true)) {
      return std::nullopt;
    }
    EXPECT_EQ(request.target, "/api/v1/pods?resourceVersion=101") << "a relist in one piece";
    return net::make_response(
        200, "application/json",
        Bytes::from(R"({"kind":"PodList","metadata":{"resourceVersion":"104"},"items":[)"
                    R"({"metadata":{"namespace":"a","name":"x","resourceVersion":"101"}},)"
                    R"({"metadata":{"namespace":"a","name":"y","resourceVersion":"102"}},)"
                    R"({"metadata":{"namespace":"a"}}]})"));
  });
  service().break_watches();
  EXPECT_EQ(after(minutes(1)), (Lines{"begin", "init x@101", "init y@102",  //
                                      "begin", "init x@101", "done@101"}));
}

TEST_F(WatcherTest, a_reader_that_stops_within_a_list_goes_on_where_it_was) {
  for (const char* name : {"x", "y", "z"}) {
    put(name);
  }
  Watcher watcher(client(), kPods, {.watch_list = false});
  const auto next = [&] { return *run(sim_.env().loop, watcher.next()); };
  EXPECT_EQ(next()->type, WatcherEvent::Type::init_begin);
  EXPECT_EQ(next()->object->name(), "x");
  StopSource stop;
  stop.request_stop();
  // It may deliver what is at hand; what it must not do is lose it.
  const Result<WatcherEvent> stopped =
      *run(sim_.env().loop, with_stop(stop.token(), watcher.next()));
  EXPECT_EQ(stopped ? stopped->object->name() : next()->object->name(), "y");
  EXPECT_EQ(next()->object->name(), "z");
  EXPECT_EQ(next()->type, WatcherEvent::Type::init_done);
  EXPECT_EQ(requests().size(), 1u);
}

TEST_F(WatcherTest, streams_the_initial_objects_where_the_server_can) {
  put("x");
  put("y");
  follow({});
  EXPECT_EQ(after(seconds(1)), (Lines{"begin", "init x@101", "init y@102", "done@102"}));
  put("x");
  EXPECT_EQ(after(seconds(1)), (Lines{"apply x@103"}));
  const Lines sent = requests();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_TRUE(sent[0].contains("&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"));
}

TEST_F(WatcherTest, initial_objects_are_asked_for_once_not_at_each_reconnect) {
  put("x");
  follow({});
  EXPECT_EQ(after(minutes(30)), (Lines{"begin", "init x@101", "done@101"}));
  const Lines sent = requests();
  EXPECT_GE(sent.size(), 6u) << "the server ends a watch every five minutes";
  EXPECT_EQ(std::ranges::count_if(
                sent, [](const std::string& l) { return l.contains("sendInitialEvents"); }),
            1);
}

TEST_F(WatcherTest, changes_among_the_initial_objects_come_after_them) {
  options_.initial_mark_delay = seconds(2);
  put("x");
  put("y");
  follow({});
  EXPECT_EQ(after(seconds(1)), (Lines{"begin", "init x@101", "init y@102"}));
  put("x");
  erase("y");
  put("y");
  EXPECT_EQ(after(milliseconds(500)), Lines());
  EXPECT_EQ(after(seconds(1)), (Lines{"done@102", "apply x@103", "delete y@104", "apply y@105"}));
}

TEST_F(WatcherTest, a_server_that_refuses_initial_events_is_listed_and_remembered) {
  options_.watch_list = ScriptedOptions::WatchList::refused;
  put("x");
  follow({});
  EXPECT_EQ(after(milliseconds(1)), (Lines{"begin", "init x@101", "done@101"}));
  EXPECT_EQ(requests().size(), 3u);
  WatchRecorder second(sim_.env(), client(), kPods, {});
  after(seconds(1));
  EXPECT_EQ(requests().front(), "GET /api/v1/pods?resourceVersion=0&limit=500");
  WatchRecorder other_group(sim_.env(), client(), kJobs, {});
  after(seconds(1));
  EXPECT_TRUE(requests().front().contains("sendInitialEvents=true"));
}

TEST_F(WatcherTest, a_server_that_ignores_initial_events_is_found_out) {
  options_.watch_list = ScriptedOptions::WatchList::ignored;
  put("x");
  follow({});
  EXPECT_EQ(after(seconds(9)), (Lines{"begin", "init x@101"}));
  EXPECT_EQ(after(seconds(2)), (Lines{"begin", "init x@101", "done@101"}));
}

TEST_F(WatcherTest, resumes_at_once_after_an_orderly_end) {
  put("x");
  follow();
  after(seconds(2));
  put("y");
  after(milliseconds(1));
  requests();
  service().end_watches();
  put("z");
  EXPECT_EQ(after(milliseconds(1)), (Lines{"apply z@103"}));
  EXPECT_EQ(watch_positions(), (Lines{"102"}));
  service().end_watches();
  after(seconds(5));
  put("z");
  EXPECT_EQ(after(seconds(5)), (Lines{"apply z@104"}));
}

TEST_F(WatcherTest, resumes_after_a_cut_without_losing_or_doubling) {
  put("x");
  follow();
  after(seconds(2));
  for (int i = 0; i < 20; ++i) {
    service().break_watches();
    put("x");
    erase("x");
  }
  Lines expected;
  for (int i = 0; i < 20; ++i) {
    expected.push_back("apply x@" + std::to_string(102 + 2 * i));
    expected.push_back("delete x@" + std::to_string(103 + 2 * i));
  }
  EXPECT_EQ(after(seconds(2)), expected);
}

TEST_F(WatcherTest, lists_again_when_its_position_is_compacted) {
  put("x");
  put("y");
  follow();
  after(seconds(2));
  requests();
  service().break_watches();
  put("x");
  erase("y");
  service().compact();
  EXPECT_EQ(after(seconds(5)), (Lines{"begin", "init x@103", "done@104"}));
  Lines sent = requests();
  ASSERT_EQ(sent.size(), 3u);
  EXPECT_EQ(sent[1], "GET /api/v1/pods?resourceVersion=102") << "nothing older, in one piece";
  put("z");
  EXPECT_EQ(after(seconds(5)), (Lines{"apply z@105"}));
}

TEST_F(WatcherTest, an_error_event_on_an_open_stream_counts_too) {
  put("x");
  follow({});
  after(seconds(2));
  put("x");
  service().compact();  // before the stream could deliver it
  EXPECT_EQ(after(seconds(5)), (Lines{"begin", "init x@102", "done@102"}));
}

TEST_F(WatcherTest, bookmarks_move_the_position) {
  put("x");
  follow();
  after(seconds(2));
  service().put(kJobs, R"({"metadata":{"name":"other","namespace":"a"}})");
  after(seconds(61));
  service().compact();
  requests();
  service().break_watches();
  put("x");
  EXPECT_EQ(after(seconds(5)), (Lines{"apply x@103"}));
  EXPECT_EQ(watch_positions(), (Lines{"102"}));
}

TEST_F(WatcherTest, a_bookmark_without_a_version_or_from_the_past_moves_nothing) {
  put("x");
  follow();
  after(seconds(2));
  requests();
  int watches = 0;
  service().set_intercept([&](const net::Request& request) -> std::optional<net::Response> {
    if (!request.target.contains("watch=true") || watches++ > 0) {
      return std::nullopt;
    }
    std::string lines;
    for (const char* version : {"3", "100", ""}) {
      lines += R"({"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":")" +
               std::string(version) + "\"}}}\n";
    }
    return net::make_response(200, "application/json", Bytes::from(std::move(lines)));
  });
  service().break_watches();
  after(seconds(10));
  EXPECT_GE(watches, 2);
  for (const std::string& position : watch_positions()) {
    EXPECT_EQ(position, "101");
  }
}

TEST_F(WatcherTest, a_list_that_is_refused_as_too_old_asks_for_the_newest) {
  put("x");
  follow();
  after(seconds(2));
  service().set_intercept([](const net::Request& request) -> std::optional<net::Response> {
    if (request.target.contains("resourceVersion=")) {
      return status_answer(410, "Expired", "gone");
    }
    return std::nullopt;
  });
  service().break_watches();
  EXPECT_EQ(after(seconds(2)), (Lines{"begin", "init x@101", "done@101"}));
}

TEST_F(WatcherTest, follows_a_server_whose_versions_went_back) {
  for (const char* name : {"a", "b", "c"}) {
    put(name);
  }
  follow();
  after(seconds(2));
  ScriptedService restored(sim_.env());
  restored.put(kPods, R"({"metadata":{"namespace":"a","name":"old"}})");
  switch_->target = &restored;
  service().break_watches();
  EXPECT_EQ(after(minutes(3)), (Lines{"begin", "init old@101", "done@101"}));
  restored.put(kPods, R"({"metadata":{"namespace":"a","name":"new"}})");
  EXPECT_EQ(after(seconds(1)), (Lines{"apply new@102"}));
  recorder_.reset();
}

TEST_F(WatcherTest, waits_out_throttling_where_it_was) {
  put("x");
  follow();
  after(seconds(2));
  requests();
  service().set_intercept([](const net::Request& request) -> std::optional<net::Response> {
    return is_watch(request) ? std::optional(status_answer(429, "TooManyRequests", "later"))
                             : std::nullopt;
  });
  service().break_watches();
  put("y");
  EXPECT_EQ(after(minutes(2)), Lines());
  const Lines throttled = watch_positions();
  EXPECT_LT(throttled.size(), 130u);
  EXPECT_EQ(std::ranges::count(throttled, "101"), std::ssize(throttled));
  service().set_intercept(nullptr);
  EXPECT_EQ(after(seconds(45)), (Lines{"apply y@102"}));
}

TEST_F(WatcherTest, internal_errors_are_retried_for_a_minute_then_it_lists) {
  put("x");
  follow();
  after(seconds(2));
  service().set_intercept([](const net::Request& request) -> std::optional<net::Response> {
    return is_watch(request) ? std::optional(status_answer(500, "InternalError", "oops"))
                             : std::nullopt;
  });
  service().break_watches();
  EXPECT_EQ(after(seconds(50)), Lines());
  EXPECT_EQ(after(seconds(60)), (Lines{"begin", "init x@101", "done@101"}));
}

TEST_F(WatcherTest, gives_up_a_silent_stream_five_seconds_after_its_time) {
  put("x");
  bool silent = true;
  service().set_intercept([&](const net::Request& request) -> std::optional<net::Response> {
    if (!is_watch(request) || !std::exchange(silent, false)) {
      return std::nullopt;
    }
    return net::Response{.status = 200, .body = std::make_unique<SilentBody>()};
  });
  follow();
  after(seconds(1));
  put("y");
  EXPECT_EQ(after(seconds(250)), Lines());
  EXPECT_EQ(after(seconds(50)), (Lines{"apply y@102"}));
}

TEST_F(WatcherTest, a_server_that_ends_every_watch_at_once_is_not_hammered) {
  put("x");
  service().set_intercept([](const net::Request& request) -> std::optional<net::Response> {
    return is_watch(request) ? std::optional(net::Response{.status = 200}) : std::nullopt;
  });
  follow();
  after(minutes(10));
  EXPECT_LT(requests().size(), 100u);
  ASSERT_TRUE(recorder_->watcher().last_error());
  EXPECT_EQ(recorder_->watcher().last_error()->message,
            "watch of pods ended at once and without an event");
}

TEST_F(WatcherTest, repeated_events_are_dropped) {
  options_.replayed_revisions = 50;
  put("x");
  put("y");
  put("x");
  erase("y");
  put("y");
  follow();
  EXPECT_EQ(after(seconds(2)), (Lines{"begin", "init x@103", "init y@105", "done@105"}));
  put("x");
  erase("y");
  EXPECT_EQ(after(seconds(1)), (Lines{"apply x@106", "delete y@107"}));
  service().break_watches();
  put("z");
  EXPECT_EQ(after(seconds(3)), (Lines{"apply z@108"}));
}

TEST_F(WatcherTest, versions_that_cannot_be_compared_never_hide_an_event) {
  // Each object counts its own versions here, and the collection counts something else.
  int watches = 0;
  service().set_intercept([&](const net::Request& request) -> std::optional<net::Response> {
    if (!is_watch(request)) {
      return net::make_response(
          200, "application/json",
          Bytes::from_static(R"({"kind":"PodList","metadata":{"resourceVersion":"5"},"items":[)"
                             R"({"metadata":{"name":"x","resourceVersion":"9"}}]})"));
    }
    if (++watches > 1) {
      return net::Response{.status = 200, .body = std::make_unique<SilentBody>()};
    }
    return net::make_response(
        200, "application/json",
        Bytes::from_static(R"({"type":"ADDED","object":{"metadata":{"name":"y",)"
                           R"("resourceVersion":"1"}}})"
                           "\n"));
  });
  follow();
  EXPECT_EQ(after(seconds(1)), (Lines{"begin", "init x@9", "done@5", "apply y@1"}));
}

TEST_F(WatcherTest, a_missing_kind_is_told_and_waited_for) {
  bool missing = true;
  service().set_intercept([&](const net::Request&) -> std::optional<net::Response> {
    return missing ? std::optional(status_answer(
                         404, "NotFound", "the server could not find the requested resource"))
                   : std::nullopt;
  });
  follow({});
  EXPECT_EQ(after(minutes(5)), Lines());
  ASSERT_TRUE(recorder_->watcher().last_error());
  EXPECT_EQ(recorder_->watcher().last_error()->code, ErrorCode::not_found);
  EXPECT_LT(requests().size(), 60u);
  missing = false;
  EXPECT_EQ(after(seconds(31)), (Lines{"begin", "done@100"}));
  EXPECT_FALSE(recorder_->watcher().last_error());
}

TEST_F(WatcherTest, passes_selectors_and_asks_for_metadata_alone) {
  put("x", R"(,"labels":{"app":"web"})");
  put("y", R"(,"labels":{"app":"db"})");
  follow({.ns = "a", .label_selector = "app=web", .metadata_only = true});
  EXPECT_EQ(after(seconds(1)), (Lines{"begin", "init x@101", "done@102"}));
  put("y", R"(,"labels":{"app":"web"})");
  put("x", R"(,"labels":{"app":"db"})");
  EXPECT_EQ(after(seconds(1)), (Lines{"apply y@103", "delete x@104"}));
}

std::optional<net::Response> without_versions(const net::Request& request) {
  if (is_watch(request) || request.target.contains("continue")) {
    return std::nullopt;
  }
  return net::make_response(200, "application/json",
                            Bytes::from_static(R"({"kind":"PodList","metadata":{},"items":[]})"));
}

TEST_F(WatcherTest, objects_of_a_watch_without_a_version_are_no_position) {
  put("y");
  put("x");  // newer, but sent first
  service().set_intercept(without_versions);
  follow();
  const Lines whole = {"begin", "done@", "apply x@102", "apply y@101"};
  EXPECT_EQ(after(seconds(2)), whole);
  requests();
  service().break_watches();
  EXPECT_EQ(after(seconds(2)), whole) << "only a list can tell what was deleted meanwhile";
  for (const std::string& line : requests()) {
    EXPECT_FALSE(line.contains("resourceVersion=1")) << line;
  }
  erase("x");
  put("z");
  EXPECT_EQ(after(seconds(2)), (Lines{"delete x@103", "apply z@104"}));
  requests();
  service().break_watches();
  after(seconds(2));
  EXPECT_EQ(watch_positions(), (Lines{"104"}));
}

Task<Result<WatcherEvent>> next_within(Watcher* watcher, Duration patience) {
  co_return co_await with_timeout(patience, "event", watcher->next());
}

TEST_F(WatcherTest, a_kind_that_is_gone_is_told_once_until_it_is_back) {
  LogCapture log;
  Logger logger = log.logger(sim_.env().clock, LogLevel::warn);
  put("x");
  follow({.logger = &logger});
  after(seconds(1));
  bool gone = false;
  service().set_intercept([&](const net::Request&) {
    return gone ? std::optional(status_answer(404, "NotFound", "page not found")) : std::nullopt;
  });
  for (std::size_t round = 1; round <= 2; ++round) {
    gone = true;
    service().end_watches();
    after(minutes(20));
    EXPECT_EQ(log.lines().size(), round) << "once, not once per try";
    gone = false;
    after(minutes(1));
    EXPECT_FALSE(recorder_->watcher().last_error());
  }
  recorder_.reset();  // before its logger
}

TEST_F(WatcherTest, a_reader_that_stops_and_comes_back_misses_nothing) {
  put("x");
  Watcher watcher(client(), kPods, {});
  auto next = [&](Duration patience) {
    return *run(sim_.env().loop, next_within(&watcher, patience));
  };
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(next(seconds(1)));
  }
  while (next(seconds(3))) {
  }
  put("y");
  EXPECT_EQ(next(seconds(3))->object->name(), "y");
}

TEST_F(WatcherTest, a_reader_that_stops_among_the_initial_objects_starts_over) {
  options_.initial_mark_delay = seconds(2);
  put("x");
  Watcher watcher(client(), kPods, {});
  auto next = [&] { return *run(sim_.env().loop, next_within(&watcher, seconds(1))); };
  EXPECT_EQ(next()->type, WatcherEvent::Type::init_begin);
  EXPECT_EQ(next()->type, WatcherEvent::Type::init_object);
  EXPECT_EQ(next().error().code, ErrorCode::deadline_exceeded);
  EXPECT_EQ(service().open_watches(), 0u);
  EXPECT_EQ(next()->type, WatcherEvent::Type::init_begin);
  EXPECT_EQ(next()->type, WatcherEvent::Type::init_object);
}

}  // namespace
}  // namespace codeflare::kube
