#include "elastic/messages.h"

#include <gtest/gtest.h>

namespace codeflare::elastic {
namespace {

TEST(Messages, a_worker_says_what_the_protocol_allows) {
  const WorkerMessage hello =
      *parse_worker_message(R"({"type":"hello","version":1,"pid":12,"localRank":1})");
  EXPECT_EQ(hello.type, WorkerMessage::Type::hello);
  EXPECT_EQ(hello.local_rank, 1);
  const WorkerMessage progress = *parse_worker_message(
      R"({"type":"progress","step":7,"samplesPerSecond":3.5,"stepSeconds":0.2,"loss":null,"remainingSamples":90})");
  EXPECT_EQ(progress.step, 7);
  EXPECT_EQ(progress.samples_per_second, 3.5);
  EXPECT_FALSE(progress.loss);
  EXPECT_EQ(progress.remaining_samples, 90);
  EXPECT_FALSE(parse_worker_message(R"({"type":"progress","remainingSamples":-1})")
                   ->remaining_samples.has_value());
  const WorkerMessage unsaved = *parse_worker_message(
      R"({"type":"unsaved","step":7,"tier":"service","message":"507: the disk is full"})");
  EXPECT_EQ(unsaved.type, WorkerMessage::Type::unsaved);
  EXPECT_EQ(unsaved.message, "507: the disk is full");
}

TEST(Messages, a_wrong_line_is_an_error_that_names_the_field) {
  for (const char* line : {"", "[]", "{}", R"({"type":"dance"})",
                           R"({"type":"hosting","port":70000})", R"({"type":"ready","step":-1})",
                           R"({"type":"ready","step":"x"})", R"({"type":"progress","loss":NaN})"}) {
    EXPECT_FALSE(parse_worker_message(line)) << line;
  }
  EXPECT_TRUE(
      parse_worker_message(R"({"type":"ready","step":-1})").error().message.contains("step"));
}

TEST(Messages, the_lines_of_an_agent_are_those_of_the_protocol) {
  EXPECT_EQ(notice_line({.generation = 2, .reason = "Grow", .stay = true, .grace_seconds = 30}),
            R"({"type":"notice","generation":2,"reason":"Grow","stay":true,"graceSeconds":30})"
            "\n");
  EXPECT_EQ(host_line(2), "{\"type\":\"host\",\"generation\":2}\n");
  EXPECT_EQ(save_line(), "{\"type\":\"save\"}\n");
  EXPECT_EQ(lost_line(2), "{\"type\":\"lost\",\"generation\":2}\n");
  EXPECT_EQ(round_line({.generation = 2,
                        .rank = 1,
                        .local_rank = 0,
                        .local_world_size = 1,
                        .world_size = 2,
                        .master_address = "10.0.0.1",
                        .master_port = 4000,
                        .source = 0,
                        .peers = {"10.0.0.1", "10.0.0.2"}}),
            R"({"type":"round","generation":2,"rank":1,"localRank":0,"localWorldSize":1,)"
            R"("worldSize":2,"masterAddress":"10.0.0.1","masterPort":4000,"source":0,)"
            R"("peers":["10.0.0.1","10.0.0.2"]})"
            "\n");
}

}  // namespace
}  // namespace codeflare::elastic
