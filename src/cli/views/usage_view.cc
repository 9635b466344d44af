#include "cli/views/usage_view.h"

#include "cli/views/table.h"
#include "json/write.h"
#include "usage/units.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <tuple>
#include <utility>

namespace codeflare::cli {

namespace {

using Key = std::tuple<std::string, std::string, std::string>;  // namespace, group, resource
using Sums = std::map<Key, std::pair<std::int64_t, std::int64_t>>;

constexpr std::int64_t kDaySeconds = 86'400;
constexpr double kHour = 3600;

std::string group_of(UsageBy by, const std::string& queue, const std::string& job) {
  return by == UsageBy::queue ? queue : by == UsageBy::job ? job : std::string();
}

void add_totals(const NamespaceUsage& from, const usage::Totals& totals, UsageBy by,
                const std::string& job, Sums& sums) {
  for (const auto& [account, unit_seconds] : totals) {
    sums[{from.ns, group_of(by, account.queue, job), account.resource}].first += unit_seconds;
  }
}

void add_counted(const NamespaceUsage& from, UsageBy by, const std::optional<std::string>& since,
                 Sums& sums) {
  if (by == UsageBy::job) {
    for (const auto& [uid, job] : from.ledger.jobs) {
      add_totals(from, job.totals, by, job.name, sums);
    }
    return;
  }
  if (!since) {
    return add_totals(from, from.ledger.totals, by, "", sums);
  }
  for (const auto& [day, totals] : from.ledger.days) {
    if (day >= *since) {
      add_totals(from, totals, by, "", sums);
    }
  }
}

void add_running(const NamespaceUsage& from, UsageBy by, std::int64_t begin, WallTime now,
                 Sums& sums) {
  for (const UncountedPod& pod : from.pods) {
    const std::optional<usage::Interval> interval = usage::interval_of(pod.times, now);
    if (!interval || from.ledger.counted.contains(pod.uid)) {
      continue;
    }
    const std::int64_t seconds =
        std::max<std::int64_t>(0, interval->end - std::max(begin, interval->begin));
    for (const auto& [resource, units] : pod.units) {
      sums[{from.ns, group_of(by, pod.queue, pod.job), resource}].second += units * seconds;
    }
  }
}

std::int64_t begin_of(const std::string& day) {
  const Result<WallTime> time = parse_rfc3339(day + "T00:00:00Z");
  return time ? usage::unix_seconds(*time) : 0;
}

std::string_view group_name(UsageBy by) {
  return by == UsageBy::queue ? "queue" : by == UsageBy::job ? "job" : "";
}

std::string hours_text(const UsageRow& row) {
  double hours = static_cast<double>(row.counted + row.running) / kHour;
  std::string unit;
  if (row.resource == usage::kMilliCpu) {
    hours /= 1000;
    unit = " CPU";
  } else if (row.resource == usage::kMemoryMib) {
    hours /= 1024;
    unit = " GiB";
  }
  char text[64];
  std::snprintf(text, sizeof text, "%.2f", hours);
  return text + unit;
}

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) {
    return text;
  }
  std::string out = "\"";
  for (const char c : text) {
    out += c == '"' ? "\"\"" : std::string(1, c);
  }
  return out + "\"";
}

}  // namespace

Result<std::string> since_day(std::string_view text, WallTime now) {
  if (text.ends_with('d')) {
    std::int64_t days = 0;
    const std::string_view digits = text.substr(0, text.size() - 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), days);
    if (error == std::errc() && end == digits.data() + digits.size() && days >= 0 &&
        days <= 100'000) {
      return usage::day_of(usage::unix_seconds(now) - days * kDaySeconds);
    }
  }
  if (text.size() == 10 && parse_rfc3339(std::string(text) + "T00:00:00Z")) {
    return std::string(text);
  }
  return fail(invalid_argument("--since: \"" + std::string(text) +
                               "\" is not a day; use YYYY-MM-DD or a number of days such as 7d"));
}

Result<std::vector<UsageRow>> usage_rows(const std::vector<NamespaceUsage>& all, UsageBy by,
                                         const std::optional<std::string>& since, WallTime now) {
  if (since && by == UsageBy::job) {
    return fail(invalid_argument(
        "--since: ledgers keep days by queue, not by job; use --by queue or --by namespace"));
  }
  Sums sums;
  for (const NamespaceUsage& from : all) {
    add_counted(from, by, since, sums);
    add_running(from, by, since ? begin_of(*since) : 0, now, sums);
  }
  std::vector<UsageRow> rows;
  for (const auto& [key, sum] : sums) {
    const auto& [ns, group, resource] = key;
    rows.push_back({.ns = ns,
                    .group = group,
                    .resource = resource,
                    .counted = sum.first,
                    .running = sum.second});
  }
  return rows;
}

std::string usage_table(const std::vector<UsageRow>& rows, UsageBy by) {
  std::vector<std::string> header = {"NAMESPACE"};
  if (by != UsageBy::ns) {
    header.emplace_back(by == UsageBy::queue ? "QUEUE" : "JOB");
  }
  for (const char* column : {"RESOURCE", "UNIT-SECONDS", "RUNNING", "HOURS"}) {
    header.emplace_back(column);
  }
  Table table(std::move(header));
  for (const UsageRow& row : rows) {
    std::vector<std::string> cells = {row.ns};
    if (by != UsageBy::ns) {
      cells.push_back(row.group);
    }
    cells.insert(cells.end(), {row.resource, std::to_string(row.counted),
                               std::to_string(row.running), hours_text(row)});
    table.add_row(std::move(cells));
  }
  return table.empty() ? std::string() : table.to_text();
}

std::string usage_csv(const std::vector<UsageRow>& rows, UsageBy by) {
  std::string text = "namespace,";
  if (by != UsageBy::ns) {
    text += std::string(group_name(by)) + ",";
  }
  text += "resource,unit_seconds,running_unit_seconds\n";
  for (const UsageRow& row : rows) {
    text += quoted(row.ns) + ",";
    if (by != UsageBy::ns) {
      text += quoted(row.group) + ",";
    }
    text += quoted(row.resource) + "," + std::to_string(row.counted) + "," +
            std::to_string(row.running) + "\n";
  }
  return text;
}

std::string usage_json(const std::vector<UsageRow>& rows, UsageBy by) {
  std::string text;
  json::Writer w(text);
  w.begin_object().key("items").begin_array();
  for (const UsageRow& row : rows) {
    w.begin_object().member("namespace", row.ns);
    if (by != UsageBy::ns) {
      w.member(group_name(by), row.group);
    }
    w.member("resource", row.resource).key("unitSeconds").integer(row.counted);
    w.key("runningUnitSeconds").integer(row.running).end_object();
  }
  w.end_array().end_object();
  return text + "\n";
}

}  // namespace codeflare::cli
