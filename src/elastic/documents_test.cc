#include "elastic/documents.h"

#include <gtest/gtest.h>

namespace codeflare::elastic {
namespace {

TEST(Documents, a_member_survives_the_wire) {
  const Member member{.generation = 3,
                      .state = MemberState::failed,
                      .pod = "u1",
                      .agent = "a1",
                      .address = "10.244.0.7",
                      .port = 4000,
                      .nproc = 2,
                      .library = true,
                      .step = 17,
                      .samples_per_second = 12.5,
                      .step_seconds = 0.25,
                      .loss = 0.5,
                      .remaining_samples = 4096,
                      .saved_step = 16,
                      .unsaved = "service: the disk is full",
                      .exit_class = ExitClass::out_of_memory,
                      .exit_code = 137,
                      .message = "killed"};
  const std::string text = model::to_json_text(member);
  EXPECT_EQ(
      text,
      R"({"generation":3,"state":"failed","pod":"u1","agent":"a1","address":"10.244.0.7",)"
      R"("port":4000,"nproc":2,"library":true,"step":17,"samplesPerSecond":12.5,"stepSeconds":0.25,)"
      R"("loss":0.5,"remainingSamples":4096,"savedStep":16,"unsaved":"service: the disk is full","class":"outOfMemory","exitCode":137,"message":"killed"})");
  EXPECT_EQ(*parse_member(text), member);
}

TEST(Documents, a_round_survives_the_wire_with_rank_and_index_zero) {
  const Round round{.generation = 4,
                    .address = "10.0.0.1",
                    .port = 29500,
                    .ranks = {{.index = 0, .rank = 0, .nproc = 2, .agent = "a", .address = "x"},
                              {.index = 2, .rank = 2, .nproc = 2, .agent = "b", .address = "y"}},
                    .world_size = 4,
                    .source = 2};
  const std::string text = model::to_json_text(round);
  EXPECT_TRUE(text.contains(R"("index":0,"rank":0)")) << text;
  EXPECT_EQ(*parse_round(text), round);
  EXPECT_EQ(parse_round(text)->find(2)->agent, "b");
  EXPECT_EQ(parse_round(text)->find(1), nullptr);
}

TEST(Documents, fields_of_newer_programs_are_kept) {
  const std::string text =
      R"({"generation":1,"reason":"Grow","members":[{"index":0,"pod":"u","zone":"a"}],"more":[1]})";
  EXPECT_EQ(model::to_json_text(*parse_membership(text)), text);
}

TEST(Documents, an_unknown_state_is_an_error_that_names_the_field) {
  const Result<Member> member = parse_member(R"({"state":"dancing"})");
  ASSERT_FALSE(member);
  EXPECT_TRUE(member.error().message.contains("state")) << member.error().message;
}

}  // namespace
}  // namespace codeflare::elastic
