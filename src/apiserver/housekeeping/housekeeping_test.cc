#include "apiserver/housekeeping/housekeeping.h"

#include "apiserver/housekeeping/event_reaper.h"
#include "apiserver/housekeeping/testing/recorded_api.h"
#include "apiserver/store/testing/store_world.h"
#include "base/async/sleep.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace codeflare::apiserver {
namespace {

TEST(Housekeeping, the_kubernetes_service_follows_the_port_of_the_server) {
  StoreWorld world;
  Registry registry;
  HousekeepingRules rules(world.env(), world.store(), registry);
  RecordedApi api;
  const std::string service = "/api/v1/namespaces/default/services/kubernetes";
  api.answer = [&](const RecordedApi::Call& call) -> RecordedApi::Answer {
    if (call.method == "GET" && call.path == service) {
      return {200, R"({"spec":{"ports":[{"name":"https","port":443,"targetPort":6443}]}})"};
    }
    return {};
  };
  Housekeeping housekeeping(world.env(), world.log.logger(world.env().clock), world.store(),
                            registry, rules, api, {});
  const auto patches = [&](std::uint16_t port) {
    api.calls.clear();
    EXPECT_TRUE(world.wait(housekeeping.advertise("127.0.0.1", port)).has_value());
    std::string bodies;
    for (const RecordedApi::Call& call : api.calls) {
      bodies += call.path == service && call.method == "PATCH" ? call.body : "";
    }
    return bodies;
  };
  EXPECT_EQ(patches(6443), "");
  EXPECT_EQ(
      patches(7001),
      R"({"spec":{"ports":[{"name":"https","port":443,"protocol":"TCP","targetPort":7001}]}})");
  world.wait(housekeeping.close());
}

Task<void> pass(Duration time) {
  static_cast<void>(co_await sleep_for(time));
}

TEST(EventReaper, counts_from_when_an_event_was_written_and_tries_again_soon) {
  using std::chrono::minutes;
  StoreWorld world;
  Write write = world.creation("events", "ns/e");
  write.text = R"({"metadata":{"name":"e","namespace":"ns","uid":"uid-e","creationTimestamp":")" +
               to_rfc3339(world.env().clock.wall() - minutes(40)) + R"("}})";
  ASSERT_TRUE(world.commit(std::move(write)).has_value());
  RecordedApi api;
  api.answer = [&](const RecordedApi::Call&) {
    return api.calls.size() == 1 ? RecordedApi::failure(503, "ServiceUnavailable")
                                 : RecordedApi::Answer();
  };
  TaskGroup group(world.env().loop);
  EventReaper reaper(world.env(), group, world.log.logger(world.env().clock), world.store(), api,
                     std::chrono::hours(1));
  world.wait(pass(minutes(19)));
  EXPECT_TRUE(api.calls.empty());
  world.wait(pass(minutes(5)));
  ASSERT_EQ(api.calls.size(), 2u);
  EXPECT_EQ(api.calls[1].method + " " + api.calls[1].path, "DELETE /api/v1/namespaces/ns/events/e");
  world.wait(group.close());
}

}  // namespace
}  // namespace codeflare::apiserver
