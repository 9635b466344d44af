#include "cli/simulate/trace.h"

#include <gtest/gtest.h>

namespace codeflare::cli::simulate {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Result<Trace> read(std::string_view text, bool skip_bad = false) {
  return read_csv(text, {.file = "jobs.csv", .skip_bad = skip_bad});
}

std::string error_of(std::string_view text) {
  const Result<Trace> trace = read(text);
  return trace ? "no error" : trace.error().message;
}

TEST(CsvTrace, reads_every_column_whatever_their_order) {
  const Result<Trace> trace = read(
      "quota,id,submit,duration,pods,cpu,memory,gpu,priority,expected,limit\n"
      "team-a,train,10,60.5,4,500m,1Gi,2,-5,70,80\n");
  ASSERT_TRUE(trace.has_value()) << trace.error().message;
  ASSERT_EQ(trace->jobs.size(), 1u);
  const Job& job = trace->jobs[0];
  EXPECT_EQ(job.id, "train");
  EXPECT_EQ(job.submitted, Duration::zero());
  EXPECT_EQ(trace->starts, 10);
  EXPECT_EQ(job.duration, milliseconds(60'500));
  EXPECT_EQ(job.pods, 4);
  EXPECT_EQ(job.cpu, 4 * 500);
  EXPECT_EQ(job.memory, Amount{4} << 30);
  EXPECT_EQ(job.gpu, 8);
  EXPECT_EQ(job.priority, -5);
  EXPECT_EQ(job.expected, seconds(70));
  EXPECT_EQ(job.limit, seconds(80));
  EXPECT_EQ(trace->quotas[job.quota], "team-a");
}

TEST(CsvTrace, what_is_not_said_has_a_default) {
  const Result<Trace> trace = read("submit,duration,cpu,priority\n0,5,,\n");
  ASSERT_TRUE(trace.has_value()) << trace.error().message;
  const Job& job = trace->jobs.at(0);
  EXPECT_EQ(job.id, "line-2");
  EXPECT_EQ(job.pods, 1);
  EXPECT_EQ(job.cpu, 0);
  EXPECT_EQ(job.priority, 0);
  EXPECT_EQ(job.quota, 0u);
}

TEST(CsvTrace, philly_dates_and_gpus_of_the_whole_job_are_understood) {
  const Result<Trace> trace = read(
      "timestamp,duration,num_gpus,gpu_time,cluster\n"
      "2017-10-09 07:01:55,66.0,16,66.0,11cb48\n"
      "2017-10-09 06:13:03,2951.0,1,2951.0,6214e9\n");
  ASSERT_TRUE(trace.has_value()) << trace.error().message;
  // In order of time, not of lines.
  EXPECT_EQ(trace->jobs[0].gpu, 1);
  EXPECT_EQ(trace->jobs[1].gpu, 16);
  EXPECT_EQ(trace->jobs[1].pods, 0);
  EXPECT_EQ(trace->jobs[1].submitted, seconds(48 * 60 + 52));
  EXPECT_EQ(trace->unknown_columns, (std::vector<std::string>{"gpu_time", "cluster"}));
}

TEST(CsvTrace, helios_says_what_the_whole_job_takes_on_so_many_nodes) {
  const Result<Trace> trace = read(
      "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,duration\n"
      "7,ann,vc1,16,32,2,COMPLETED,2020-04-01 00:00:00,9\n");
  ASSERT_TRUE(trace.has_value()) << trace.error().message;
  const Job& job = trace->jobs[0];
  EXPECT_EQ(job.pods, 2);
  EXPECT_EQ(job.gpu, 16);
  EXPECT_EQ(job.cpu, 32'000);
  EXPECT_EQ(trace->quotas[job.quota], "vc1");
}

TEST(CsvTrace, quotes_comments_blank_lines_and_windows_line_ends_are_fine) {
  const Result<Trace> trace =
      read("\xef\xbb\xbf# made by hand\r\n\r\nid, submit ,duration\r\n\"a, \"\"b\"\"\" , 1 ,2\r\n");
  ASSERT_TRUE(trace.has_value()) << trace.error().message;
  EXPECT_EQ(trace->jobs.at(0).id, "a, \"b\"");
}

TEST(CsvTrace, errors_name_file_line_column_and_what_was_expected) {
  EXPECT_EQ(error_of(""), "jobs.csv: expected a header line, found nothing");
  EXPECT_EQ(error_of("id,submit\n"),
            "jobs.csv:1: expected a header with the columns submit and duration, found none for "
            "duration");
  EXPECT_EQ(error_of("submit,time,duration\n"),
            "jobs.csv:1: columns \"submit\" and \"time\" mean the same");
  EXPECT_EQ(error_of("submit,duration\n1,2\n1\n"), "jobs.csv:3: expected 2 cells, got 1");
  EXPECT_EQ(error_of("submit,duration\nsoon,2\n"),
            "jobs.csv:2: column submit: expected seconds or a date such as 2026-11-16 08:00:00, "
            "got \"soon\"");
  EXPECT_EQ(error_of("submit,duration\n1,-2\n"),
            "jobs.csv:2: column duration: expected seconds, got \"-2\"");
  EXPECT_EQ(error_of("submit,run_time,pods\n1,2,0\n"),
            "jobs.csv:2: column pods: expected a whole number from 1 to 1000000, got \"0\"");
  EXPECT_EQ(error_of("submit,duration,memory\n1,2,lots\n"),
            "jobs.csv:2: column memory: expected an amount such as 4, 500m or 16Gi, got \"lots\"");
  EXPECT_EQ(error_of("submit,duration\n\"1,2\n"),
            "jobs.csv:2: a quoted cell does not end on its line");
}

TEST(CsvTrace, an_id_that_is_there_twice_is_told_with_both_lines) {
  EXPECT_EQ(error_of("id,submit,duration\na,0,1\nb,0,1\n\na,5,1\n"),
            "jobs.csv:5: the id \"a\" is that of line 2 already: each job needs its own");
  const Result<Trace> trace = read("job_name,submit,duration\na,0,1\na,5,1\nb,6,1\n", true);
  ASSERT_TRUE(trace.has_value());
  EXPECT_EQ(trace->jobs.size(), 2u);
  EXPECT_EQ(trace->skipped, 1u);
  // A job without a name is called by its line, whatever others are called.
  EXPECT_TRUE(read("id,submit,duration\nline-3,0,1\n,0,1\n,0,1\n").has_value());
}

TEST(CsvTrace, amounts_that_would_overflow_are_refused) {
  EXPECT_TRUE(error_of("submit,duration,memory,pods\n1,2,1Ei,1000000\n").contains("memory"));
  EXPECT_TRUE(error_of("submit,duration,cpu\n1,2,9223372036854775807\n").contains("cpu"));
  EXPECT_TRUE(error_of("submit,duration\n1,1e10\n").contains("duration"));
  EXPECT_TRUE(error_of("submit,duration\nnan,1\n").contains("submit"));
}

TEST(CsvTrace, bad_lines_can_be_skipped_and_are_counted) {
  const Result<Trace> trace = read("submit,duration\n1,x\n2,3\ny,4\n", true);
  ASSERT_TRUE(trace.has_value());
  EXPECT_EQ(trace->jobs.size(), 1u);
  EXPECT_EQ(trace->skipped, 2u);
  EXPECT_EQ(trace->first_skipped.at(0), "jobs.csv:2: column duration: expected seconds, got \"x\"");
  // Without a header there is nothing to skip.
  EXPECT_FALSE(read("1,2\n", true).has_value());
}

}  // namespace
}  // namespace codeflare::cli::simulate
