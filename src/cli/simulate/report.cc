#include "cli/simulate/report.h"

#include "base/check.h"
#include "base/human_duration.h"
#include "cli/views/table.h"
#include "json/parse.h"
#include "json/write.h"
#include "sched/explanation.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <set>

namespace codeflare::cli::simulate {

namespace {

// Nearest rank; `sorted` is not empty.
Duration percentile(const std::vector<Duration>& sorted, double part) {
  const auto rank = static_cast<std::size_t>(std::ceil(part * static_cast<double>(sorted.size())));
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

Duration mean(const std::vector<Duration>& all) {
  double sum = 0;
  for (const Duration each : all) {
    sum += static_cast<double>(each.count());
  }
  return Duration(std::llround(sum / static_cast<double>(all.size())));
}

std::map<std::string, double> part_of_capacity(const std::map<std::string, double>& held,
                                               const Cluster& cluster, Duration makespan) {
  std::map<std::string, double> parts;
  const double seconds = std::chrono::duration<double>(makespan).count();
  for (const auto& [resource, capacity] : capacity_of(cluster)) {
    if (capacity > 0 && seconds > 0 && resource != "pods") {
      const auto amount = held.find(resource);
      parts[resource] =
          amount == held.end() ? 0 : amount->second / (static_cast<double>(capacity) * seconds);
    }
  }
  return parts;
}

std::string number(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::string percent(double part) {
  return number(100 * part, 1) + "%";
}

// "nvidia.com/gpu" is GPU to its friends.
std::string column_name(std::string_view resource) {
  std::string name(resource.substr(resource.rfind('/') + 1));
  std::ranges::transform(name, name.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return name;
}

std::string notes(const Summary& summary) {
  std::string text;
  for (const auto& [why, alike] : summary.never_started) {
    text += summary.policy + ": " + std::to_string(alike.jobs) + " never started: " + why + "\n";
    for (const std::string& each : alike.first) {
      text += "  " + one_line(each) + "\n";
    }
    if (alike.jobs > alike.first.size()) {
      text += "  and " + std::to_string(alike.jobs - alike.first.size()) + " more\n";
    }
  }
  if (summary.refused > 0) {
    text += summary.policy + ": " + std::to_string(summary.refused) +
            " rejected, the first: " + summary.first_refusal + "\n";
  }
  if (summary.killed > 0) {
    text += summary.policy + ": " + std::to_string(summary.killed) + " ended by their limit\n";
  }
  if (summary.cut_short) {
    text += summary.policy + ": stopped after 200 years of simulated time\n";
  }
  return text;
}

void seconds_member(json::Writer& w, std::string_view name, Duration time) {
  const double seconds = std::chrono::duration<double>(time).count();
  w.key(name).number_text(number(seconds, 3));
}

void parts_member(json::Writer& w, std::string_view name,
                  const std::map<std::string, double>& parts) {
  w.key(name).begin_object();
  for (const auto& [resource, part] : parts) {
    w.key(resource).number_text(number(part, 6));
  }
  w.end_object();
}

void write_summary(json::Writer& w, const Summary& s) {
  const auto count = [&](std::string_view name, std::size_t value) {
    w.key(name).integer(static_cast<std::int64_t>(value));
  };
  w.begin_object().member("policy", s.policy);
  count("jobs", s.jobs);
  count("started", s.started);
  count("finished", s.finished);
  count("killed", s.killed);
  count("refused", s.refused);
  count("evictions", s.evictions);
  w.key("neverStarted").begin_object();
  for (const auto& [why, alike] : s.never_started) {
    count(why, alike.jobs);
  }
  w.end_object().key("neverStartedFirst").begin_object();
  for (const auto& [why, alike] : s.never_started) {
    w.key(why).begin_array();
    for (const std::string& each : alike.first) {
      w.string(each);
    }
    w.end_array();
  }
  w.end_object();
  w.key("cutShort").boolean(s.cut_short);
  seconds_member(w, "makespanSeconds", s.makespan);
  w.key("waitSeconds").begin_object();
  seconds_member(w, "mean", s.wait_mean);
  seconds_member(w, "p50", s.wait_p50);
  seconds_member(w, "p90", s.wait_p90);
  seconds_member(w, "p99", s.wait_p99);
  seconds_member(w, "max", s.wait_max);
  w.end_object();
  seconds_member(w, "turnaroundMeanSeconds", s.turnaround_mean);
  w.key("slowdownMean").number_text(number(s.slowdown_mean, 4));
  parts_member(w, "utilisation", s.utilisation);
  parts_member(w, "lost", s.lost);
  w.end_object();
}

}  // namespace

Summary summarize(const Outcome& outcome, const Cluster& cluster) {
  Summary s{.policy = outcome.policy,
            .jobs = outcome.jobs,
            .started = outcome.waits.size(),
            .finished = outcome.finished,
            .killed = outcome.killed,
            .refused = outcome.refused,
            .evictions = outcome.evictions,
            .never_started = outcome.never_started,
            .first_refusal = outcome.first_refusal,
            .cut_short = outcome.cut_short,
            .makespan = outcome.makespan};
  if (!outcome.waits.empty()) {
    s.wait_mean = mean(outcome.waits);
    s.wait_p50 = percentile(outcome.waits, 0.5);
    s.wait_p90 = percentile(outcome.waits, 0.9);
    s.wait_p99 = percentile(outcome.waits, 0.99);
    s.wait_max = outcome.waits.back();
  }
  if (const std::size_t ended = outcome.finished + outcome.killed; ended > 0) {
    s.turnaround_mean = outcome.turnaround_sum / static_cast<std::int64_t>(ended);
    s.slowdown_mean = outcome.slowdown_sum / static_cast<double>(ended);
  }
  s.utilisation = part_of_capacity(outcome.held, cluster, outcome.makespan);
  s.lost = part_of_capacity(outcome.lost, cluster, outcome.makespan);
  return s;
}

std::string to_text(const std::vector<Summary>& summaries) {
  std::set<std::string> resources;
  bool evicts = false;
  for (const Summary& s : summaries) {
    for (const auto& [resource, part] : s.utilisation) {
      // A resource without demand is not worth a column.
      if (part > 0) {
        resources.insert(resource);
      }
    }
    evicts = evicts || s.evictions > 0;
  }
  Table table({"POLICY", "JOBS", "STARTED", "MAKESPAN", "WAIT MEAN", "P50", "P90", "P99", "MAX",
               "SLOWDOWN"});
  for (const std::string& resource : resources) {
    table.add_column(column_name(resource));
  }
  if (evicts) {
    table.add_column("EVICTIONS");
  }
  std::string rest;
  for (const Summary& s : summaries) {
    std::vector<std::string> row = {s.policy,
                                    std::to_string(s.jobs),
                                    std::to_string(s.started),
                                    human_duration(s.makespan),
                                    human_duration(s.wait_mean),
                                    human_duration(s.wait_p50),
                                    human_duration(s.wait_p90),
                                    human_duration(s.wait_p99),
                                    human_duration(s.wait_max),
                                    number(s.slowdown_mean, 2)};
    for (const std::string& resource : resources) {
      const auto part = s.utilisation.find(resource);
      row.push_back(part == s.utilisation.end() ? "-" : percent(part->second));
    }
    if (evicts) {
      row.push_back(std::to_string(s.evictions));
    }
    table.add_row(std::move(row));
    rest += notes(s);
  }
  return table.to_text() + rest;
}

std::string to_json(const std::vector<Summary>& summaries, const Trace& trace,
                    const Cluster& cluster) {
  std::string compact;
  json::Writer w(compact);
  w.begin_object().key("trace").begin_object();
  w.key("jobs").integer(static_cast<std::int64_t>(trace.jobs.size()));
  w.key("firstSubmitSeconds").number_text(number(trace.starts, 3));
  w.key("leftOut").integer(static_cast<std::int64_t>(trace.left_out));
  w.key("parts").integer(static_cast<std::int64_t>(trace.parts));
  w.key("skipped").integer(static_cast<std::int64_t>(trace.skipped));
  w.end_object().key("cluster").begin_object();
  w.key("nodes").integer(static_cast<std::int64_t>(cluster.nodes.size()));
  w.key("capacity").begin_object();
  for (const auto& [resource, amount] : capacity_of(cluster)) {
    w.member(resource, sched::amount_text(resource, amount));
  }
  w.end_object().end_object().key("policies").begin_array();
  for (const Summary& summary : summaries) {
    write_summary(w, summary);
  }
  w.end_array().end_object();
  const Result<json::Document> tree = json::parse(compact);
  CHECK(tree.has_value(), "what was written is JSON");
  return json::to_pretty_text(tree->root) + "\n";
}

}  // namespace codeflare::cli::simulate
