#include "cli/views/usage_view.h"

#include <gtest/gtest.h>

namespace codeflare::cli {
namespace {

WallTime at(const char* text) {
  return *parse_rfc3339(text);
}

std::vector<NamespaceUsage> two_namespaces() {
  NamespaceUsage a{.ns = "team-a"};
  const usage::Account gpu{.queue = "research", .resource = "nvidia.com/gpu"};
  const usage::Account cpu{.queue = "research", .resource = "millicpu"};
  a.ledger.totals = {{gpu, 7200}, {cpu, 5'400'000}};
  a.ledger.days = {{"2026-11-16", {{gpu, 3000}}}, {"2026-11-17", {{gpu, 4200}}}};
  a.ledger.jobs["u"] = {.name = "bert", .last_end = 1, .totals = {{gpu, 7200}}};
  a.ledger.counted = {"p0"};
  const std::int64_t begin = usage::unix_seconds(at("2026-11-17T23:59:00Z"));
  const usage::PodTimes times{.begin = begin, .end = std::nullopt, .running = true};
  a.pods = {{.uid = "p0",
             .queue = "research",
             .job = "bert",
             .times = times,
             .units = {{"nvidia.com/gpu", 8}}},
            {.uid = "p1",
             .queue = "prod",
             .job = "gpt",
             .times = times,
             .units = {{"nvidia.com/gpu", 2}}}};
  NamespaceUsage b{.ns = "team-b"};
  b.ledger.totals = {{{.queue = "research", .resource = "workers"}, 60}};
  return {a, b};
}

const WallTime kNow = at("2026-11-18T00:01:00Z");

TEST(UsageView, sums_by_namespace_with_what_still_runs) {
  const auto rows = usage_rows(two_namespaces(), UsageBy::ns, std::nullopt, kNow);
  EXPECT_EQ(usage_table(*rows, UsageBy::ns),
            "NAMESPACE   RESOURCE         UNIT-SECONDS   RUNNING   HOURS\n"
            "team-a      millicpu         5400000        0         1.50 CPU\n"
            "team-a      nvidia.com/gpu   7200           240       2.07\n"
            "team-b      workers          60             0         0.02\n");
}

TEST(UsageView, sums_by_queue_since_a_day) {
  const auto rows = usage_rows(two_namespaces(), UsageBy::queue, "2026-11-17", kNow);
  EXPECT_EQ(usage_csv(*rows, UsageBy::queue),
            "namespace,queue,resource,unit_seconds,running_unit_seconds\n"
            "team-a,prod,nvidia.com/gpu,0,240\n"
            "team-a,research,nvidia.com/gpu,4200,0\n");
  const auto today = usage_rows(two_namespaces(), UsageBy::queue, "2026-11-18", kNow);
  EXPECT_EQ(usage_csv(*today, UsageBy::queue),
            "namespace,queue,resource,unit_seconds,running_unit_seconds\n"
            "team-a,prod,nvidia.com/gpu,0,120\n");
}

TEST(UsageView, sums_by_job) {
  const auto rows = usage_rows(two_namespaces(), UsageBy::job, std::nullopt, kNow);
  EXPECT_EQ(usage_json(*rows, UsageBy::job),
            R"({"items":[{"namespace":"team-a","job":"bert","resource":"nvidia.com/gpu",)"
            R"("unitSeconds":7200,"runningUnitSeconds":0},{"namespace":"team-a","job":"gpt",)"
            R"("resource":"nvidia.com/gpu","unitSeconds":0,"runningUnitSeconds":240}]})"
            "\n");
  EXPECT_FALSE(usage_rows(two_namespaces(), UsageBy::job, "2026-11-17", kNow));
}

TEST(UsageView, reads_days) {
  EXPECT_EQ(since_day("2026-11-01", kNow), "2026-11-01");
  EXPECT_EQ(since_day("7d", kNow), "2026-11-11");
  EXPECT_EQ(since_day("0d", kNow), "2026-11-18");
  for (const char* text : {"", "d", "-1d", "7h", "2026-13-01", "yesterday"}) {
    EXPECT_FALSE(since_day(text, kNow)) << text;
  }
}

}  // namespace
}  // namespace codeflare::cli
