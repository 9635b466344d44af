#include "usage/ledger.h"

#include "json/parse.h"
#include "json/write.h"

#include <algorithm>
#include <utility>

namespace codeflare::usage {

namespace {

constexpr std::int64_t kDaySeconds = 86'400;
constexpr std::size_t kDayLength = 10;  // 2026-11-18

void add(Totals& totals, const ObservedPod& pod, std::int64_t seconds) {
  for (const auto& [resource, units] : pod.units) {
    if (units > 0 && seconds > 0) {
      totals[{.queue = pod.queue, .resource = resource}] += units * seconds;
    }
  }
}

void add(Ledger& ledger, const ObservedPod& pod) {
  ledger.counted.insert(pod.uid);
  if (!pod.interval || pod.interval->seconds() == 0) {
    return;
  }
  add(ledger.totals, pod, pod.interval->seconds());
  for (const auto& [day, seconds] : by_day(*pod.interval)) {
    add(ledger.days[day], pod, seconds);
  }
  if (!pod.job_uid.empty()) {
    JobUsage& job = ledger.jobs[pod.job_uid];
    job.name = pod.job_name;
    job.last_end = std::max(job.last_end, pod.interval->end);
    add(job.totals, pod, pod.interval->seconds());
  }
}

void write_totals(json::Writer& writer, const Totals& totals) {
  writer.begin_array();
  for (const auto& [account, unit_seconds] : totals) {
    writer.begin_object().member("queue", account.queue).member("resource", account.resource);
    writer.key("unitSeconds").integer(unit_seconds).end_object();
  }
  writer.end_array();
}

Result<Totals> read_totals(const json::Value* list) {
  Totals totals;
  if (list == nullptr || !list->is_array()) {
    return totals;
  }
  for (const json::Value& item : list->items()) {
    const json::Value* amount = item.find("unitSeconds");
    const auto number = amount == nullptr ? std::nullopt : amount->to_int64();
    if (!number || *number < 0) {
      return fail(data_loss("unitSeconds must be a whole number of at least 0"));
    }
    totals[{.queue = std::string(item.string_or_empty("queue")),
            .resource = std::string(item.string_or_empty("resource"))}] += *number;
  }
  return totals;
}

Result<JobUsage> read_job(const json::Value& value) {
  JobUsage job{.name = std::string(value.string_or_empty("name"))};
  const json::Value* end = value.find("lastEnd");
  job.last_end = end == nullptr ? 0 : end->to_int64().value_or(0);
  TRY_ASSIGN(job.totals, read_totals(value.find("totals")));
  return job;
}

}  // namespace

Step count(const Ledger& ledger, const std::vector<ObservedPod>& pods) {
  Step step{.ledger = ledger, .release = {}};
  std::set<std::string> held;
  for (const ObservedPod& pod : pods) {
    if (!pod.has_finalizer) {
      continue;
    }
    held.insert(pod.uid);
    if (!pod.is_over) {
      continue;
    }
    if (!step.ledger.counted.contains(pod.uid)) {
      add(step.ledger, pod);
    }
    step.release.push_back(pod.uid);
  }
  // The cache is past the removal of these finalizers: such a pod cannot come back to be counted.
  std::erase_if(step.ledger.counted, [&](const std::string& uid) { return !held.contains(uid); });
  return step;
}

std::string day_of(std::int64_t unix_seconds) {
  return to_rfc3339(WallTime(std::chrono::seconds(unix_seconds))).substr(0, kDayLength);
}

std::map<std::string, std::int64_t> by_day(const Interval& interval) {
  std::map<std::string, std::int64_t> days;
  for (std::int64_t at = interval.begin; at < interval.end;) {
    const std::int64_t midnight = (at / kDaySeconds + 1) * kDaySeconds;
    const std::int64_t end = std::min(midnight, interval.end);
    days[day_of(at)] += end - at;
    at = end;
  }
  return days;
}

void forget_old(Ledger& ledger, const std::set<std::string>& live_jobs, Retention retention) {
  while (ledger.days.size() > retention.days) {
    ledger.days.erase(ledger.days.begin());
  }
  std::vector<std::pair<std::int64_t, std::string>> gone;
  for (const auto& [uid, job] : ledger.jobs) {
    if (!live_jobs.contains(uid)) {
      gone.emplace_back(job.last_end, uid);
    }
  }
  std::ranges::sort(gone, std::greater<>());
  for (std::size_t i = retention.gone_jobs; i < gone.size(); ++i) {
    ledger.jobs.erase(gone[i].second);
  }
}

std::string ledger_text(const Ledger& ledger) {
  std::string text;
  json::Writer writer(text);
  writer.begin_object().key("totals");
  write_totals(writer, ledger.totals);
  writer.key("days").begin_object();
  for (const auto& [day, totals] : ledger.days) {
    writer.key(day);
    write_totals(writer, totals);
  }
  writer.end_object().key("jobs").begin_object();
  for (const auto& [uid, job] : ledger.jobs) {
    writer.key(uid).begin_object().member("name", job.name);
    writer.key("lastEnd").integer(job.last_end).key("totals");
    write_totals(writer, job.totals);
    writer.end_object();
  }
  writer.end_object().key("countedPods").begin_array();
  for (const std::string& uid : ledger.counted) {
    writer.string(uid);
  }
  writer.end_array().end_object();
  return text;
}

std::string totals_text(const Totals& totals) {
  std::string text;
  json::Writer writer(text);
  writer.begin_object().key("totals");
  write_totals(writer, totals);
  writer.end_object();
  return text;
}

Result<Ledger> read_ledger(const json::Value& status) {
  Ledger ledger;
  TRY_ASSIGN(ledger.totals, read_totals(status.find("totals")));
  if (const json::Value* days = status.find("days"); days != nullptr && days->is_object()) {
    for (const auto& [day, totals] : days->members()) {
      TRY_ASSIGN(ledger.days[std::string(day)], read_totals(&totals));
    }
  }
  if (const json::Value* jobs = status.find("jobs"); jobs != nullptr && jobs->is_object()) {
    for (const auto& [uid, job] : jobs->members()) {
      TRY_ASSIGN(ledger.jobs[std::string(uid)], read_job(job));
    }
  }
  if (const json::Value* counted = status.find("countedPods")) {
    for (const json::Value& item : counted->items()) {
      if (!item.is_string()) {
        return fail(data_loss("countedPods must be a list of texts"));
      }
      ledger.counted.emplace(item.as_string());
    }
  }
  return ledger;
}

Result<Ledger> parse_ledger(std::string_view text) {
  TRY_ASSIGN(const json::Document document, json::parse(text));
  return read_ledger(document.root);
}

}  // namespace codeflare::usage
