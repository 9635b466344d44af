#include "base/metrics.h"

#include "base/env/process_metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace codeflare {
namespace {

TEST(Metrics, a_counter_and_a_gauge_are_exposed_with_help_and_type) {
  MetricsRegistry metrics;
  Counter& hits = metrics.counter("hits_total", "Look-ups answered.");
  Gauge& depth = metrics.gauge("depth", "Waiting.");
  hits.add();
  hits.add(2.5);
  depth.set(10);
  depth.add();
  depth.subtract(4);
  EXPECT_EQ(metrics.expose(),
            "# HELP depth Waiting.\n"
            "# TYPE depth gauge\n"
            "depth 7\n"
            "# HELP hits_total Look-ups answered.\n"
            "# TYPE hits_total counter\n"
            "hits_total 3.5\n");
}

TEST(Metrics, children_are_sorted_and_their_label_values_escaped) {
  MetricsRegistry metrics;
  auto& calls = metrics.counters("calls_total", "By \\ verb\nand result.", {"verb", "result"});
  calls.with({"put", "a\\b"}).add(2);
  calls.with({"get", "say \"no\""}).add();
  calls.with({"get", "line\nend"}).add();
  EXPECT_EQ(metrics.expose(),
            "# HELP calls_total By \\\\ verb\\nand result.\n"
            "# TYPE calls_total counter\n"
            "calls_total{verb=\"get\",result=\"line\\nend\"} 1\n"
            "calls_total{verb=\"get\",result=\"say \\\"no\\\"\"} 1\n"
            "calls_total{verb=\"put\",result=\"a\\\\b\"} 2\n");
}

TEST(Metrics, a_handle_stays_valid_while_others_come_and_go) {
  MetricsRegistry metrics;
  auto& family = metrics.gauges("g", "", {"n"});
  Gauge& kept = family.with({"500"});
  for (int i = 0; i < 1000; ++i) {
    family.with({std::to_string(i)}).set(i);
  }
  for (int i = 0; i < 1000; ++i) {
    if (i != 500) {
      family.remove({std::to_string(i)});
    }
  }
  family.remove({"never there"});
  EXPECT_EQ(&family.with({"500"}), &kept);
  EXPECT_EQ(metrics.expose(), "# HELP g \n# TYPE g gauge\ng{n=\"500\"} 500\n");
}

TEST(Metrics, a_histogram_adds_its_buckets_up) {
  MetricsRegistry metrics;
  Histogram& took = metrics.histogram("took_seconds", "Duration.", {0.1, 1, 10});
  for (double value : {0.05, 0.1, 0.5, 2.0, 100.0}) {
    took.observe(value);
  }
  EXPECT_EQ(metrics.expose(),
            "# HELP took_seconds Duration.\n"
            "# TYPE took_seconds histogram\n"
            "took_seconds_bucket{le=\"0.1\"} 2\n"
            "took_seconds_bucket{le=\"1\"} 3\n"
            "took_seconds_bucket{le=\"10\"} 4\n"
            "took_seconds_bucket{le=\"+Inf\"} 5\n"
            "took_seconds_sum 102.65\n"
            "took_seconds_count 5\n");
}

TEST(Metrics, a_histogram_with_labels_keeps_le_last) {
  MetricsRegistry metrics;
  metrics.histograms("h", "", {"controller"}, {1}).with({"x"}).observe(3);
  EXPECT_EQ(metrics.expose(),
            "# HELP h \n# TYPE h histogram\n"
            "h_bucket{controller=\"x\",le=\"1\"} 0\n"
            "h_bucket{controller=\"x\",le=\"+Inf\"} 1\n"
            "h_sum{controller=\"x\"} 3\n"
            "h_count{controller=\"x\"} 1\n");
}

std::string exposed(double value) {
  MetricsRegistry metrics;
  metrics.gauge("g", "").set(value);
  std::string text = metrics.expose();
  return text.substr(text.rfind("g ") + 2);
}

TEST(Metrics, numbers_are_exact_and_readable) {
  EXPECT_EQ(exposed(0), "0\n");
  EXPECT_EQ(exposed(-3), "-3\n");
  EXPECT_EQ(exposed(123'456'789'012), "123456789012\n");
  EXPECT_EQ(exposed(0.1), "0.1\n");
  EXPECT_EQ(exposed(1e300), "1e+300\n");
  EXPECT_EQ(exposed(std::numeric_limits<double>::infinity()), "+Inf\n");
  EXPECT_EQ(exposed(-std::numeric_limits<double>::infinity()), "-Inf\n");
  EXPECT_EQ(exposed(std::nan("")), "NaN\n");
}

TEST(Metrics, asking_again_for_a_name_gives_the_same_family) {
  MetricsRegistry metrics;
  EXPECT_EQ(&metrics.counter("a", "x"), &metrics.counter("a", "y"));
  EXPECT_EQ(&metrics.gauges("b", "", {"l"}), &metrics.gauges("b", "", {"l"}));
}

TEST(MetricsDeathTest, contradicting_registrations_are_caught) {
  MetricsRegistry metrics;
  metrics.counters("a", "", {"l"});
  EXPECT_DEATH(metrics.gauges("a", "", {"l"}), "two types");
  EXPECT_DEATH(metrics.counters("a", "", {"m"}), "different labels");
  EXPECT_DEATH(metrics.counter("9a", ""), "not a metric name");
  EXPECT_DEATH(metrics.counter("a-b", ""), "not a metric name");
  EXPECT_DEATH(metrics.counters("c", "", {"l:m"}), "not a label name");
  EXPECT_DEATH(metrics.counters("c", "", {"le"}), "not a label name");
  EXPECT_DEATH(metrics.counters("a", "", {"l"}).with({"x", "y"}), "as many label values");
  EXPECT_DEATH(metrics.histogram("h", "", {2, 1}), "ascend");
}

TEST(Metrics, gauges_can_be_refreshed_when_they_are_read) {
  MetricsRegistry metrics;
  int reads = 0;
  Gauge& gauge = metrics.gauge("g", "");
  metrics.on_expose([&] { gauge.set(++reads); });
  metrics.expose();
  EXPECT_TRUE(metrics.expose().ends_with("g 2\n"));
}

TEST(Metrics, buckets_grow_by_a_factor) {
  EXPECT_EQ(exponential_buckets(1, 2, 5), (std::vector<double>{1, 2, 4, 8, 16}));
  EXPECT_EQ(default_buckets().size(), 11u);
}

double sample(const std::string& text, const std::string& name) {
  auto at = text.find("\n" + name + " ");
  EXPECT_NE(at, std::string::npos) << name;
  return at == std::string::npos ? 0 : std::strtod(text.c_str() + at + name.size() + 2, nullptr);
}

TEST(ProcessMetrics, describe_this_process) {
  MetricsRegistry metrics;
  add_process_metrics(metrics);
  std::string text = metrics.expose();
  EXPECT_GT(sample(text, "process_resident_memory_bytes"), 1e6);
  EXPECT_GT(sample(text, "process_virtual_memory_bytes"),
            sample(text, "process_resident_memory_bytes"));
  EXPECT_GT(sample(text, "process_cpu_seconds_total"), 0);
  EXPECT_GE(sample(text, "process_open_fds"), 1);
  EXPECT_GT(sample(text, "process_max_fds"), sample(text, "process_open_fds"));
  // Later than 2024 and not in the far future.
  EXPECT_GT(sample(text, "process_start_time_seconds"), 1.7e9);
  EXPECT_LT(sample(text, "process_start_time_seconds"), 5e9);
}

}  // namespace
}  // namespace codeflare
