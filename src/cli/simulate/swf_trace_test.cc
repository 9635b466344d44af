#include "cli/simulate/trace.h"

#include <gtest/gtest.h>

namespace codeflare::cli::simulate {
namespace {

using std::chrono::seconds;

Result<Trace> read(std::string_view text, bool skip_bad = false) {
  return read_swf(text, {.file = "log.swf", .skip_bad = skip_bad});
}

constexpr std::string_view kHeader = "; Version: 2.2\n;  MaxProcs: 128\n\n";

TEST(SwfTrace, a_processor_is_a_pod_of_one_cpu) {
  const Result<Trace> trace = read(
      std::string(kHeader) +
      "    1    100     5    60   4   -1  512   8   120  1024   1   3   1   2   1  -1  -1  -1\n"
      "    2    160    -1    30   4   -1   -1  -1    -1    -1   1  -1   1   2   1  -1  -1  -1\n");
  ASSERT_TRUE(trace.has_value()) << trace.error().message;
  ASSERT_EQ(trace->jobs.size(), 2u);
  const Job& first = trace->jobs[0];
  EXPECT_EQ(first.id, "1");
  EXPECT_EQ(first.duration, seconds(60));
  EXPECT_EQ(first.pods, 8);
  EXPECT_EQ(first.cpu, 8000);
  EXPECT_EQ(first.memory, Amount{8} * 1024 * 1024);
  EXPECT_EQ(first.expected, seconds(120));
  EXPECT_EQ(first.limit, Duration::zero());
  EXPECT_EQ(trace->quotas[first.quota], "3");
  // The used amount counts where nothing was requested.
  EXPECT_EQ(trace->jobs[1].submitted, seconds(60));
  EXPECT_EQ(trace->jobs[1].pods, 4);
  EXPECT_EQ(trace->jobs[1].memory, 0);
  EXPECT_EQ(trace->jobs[1].quota, 0u);
}

TEST(SwfTrace, jobs_that_never_ran_are_left_out) {
  const Result<Trace> trace = read(
      "1 0 -1 -1 -1 -1 -1 4 60 -1 5 1 1 1 1 1 -1 -1\n"
      "2 0 -1 10 -1 -1 -1 -1 60 -1 5 1 1 1 1 1 -1 -1\n"
      "3 0 -1 10 1 -1 -1 1 60 -1 1 1 1 1 1 1 -1 -1\n");
  ASSERT_TRUE(trace.has_value()) << trace.error().message;
  EXPECT_EQ(trace->jobs.size(), 1u);
  EXPECT_EQ(trace->left_out, 2u);
}

TEST(SwfTrace, a_job_that_is_there_twice_is_told_with_both_lines) {
  const Result<Trace> trace = read(
      "; c\n7 0 -1 10 1 -1 -1 1 60 -1 1 1 1 1 1 1 -1 -1\n"
      "7 5 -1 10 1 -1 -1 1 60 -1 1 1 1 1 1 1 -1 -1\n");
  ASSERT_FALSE(trace.has_value());
  EXPECT_EQ(trace.error().message,
            "log.swf:3: the id \"7\" is that of line 2 already: each job needs its own");
}

TEST(SwfTrace, parts_of_a_job_follow_the_line_of_the_whole_and_are_left_out) {
  const Result<Trace> trace = read(
      "1 0 -1 30 1 -1 -1 1 60 -1 1 1 1 1 1 1 -1 -1\n"
      "1 0 -1 10 1 -1 -1 1 60 -1 2 1 1 1 1 1 -1 -1\n"
      "1 -1 5 20 1 -1 -1 1 60 -1 3 1 1 1 1 1 -1 -1\n"
      "2 9 -1 10 1 -1 -1 1 60 -1 3 1 1 1 1 1 -1 -1\n");
  ASSERT_TRUE(trace.has_value()) << trace.error().message;
  ASSERT_EQ(trace->jobs.size(), 2u);
  EXPECT_EQ(trace->jobs[0].duration, seconds(30));
  EXPECT_EQ(trace->parts, 2u);
  EXPECT_EQ(trace->left_out, 0u);
}

TEST(SwfTrace, errors_name_file_line_and_field) {
  const auto error_of = [](std::string_view text) {
    const Result<Trace> trace = read(text);
    return trace ? "no error" : trace.error().message;
  };
  EXPECT_EQ(error_of("1 2 3\n"), "log.swf:1: expected 18 numbers, got 3");
  EXPECT_EQ(error_of("1 0 -1 10 1 -1 -1 1 60 -1 1 1 1 1 1 1 -1 -1 9\n"),
            "log.swf:1: expected 18 numbers, got more");
  EXPECT_EQ(error_of("; c\n1 0 -1 ten 1 -1 -1 1 60 -1 1 1 1 1 1 1 -1 -1\n"),
            "log.swf:2: field 4 (run time): expected a number, got \"ten\"");
  EXPECT_EQ(error_of("1 0 -1 9e9 1 -1 -1 1 60 -1 1 1 1 1 1 1 -1 -1\n"),
            "log.swf:1: run time: expected seconds from 0 to 8e9");
  EXPECT_EQ(error_of("1 0 -1 9 1.5 -1 -1 -1 60 -1 1 1 1 1 1 1 -1 -1\n"),
            "log.swf:1: processors: expected a whole number up to 1000000");
}

TEST(SwfTrace, bad_lines_can_be_skipped) {
  const Result<Trace> trace = read("1 2\n3 0 -1 10 1 -1 -1 1 60 -1 1 1 1 1 1 1 -1 -1\n", true);
  ASSERT_TRUE(trace.has_value());
  EXPECT_EQ(trace->jobs.size(), 1u);
  EXPECT_EQ(trace->skipped, 1u);
}

}  // namespace
}  // namespace codeflare::cli::simulate
