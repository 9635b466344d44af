#include "net/in_process.h"

#include "base/env/sim_env.h"
#include "net/testing/scripted_service.h"

#include <gtest/gtest.h>

namespace codeflare::net {
namespace {

using testing::ScriptedService;

struct Sim {
  SimEnv world;
  Loop& loop = world.env().loop;
};

Task<Result<Response>> echo(Request request) {
  Bytes same = request.body->ready().value_or(Bytes());
  Response response = make_response(200, "text/plain", same);
  response.headers.add("X-Caller", request.peer->certificate->common_name);
  co_return response;
}

TEST(InProcess, shares_body_buffers_and_sets_the_identity) {
  Sim sim;
  ScriptedService target(echo);
  Peer peer{.address = "in-process", .certificate = Peer::Certificate{"controller", {}, {}}};
  InProcessService service(target, peer);
  Bytes bytes = Bytes::from("shared");
  Request request{.method = "POST", .body = body_of(bytes)};
  Result<Response> response = *run(sim.loop, service.send(std::move(request)));
  ASSERT_TRUE(response) << response.error().to_string();
  EXPECT_EQ(response->headers.get("x-caller"), "controller");
  EXPECT_EQ(response->body->ready()->data(), bytes.data());
}

TEST(InProcess, begins_on_a_turn_of_its_own) {
  Sim sim;
  bool called = false;
  bool other_work_ran_first = false;
  ScriptedService target([&](Request) -> Task<Result<Response>> {
    called = true;
    EXPECT_TRUE(other_work_ran_first);
    return echo(Request{
        .body = body_of(std::string("x")),
        .peer = std::make_shared<Peer>(Peer{.address = "", .certificate = Peer::Certificate{}})});
  });
  InProcessService service(target, {});
  TaskContext context{&sim.loop, {}};
  bool done = false;
  start(context, service.send({}), [&](const Result<Response>& r) { done = r.has_value(); });
  // The task starts on the first turn; what is posted before its second runs before the target.
  sim.loop.post([&] { other_work_ran_first = !called; });
  sim.loop.run_until(done);
  EXPECT_TRUE(called);
}

TEST(InProcess, drops_the_body_of_a_head_request_and_honours_a_stop) {
  Sim sim;
  ScriptedService target([](Request) -> Task<Result<Response>> {
    co_return make_response(200, "text/plain", Bytes::from("body"));
  });
  InProcessService service(target, {});
  Result<Response> response = *run(sim.loop, service.send({.method = "HEAD"}));
  EXPECT_EQ(response->body, nullptr);
  EXPECT_EQ(response->body_size, 4u);

  StopSource stop;
  stop.request_stop();
  EXPECT_EQ(run(sim.loop, service.send({}), stop.token())->error().code, ErrorCode::cancelled);
}

}  // namespace
}  // namespace codeflare::net
