#include "node/wire/keeper_protocol.h"

#include "node/wire/message.h"

#include <gtest/gtest.h>

#include <string>

namespace codeflare::node {
namespace {

RunRecord run_of(std::string name, std::int32_t attempt, std::string state) {
  return {.name = std::move(name), .attempt = attempt, .state = std::move(state)};
}

TEST(KeeperProtocol, a_request_comes_out_as_it_went_in) {
  KeeperRequest request{.verb = "start"};
  request.container = ContainerSpec{.name = "c",
                                    .attempt = 3,
                                    .command = {"sh", "-c", "echo \"a\tb\""},
                                    .environment = {"A=1", "B="},
                                    .run_as_user = 0,
                                    .mounts = {{.source = "volumes/v", .target = "/v"}},
                                    .backoff_ms = 10'000};
  const auto parsed = parse_message<KeeperRequest>(model::to_json_text(request));
  ASSERT_TRUE(parsed) << parsed.error().to_string();
  EXPECT_EQ(*parsed, request);
}

TEST(KeeperProtocol, what_an_earlier_version_wrote_is_of_the_sandbox_that_is_there) {
  const auto state =
      parse_message<KeeperState>(R"({"protocol":1,"runs":[{"name":"c","state":"running"}]})");
  ASSERT_TRUE(state) << state.error().to_string();
  EXPECT_EQ(state->runs.at(0).sandbox, state->sandbox);
  EXPECT_FALSE(state->runs.at(0).cut_off);
}

TEST(KeeperProtocol, fields_of_a_later_version_are_no_error) {
  const auto parsed = parse_message<KeeperAnswer>(
      R"({"protocol":2,"weather":"fine","state":{"runs":[{"name":"c","colour":"red"}]}})");
  ASSERT_TRUE(parsed) << parsed.error().to_string();
  EXPECT_EQ(parsed->protocol, 2);
  EXPECT_EQ(parsed->state.runs.at(0).name, "c");
}

TEST(KeeperProtocol, a_sandbox_that_is_not_isolated_says_so) {
  SandboxSpec spec{.uid = "u", .isolated = false};
  EXPECT_FALSE(parse_message<SandboxSpec>(model::to_json_text(spec))->isolated);
}

TEST(KeeperState, keeps_the_last_two_runs_of_each_container_and_what_runs) {
  KeeperState state;
  state.runs = {run_of("a", 0, "exited"), run_of("b", 0, "running"), run_of("a", 1, "exited"),
                run_of("a", 2, "running")};
  state.forget_old();
  ASSERT_EQ(state.runs.size(), 3u);
  EXPECT_EQ(state.last("a")->attempt, 2);
  EXPECT_EQ(state.previous("a")->attempt, 1);
  EXPECT_EQ(state.last("b")->attempt, 0);
  EXPECT_EQ(state.previous("b"), nullptr);
  EXPECT_EQ(state.last("c"), nullptr);
}

TEST(KeeperState, what_ran_when_the_keeper_went_counts_as_killed) {
  KeeperState state;
  state.runs = {run_of("a", 0, "exited"), run_of("a", 1, "running")};
  state.lose(77);
  EXPECT_EQ(state.runs[0].exit_code, 0);
  EXPECT_TRUE(state.runs[1].exited());
  EXPECT_EQ(state.runs[1].exit_code, 137);
  EXPECT_EQ(state.runs[1].finished, 77);
}

}  // namespace
}  // namespace codeflare::node
