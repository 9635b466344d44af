#include "kube/client.h"

#include "base/async/sleep.h"
#include "base/env/sim_env.h"
#include "base/log_capture.h"
#include "base/metrics.h"
#include "kube/impersonation.h"
#include "model/status.h"
#include "net/testing/scripted_service.h"

#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <functional>
#include <string>
#include <vector>

namespace codeflare::kube {
namespace {

using net::Request;
using net::Response;
using std::chrono::seconds;

const ResourceType kPods{"", "v1", "Pod", "pods", true};
const ResourceType kJobs{"batch", "v1", "Job", "jobs", true};
const ResourceType kNodes{"", "v1", "Node", "nodes", false};

std::string pod(const std::string& name, const std::string& more = "") {
  return R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":")" + name +
         R"(","namespace":"a","resourceVersion":"1")" + more + "}}";
}

std::string status(int code, const std::string& reason, const std::string& message,
                   const std::string& more = "") {
  return R"({"kind":"Status","apiVersion":"v1","metadata":{)" + more +
         R"(},"status":"Failure","reason":")" + reason + R"(","message":")" + message +
         R"(","code":)" + std::to_string(code) + "}";
}

Response json_answer(int code, std::string body) {
  return net::make_response(code, "application/json", Bytes::from(std::move(body)));
}

// A body that breaks off after its text.
class CutBody final : public net::BodyStream {
 public:
  explicit CutBody(std::string text) : text_(std::move(text)) {}
  Task<Result<Bytes>> read() override {
    if (text_.empty()) {
      co_return fail(unavailable("connection was reset"));
    }
    co_return Bytes::from(std::exchange(text_, {}));
  }

 private:
  std::string text_;
};

// A server that plays a script: one answer per request, in order; the last one repeats.
class ClientTest : public ::testing::Test {
 protected:
  struct Seen {
    std::string line;  // "GET /api/v1/pods"
    net::Headers headers;
    std::string body;
    Instant at;
  };
  using Answer = std::function<Result<Response>()>;

  void answer(int code, std::string body) {
    script_.push_back([=] { return json_answer(code, body); });
  }
  void answer_with_header(int code, std::string name, std::string value) {
    script_.push_back([=] {
      Response response = json_answer(code, "");
      response.headers.set(name, value);
      return response;
    });
  }
  void answer(Answer answer) { script_.push_back(std::move(answer)); }

  Task<Result<Response>> play(Request request) {
    Seen seen{request.method + " " + request.target, request.headers, {}, sim_.env().loop.now()};
    Result<std::string> body = co_await net::read_all(std::move(request.body), 1u << 20);
    seen.body = *body;
    seen_.push_back(std::move(seen));
    Answer next = script_.front();
    if (script_.size() > 1) {
      script_.pop_front();
    }
    co_return next();
  }

  template <typename T>
  T run(Task<T> task) {
    std::optional<T> value = codeflare::run(sim_.env().loop, std::move(task));
    CHECK(value.has_value(), "the client waits for ever");
    return *std::move(value);
  }

  SimEnv sim_;
  std::deque<Answer> script_;
  std::vector<Seen> seen_;
  net::testing::ScriptedService service_{[this](Request r) { return play(std::move(r)); }};
  Client client_{sim_.env(), service_, {.user_agent = "tester/1.0 (linux)"}};
};

TEST_F(ClientTest, get_asks_for_the_object_and_says_who_asks) {
  answer(200, pod("x"));
  const ObjectRef object = *run(client_.get(kPods, {"a", "x"}));
  EXPECT_EQ(object->name(), "x");
  ASSERT_EQ(seen_.size(), 1u);
  EXPECT_EQ(seen_[0].line, "GET /api/v1/namespaces/a/pods/x");
  EXPECT_EQ(seen_[0].headers.get("accept"), "application/json");
  EXPECT_EQ(seen_[0].headers.get("user-agent"), "tester/1.0 (linux)");
  EXPECT_FALSE(seen_[0].headers.has("content-type"));
  EXPECT_TRUE(run(client_.get(kPods, {"a", "x"}, "scale")));
  EXPECT_EQ(seen_[1].line, "GET /api/v1/namespaces/a/pods/x/scale");
}

TEST_F(ClientTest, a_request_that_addresses_nothing_is_never_sent) {
  EXPECT_EQ(run(client_.remove(kPods, {"a", ""})).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(run(client_.get(kNodes, {"a", "x"})).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(run(client_.create(kPods, "", "{}")).error().code, ErrorCode::invalid_argument);
  EXPECT_TRUE(seen_.empty());
}

TEST_F(ClientTest, the_servers_status_says_what_may_be_done) {
  answer(404, status(404, "NotFound", "pods \\\"x\\\" not found"));
  answer(409, status(409, "Conflict", "changed"));
  answer(409, status(409, "AlreadyExists", "there"));
  const Error missing = run(client_.get(kPods, {"a", "x"})).error();
  EXPECT_EQ(missing.to_string(), "not_found: pods \"x\" not found");
  ASSERT_NE(model::status_of(missing), nullptr);
  EXPECT_EQ(model::status_of(missing)->reason, "NotFound");
  EXPECT_EQ(run(client_.update(kPods, {"a", "x"}, pod("x"))).error().code, ErrorCode::conflict);
  EXPECT_EQ(run(client_.create(kPods, "a", pod("x"))).error().code, ErrorCode::already_exists);
  EXPECT_EQ(seen_.size(), 3u);
}

TEST_F(ClientTest, an_error_that_is_no_status_is_told_by_its_code) {
  answer(502, "<html>\nbad gateway");
  answer(403, "");
  answer(418, "tea\x01pot");
  Error error = run(client_.get(kPods, {"a", "x"})).error();
  EXPECT_EQ(error.to_string(),
            "unavailable: GET /api/v1/namespaces/a/pods/x: the server answered 502: <html>");
  error = run(client_.get(kPods, {"a", "x"})).error();
  EXPECT_EQ(error.to_string(),
            "permission_denied: GET /api/v1/namespaces/a/pods/x: the server answered 403");
  error = run(client_.get(kPods, {"a", "x"})).error();
  EXPECT_TRUE(error.message.ends_with("418: tea?pot")) << error.message;
}

TEST_F(ClientTest, an_answer_that_cannot_be_read_is_damaged_data) {
  answer(200, "[]");
  EXPECT_EQ(run(client_.get(kPods, {"a", "x"})).error().code, ErrorCode::data_loss);
  EXPECT_EQ(run(client_.list(kPods, {})).error().code, ErrorCode::data_loss);
}

TEST_F(ClientTest, writes_carry_their_options_and_the_field_manager) {
  answer(201, pod("x"));
  WriteOptions options{.field_validation = "Strict", .dry_run = true};
  EXPECT_TRUE(run(client_.create(kPods, "a", pod("x"), options)));
  EXPECT_EQ(seen_[0].line,
            "POST /api/v1/namespaces/a/pods?fieldManager=tester&fieldValidation=Strict&dryRun=All");
  EXPECT_EQ(seen_[0].headers.get("content-type"), "application/json");
  EXPECT_EQ(seen_[0].body, pod("x"));
  EXPECT_TRUE(run(client_.update(kJobs, {"a", "x"}, "{}", {.subresource = "status"})));
  EXPECT_EQ(seen_[1].line, "PUT /apis/batch/v1/namespaces/a/jobs/x/status?fieldManager=tester");
  EXPECT_TRUE(run(client_.apply(kPods, {"a", "x"}, "{}", {.field_manager = "me", .force = true})));
  EXPECT_EQ(seen_[2].line, "PATCH /api/v1/namespaces/a/pods/x?fieldManager=me&force=true");
  EXPECT_EQ(seen_[2].headers.get("content-type"), "application/apply-patch+yaml");
}

TEST_F(ClientTest, a_create_in_somebody_elses_name_says_whose) {
  answer(201, pod("x"));
  const Impersonation ann{
      .user = "ann", .uid = "7", .groups = {"dev", "ops"}, .extra = {{"acme/scopes", {"view"}}}};
  const Result<ObjectRef> made = run(create_as(client_, ann, kPods, "a", pod("x")));
  ASSERT_TRUE(made) << made.error().to_string();
  EXPECT_EQ((*made)->name(), "x");
  EXPECT_EQ(seen_[0].line, "POST /api/v1/namespaces/a/pods?fieldManager=tester");
  EXPECT_EQ(seen_[0].body, pod("x"));
  std::string headers;
  for (const net::Headers::Field& field : seen_[0].headers.fields()) {
    if (field.name.starts_with("Impersonate-")) {
      headers += field.name.substr(12) + "=" + field.value + ";";
    }
  }
  EXPECT_EQ(headers, "User=ann;Uid=7;Group=dev;Group=ops;Extra-acme%2Fscopes=view;");
  ASSERT_TRUE(run(create_as(client_, {}, kPods, "a", pod("x"))));
  EXPECT_FALSE(seen_[1].headers.has("Impersonate-User"));
}

TEST_F(ClientTest, each_kind_of_patch_has_its_content_type) {
  answer(200, pod("x"));
  const std::pair<PatchKind, const char*> kinds[] = {
      {PatchKind::json, "application/json-patch+json"},
      {PatchKind::merge, "application/merge-patch+json"},
      {PatchKind::strategic_merge, "application/strategic-merge-patch+json"},
      {PatchKind::apply, "application/apply-patch+yaml"}};
  for (auto [kind, type] : kinds) {
    EXPECT_TRUE(run(client_.patch(kPods, {"a", "x"}, kind, "{}")));
    EXPECT_EQ(seen_.back().headers.get("content-type"), type);
  }
}

TEST_F(ClientTest, subresources_that_are_posted_to_answer_with_anything) {
  answer(201, R"({"kind":"Status","status":"Success"})");
  EXPECT_EQ(run(client_.post(kPods, {"a", "x"}, "eviction", "{}")).value(),
            R"({"kind":"Status","status":"Success"})");
  EXPECT_EQ(seen_[0].line, "POST /api/v1/namespaces/a/pods/x/eviction");
}

TEST_F(ClientTest, delete_sends_options_and_tells_what_stays) {
  answer(200, R"({"kind":"Status","status":"Success"})");
  answer(200, pod("x", R"(,"deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["f"])"));
  answer(200, pod("x", R"(,"deletionTimestamp":"2026-01-01T00:00:00Z",)"
                       R"("deletionGracePeriodSeconds":30)"));
  answer(200, pod("x", R"(,"deletionTimestamp":"2026-01-01T00:00:00Z",)"
                       R"("deletionGracePeriodSeconds":0)"));
  answer(200, pod("x"));
  DeleteOptions options{.grace_period_seconds = 0,
                        .propagation_policy = "Foreground",
                        .uid = "u",
                        .resource_version = "5",
                        .dry_run = true};
  EXPECT_EQ(run(client_.remove(kPods, {"a", "x"}, options)).value(), nullptr);
  EXPECT_EQ(seen_[0].line, "DELETE /api/v1/namespaces/a/pods/x");
  EXPECT_EQ(seen_[0].body,
            R"({"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0,)"
            R"("propagationPolicy":"Foreground","preconditions":{"uid":"u","resourceVersion":"5"},)"
            R"("dryRun":["All"]})");
  EXPECT_NE(run(client_.remove(kPods, {"a", "x"})).value(), nullptr) << "finalizers";
  EXPECT_NE(run(client_.remove(kPods, {"a", "x"})).value(), nullptr) << "grace";
  EXPECT_EQ(run(client_.remove(kPods, {"a", "x"})).value(), nullptr) << "grace is over";
  EXPECT_EQ(run(client_.remove(kPods, {"a", "x"})).value(), nullptr) << "was never graceful";
}

TEST_F(ClientTest, delete_collection_takes_selectors) {
  answer(200, R"({"kind":"PodList","items":[]})");
  EXPECT_TRUE(run(client_.remove_collection(kPods, {.ns = "a", .label_selector = "x=y"})));
  EXPECT_EQ(seen_[0].line, "DELETE /api/v1/namespaces/a/pods?labelSelector=x%3Dy");
}

TEST_F(ClientTest, list_reads_items_and_metadata) {
  answer(200, R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9",)"
              R"("continue":"tok","remainingItemCount":3},"items":[)" +
                  pod("x") + "," + pod("y") + "]}");
  const ObjectList list = *run(client_.list(kPods, {.ns = "a",
                                                    .label_selector = "l=1",
                                                    .field_selector = "f=2",
                                                    .limit = 2,
                                                    .resource_version = "0",
                                                    .resource_version_match = "NotOlderThan",
                                                    .metadata_only = true}));
  ASSERT_EQ(list.items.size(), 2u);
  EXPECT_EQ(list.items[1]->name(), "y");
  EXPECT_EQ(list.resource_version, "9");
  EXPECT_EQ(list.continue_token, "tok");
  EXPECT_EQ(list.remaining_items, 3);
  EXPECT_EQ(seen_[0].line,
            "GET /api/v1/namespaces/a/pods?labelSelector=l%3D1&fieldSelector=f%3D2&"
            "resourceVersion=0&resourceVersionMatch=NotOlderThan&limit=2");
  EXPECT_EQ(seen_[0].headers.get("accept"),
            "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json");
}

std::string page(const std::string& names, const std::string& next) {
  std::string items;
  for (char name : names) {
    items += (items.empty() ? "" : ",") + pod(std::string(1, name));
  }
  return R"({"kind":"PodList","metadata":{"resourceVersion":"9","continue":")" + next +
         R"("},"items":[)" + items + "]}";
}

std::string names_of(const ObjectList& list) {
  std::string names;
  for (const ObjectRef& object : list.items) {
    names += object->name();
  }
  return names;
}

TEST_F(ClientTest, list_all_follows_the_pages) {
  answer(200, page("ab", "t1"));
  answer(200, page("cd", "t2"));
  answer(200, page("e", ""));
  const ObjectList list = *run(client_.list_all(kPods, {.limit = 2, .resource_version = "0"}));
  EXPECT_EQ(names_of(list), "abcde");
  EXPECT_EQ(list.continue_token, "");
  ASSERT_EQ(seen_.size(), 3u);
  EXPECT_EQ(seen_[0].line, "GET /api/v1/pods?resourceVersion=0&limit=2");
  EXPECT_EQ(seen_[1].line, "GET /api/v1/pods?continue=t1&limit=2");
}

TEST_F(ClientTest, list_all_starts_over_without_pages_when_its_token_expired) {
  answer(200, page("ab", "t1"));
  answer(410, status(410, "Expired", "gone", R"("continue":"fresh")"));
  answer(200, page("bcd", ""));
  EXPECT_EQ(names_of(*run(client_.list_all(kPods, {.limit = 2}))), "bcd");
  EXPECT_EQ(seen_[2].line, "GET /api/v1/pods");
}

TEST_F(ClientTest, list_all_passes_on_that_the_asked_version_is_gone) {
  answer(410, status(410, "Expired", "gone"));
  EXPECT_EQ(run(client_.list_all(kPods, {.resource_version = "5"})).error().code,
            ErrorCode::expired);
  EXPECT_EQ(seen_.size(), 1u);
}

TEST_F(ClientTest, watch_asks_for_what_the_options_say) {
  answer(200, "");
  EXPECT_TRUE(run(client_.watch(kPods, {.ns = "a", .resource_version = "7"})));
  EXPECT_EQ(seen_[0].line,
            "GET /api/v1/namespaces/a/pods?watch=true&allowWatchBookmarks=true&resourceVersion=7&"
            "timeoutSeconds=290");
  EXPECT_TRUE(run(client_.watch(
      kPods, {.send_initial_events = true, .metadata_only = true, .timeout = seconds(10)})));
  EXPECT_EQ(seen_[1].line,
            "GET /api/v1/pods?watch=true&allowWatchBookmarks=true&sendInitialEvents=true&"
            "resourceVersionMatch=NotOlderThan&timeoutSeconds=10");
  EXPECT_EQ(seen_[1].headers.get("accept"),
            "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json");
}

TEST_F(ClientTest, logs_are_a_stream) {
  answer(200, "line 1\nline 2\n");
  Result<net::Body> body = run(client_.logs(
      {"a", "x"},
      {.container = "c", .follow = true, .timestamps = true, .tail_lines = 5, .since_seconds = 9}));
  ASSERT_TRUE(body);
  EXPECT_EQ(run(net::read_all(*std::move(body), 100)).value(), "line 1\nline 2\n");
  EXPECT_EQ(seen_[0].line,
            "GET /api/v1/namespaces/a/pods/x/log?container=c&follow=true&timestamps=true&"
            "tailLines=5&sinceSeconds=9");
}

// A line, and then nothing for so long.
class PausingBody final : public net::BodyStream {
 public:
  explicit PausingBody(Duration pause) : pause_(pause) {}
  Task<Result<Bytes>> read() override {
    if (++reads_ > 2) {
      co_return Bytes();
    }
    if (reads_ == 2) {
      CO_TRY(co_await sleep_for(pause_));
    }
    co_return Bytes::from("line " + std::to_string(reads_) + "\n");
  }

 private:
  Duration pause_;
  int reads_ = 0;
};

TEST_F(ClientTest, a_log_may_pause_for_hours_only_while_it_is_followed) {
  script_.push_back([] {
    Response response;
    response.body = std::make_unique<PausingBody>(std::chrono::hours(5));
    return response;
  });
  Result<net::Body> followed = run(client_.logs({"a", "x"}, {.follow = true}));
  EXPECT_EQ(run(net::read_all(*std::move(followed), 100)).value(), "line 1\nline 2\n");
  Result<net::Body> written = run(client_.logs({"a", "x"}, {}));
  const Instant before = sim_.env().loop.now();
  const Error error = run(net::read_all(*std::move(written), 100)).error();
  EXPECT_EQ(error.to_string(), "unavailable: response body: nothing came for 1m0s");
  EXPECT_EQ(sim_.env().loop.now() - before, seconds(60));
}

TEST_F(ClientTest, a_watch_that_is_silent_beyond_its_time_is_given_up) {
  script_.push_back([] {
    Response response;
    response.body = std::make_unique<PausingBody>(std::chrono::hours(5));
    return response;
  });
  auto stream = run(client_.watch(kPods, {.timeout = seconds(290)})).value();
  EXPECT_EQ(run(stream->next()).error().code, ErrorCode::data_loss) << "\"line 1\" is no event";
  const Instant before = sim_.env().loop.now();
  EXPECT_EQ(run(stream->next()).error().code, ErrorCode::unavailable);
  EXPECT_EQ(sim_.env().loop.now() - before, seconds(300));
}

TEST_F(ClientTest, raw_requests_may_find_their_copy_still_good) {
  answer(304, "");
  Client::RawRequest request{.target = "/apis", .headers = {{"If-None-Match", "\"e\""}}};
  EXPECT_EQ(run(client_.raw(request)).value().status, 304);
  request.headers = {};
  EXPECT_FALSE(run(client_.raw(request)));
}

TEST_F(ClientTest, anything_is_sent_again_when_the_server_says_when) {
  answer_with_header(429, "Retry-After", "3");
  answer_with_header(503, "Retry-After", "1");
  answer(201, pod("x"));
  EXPECT_TRUE(run(client_.create(kPods, "a", pod("x"))));
  ASSERT_EQ(seen_.size(), 3u);
  EXPECT_EQ(seen_[2].body, pod("x")) << "the body is sent each time";
  EXPECT_GE(seen_[1].at - seen_[0].at, seconds(3));
  EXPECT_LE(seen_[1].at - seen_[0].at, seconds(4));
  EXPECT_GE(seen_[2].at - seen_[1].at, seconds(1));
}

TEST_F(ClientTest, attempts_have_a_limit) {
  answer_with_header(429, "Retry-After", "0");
  const Error error = run(client_.get(kPods, {"a", "x"})).error();
  EXPECT_EQ(error.code, ErrorCode::resource_exhausted);
  EXPECT_EQ(seen_.size(), 10u);
  EXPECT_GE(seen_.back().at - seen_.front().at, std::chrono::milliseconds(900))
      << "never in a circle";
}

TEST_F(ClientTest, who_is_asked_before_a_wait_may_end_it) {
  answer_with_header(503, "Retry-After", "3");
  std::vector<std::string> asked;
  Client client(sim_.env(), service_, {.before_repeat = [&](const Repeat& repeat) {
                  asked.push_back(repeat.request);
                  EXPECT_EQ(repeat.error.retry_after, seconds(3));
                  EXPECT_GE(repeat.wait, seconds(3));
                  return asked.size() < 3;
                }});
  const Error error = run(client.create(kPods, "a", pod("x"))).error();
  EXPECT_EQ(error.code, ErrorCode::unavailable);
  EXPECT_TRUE(error.message.ends_with(" (asked 3 times in 6s)")) << error.message;
  EXPECT_EQ(asked, std::vector<std::string>(3, "POST /api/v1/namespaces/a/pods"));
}

TEST_F(ClientTest, a_wait_beyond_the_deadline_is_the_callers_to_make) {
  answer_with_header(503, "Retry-After", "120");
  const Error error = run(client_.get(kPods, {"a", "x"})).error();
  EXPECT_EQ(error.code, ErrorCode::unavailable);
  EXPECT_EQ(error.retry_after, seconds(120));
  EXPECT_EQ(seen_.size(), 1u);
}

TEST_F(ClientTest, a_write_is_never_repeated_on_a_guess) {
  answer(Answer([] { return fail(unavailable("connection refused")); }));
  EXPECT_EQ(run(client_.create(kPods, "a", "{}")).error().code, ErrorCode::unavailable);
  EXPECT_EQ(run(client_.update(kPods, {"a", "x"}, "{}")).error().code, ErrorCode::unavailable);
  EXPECT_EQ(run(client_.remove(kPods, {"a", "x"})).error().code, ErrorCode::unavailable);
  EXPECT_EQ(seen_.size(), 3u);
  script_.clear();
  answer(500, status(500, "InternalError", "oops"));
  EXPECT_EQ(run(client_.create(kPods, "a", "{}")).error().code, ErrorCode::internal);
  EXPECT_EQ(seen_.size(), 4u);
  script_.clear();
  answer(429, status(429, "TooManyRequests", "the disruption budget forbids it"));
  EXPECT_EQ(run(client_.create(kPods, "a", "{}")).error().code, ErrorCode::resource_exhausted);
  EXPECT_EQ(seen_.size(), 5u) << "429 without Retry-After is a verdict";
}

TEST_F(ClientTest, reads_survive_broken_connections) {
  answer(Answer([] { return fail(unavailable("connection refused")); }));
  answer(Answer([] { return fail(deadline_exceeded("reset while waiting")); }));
  answer(Answer([] {
    return Response{.status = 200, .body = std::make_unique<CutBody>(pod("x").substr(0, 9))};
  }));
  answer(200, pod("x"));
  EXPECT_EQ(run(client_.get(kPods, {"a", "x"})).value()->name(), "x");
  EXPECT_EQ(seen_.size(), 4u);
}

TEST_F(ClientTest, a_server_that_is_not_there_is_reported_soon) {
  answer(Answer([] { return fail(unavailable("connection refused")); }));
  const Instant begin = sim_.env().loop.now();
  const Error error = run(client_.get(kPods, {"a", "x"})).error();
  EXPECT_EQ(error.to_string(), "unavailable: GET /api/v1/namespaces/a/pods/x: connection refused");
  EXPECT_EQ(seen_.size(), 5u);
  EXPECT_LT(sim_.env().loop.now() - begin, seconds(2));
}

TEST_F(ClientTest, a_write_whose_answer_broke_off_has_an_unknown_effect) {
  answer(Answer([] {
    return Response{.status = 201, .body = std::make_unique<CutBody>(pod("x").substr(0, 9))};
  }));
  EXPECT_EQ(run(client_.create(kPods, "a", pod("x"))).error().code, ErrorCode::deadline_exceeded);
  EXPECT_EQ(seen_.size(), 1u);
}

TEST_F(ClientTest, a_broken_error_body_still_says_its_code) {
  answer(Answer([] {
    return Response{.status = 404, .body = std::make_unique<CutBody>("{\"kind\":\"Sta")};
  }));
  EXPECT_EQ(run(client_.get(kPods, {"a", "x"})).error().code, ErrorCode::not_found);
}

Task<Result<Response>> never() {
  CO_TRY(co_await sleep_for(std::chrono::hours(1'000)));
  co_return fail(internal_error("too long"));
}

TEST_F(ClientTest, a_server_that_does_not_answer_is_given_up_after_the_timeout) {
  net::testing::ScriptedService silent([](Request) { return never(); });
  Client client(sim_.env(), silent, {.request_timeout = seconds(7)});
  const Instant begin = sim_.env().loop.now();
  Error error = run(client.get(kPods, {"a", "x"})).error();
  EXPECT_EQ(error.to_string(),
            "deadline_exceeded: GET /api/v1/namespaces/a/pods/x: no answer within 7000 ms");
  EXPECT_EQ(sim_.env().loop.now() - begin, seconds(7));
  EXPECT_EQ(run(client.watch(kPods, {})).error().code, ErrorCode::deadline_exceeded);
}

TEST_F(ClientTest, a_timeout_tells_what_went_wrong_before) {
  int sent = 0;
  net::testing::ScriptedService flaky([&](Request) -> Task<Result<Response>> {
    if (++sent == 1) {
      co_return fail(unavailable("connection was reset"));
    }
    co_return co_await never();
  });
  Client client(sim_.env(), flaky, {});
  const Error error = run(client.get(kPods, {"a", "x"})).error();
  EXPECT_EQ(error.code, ErrorCode::deadline_exceeded);
  EXPECT_TRUE(error.message.contains("attempt 2; before that: ")) << error.message;
}

TEST_F(ClientTest, a_cancelled_call_is_cancelled_and_nothing_else) {
  net::testing::ScriptedService silent([](Request) { return never(); });
  Client client(sim_.env(), silent, {});
  StopSource stop;
  sim_.env().loop.start_timer(sim_.env().loop.now() + seconds(1), [&] { stop.request_stop(); });
  std::optional<Result<ObjectRef>> result =
      codeflare::run(sim_.env().loop, client.get(kPods, {"a", "x"}), stop.token());
  EXPECT_EQ(result->error().code, ErrorCode::cancelled);
}

TEST_F(ClientTest, a_service_that_stopped_by_itself_is_unavailable_not_cancelled) {
  answer(Answer([] { return fail(cancelled()); }));
  EXPECT_EQ(run(client_.create(kPods, "a", "{}")).error().code, ErrorCode::unavailable);
}

TEST_F(ClientTest, warnings_of_the_server_are_logged_once_each) {
  answer(Answer([] {
    Response response = json_answer(200, pod("x"));
    response.headers.add("Warning", R"(299 - "v1beta1 is deprecated", 299 - "second")");
    response.headers.add("warning", R"(299 - "third")");
    return response;
  }));
  LogCapture capture;
  Logger logger = capture.logger(sim_.env().clock);
  Client client(sim_.env(), service_, {.logger = &logger});
  EXPECT_TRUE(run(client.get(kPods, {"a", "x"})));
  EXPECT_TRUE(run(client.get(kPods, {"a", "x"})));
  ASSERT_EQ(capture.lines().size(), 3u);
  EXPECT_TRUE(capture.has(R"(warning of the server warning="v1beta1 is deprecated")"))
      << capture.lines()[0];
}

TEST_F(ClientTest, requests_and_retries_are_counted) {
  answer(Answer([] { return fail(unavailable("connection refused")); }));
  answer_with_header(429, "Retry-After", "1");
  answer(200, pod("x"));
  MetricsRegistry metrics;
  Client client(sim_.env(), service_, {.host = "h:1", .metrics = &metrics});
  EXPECT_TRUE(run(client.get(kPods, {"a", "x"})));
  const std::string text = metrics.expose();
  for (const char* line :
       {R"(rest_client_requests_total{code="<error>",method="GET",host="h:1"} 1)",
        R"(rest_client_requests_total{code="429",method="GET",host="h:1"} 1)",
        R"(rest_client_requests_total{code="200",method="GET",host="h:1"} 1)",
        R"(rest_client_request_retries_total{code="429",verb="GET",host="h:1"} 1)",
        R"(rest_client_request_duration_seconds_count{verb="GET",host="h:1"} 3)"}) {
    EXPECT_TRUE(text.contains(line)) << line << "\n" << text;
  }
}

TEST_F(ClientTest, an_answer_beyond_the_limit_is_too_large) {
  answer(200, pod("x"));
  Client client(sim_.env(), service_, {.body_bytes_max = 10});
  EXPECT_EQ(run(client.get(kPods, {"a", "x"})).error().code, ErrorCode::too_large);
  EXPECT_EQ(seen_.size(), 1u);
}

}  // namespace
}  // namespace codeflare::kube
