#include "tests/sim/sim_jobs_judge.h"

#include "base/check.h"
#include "json/parse.h"

#include <algorithm>
#include <utility>

namespace codeflare::sim {

namespace {

using ray::testing::FakeDashboard;

// The package that the record's runtime environment needs; empty: none.
std::string package_of(const FakeDashboard::Record& record) {
  constexpr std::string_view kScheme = "gcs://";
  const Result<json::Document> body = json::parse(record.body);
  const json::Value* env = body ? body->root.find("runtime_env") : nullptr;
  const std::string uri(env == nullptr ? "" : env->string_or_empty("working_dir"));
  return uri.starts_with(kScheme) ? uri.substr(kScheme.size()) : "";
}

// Jobs of the cluster "bad" fail.
sdk::JobPhase true_end(const JobWish& wish, const FakeDashboard::Record& record) {
  if (record.stopped) {
    return sdk::JobPhase::stopped;
  }
  return wish.cluster == "bad" ? sdk::JobPhase::failed : sdk::JobPhase::succeeded;
}

}  // namespace

void JobsJudge::complain(std::string what) {
  if (violations_.size() < 10) {
    violations_.push_back(std::move(what));
  }
}

void JobsJudge::wanted(const JobWish& wish) {
  wishes_.emplace(wish.command, wish);
}

const JobsJudge::Dashboard& JobsJudge::dashboard_of(const JobWish& wish) const {
  return *proxy_.dashboards.at(wish.cluster);
}

const FakeDashboard::Record* JobsJudge::record_of(const JobWish& wish) const {
  const auto& jobs = dashboard_of(wish).jobs;
  const auto found = jobs.find(wish.name);
  return found != jobs.end() && found->second.entrypoint == wish.command ? &found->second : nullptr;
}

void JobsJudge::look() {
  for (const auto& [cluster, dashboard] : proxy_.dashboards) {
    for (const auto& [name, record] : dashboard->jobs) {
      meet(*dashboard, record);
    }
  }
}

void JobsJudge::meet(const Dashboard& dashboard, const Dashboard::Record& record) {
  std::set<std::string>& marks = jobs_[record.entrypoint];
  if (!marks.insert(record.metadata).second) {
    return;
  }
  count("accepted");
  if (marks.size() == 2) {
    complain("'" + record.entrypoint + "' runs twice");
  }
  if (const std::string package = package_of(record); !package.empty()) {
    count("packages");
    if (!dashboard.packages.contains(package)) {
      complain("'" + record.entrypoint + "' runs without its package");
    }
  }
}

void JobsJudge::accepted(const JobWish& wish) {
  if (record_of(wish) == nullptr) {
    complain("'" + wish.command + "' was reported as accepted, but its cluster has no such job");
  }
}

void JobsJudge::taken(const JobWish& wish) {
  count("name taken");
  if (dashboard_of(wish).jobs.contains(wish.name) && record_of(wish) == nullptr) {
    wishes_.erase(wish.command);
  } else {
    complain("the name " + wish.name + " was reported as taken, but it is free or our own");
  }
}

void JobsJudge::shown(const JobWish& wish, const std::string& log) {
  const FakeDashboard::Record* record = record_of(wish);
  if (record == nullptr || !dashboard_of(wish).log_of(*record).starts_with(log)) {
    complain("'" + wish.command + "': what was shown is not the beginning of its log");
  }
}

void JobsJudge::ended(const JobWish& wish, const sdk::JobInfo& job, const std::string& log,
                      bool whole) {
  const FakeDashboard::Record* record = record_of(wish);
  if (record == nullptr) {
    complain("'" + wish.command + "' was reported as ended, but its cluster has no such job");
    return;
  }
  const std::string truth = dashboard_of(wish).log_of(*record);
  const bool over = record->stopped || std::ranges::count(truth, '\n') == lines_;
  if (!over || job.phase != true_end(wish, *record) || job.command != wish.command) {
    complain("'" + wish.command + "' was reported as " + std::string(to_string(job.phase)) +
             ", but it is " + (over ? std::string(to_string(true_end(wish, *record))) : "running"));
  }
  count("ended " + std::string(to_string(job.phase)));
  if (whole && log != truth) {
    complain("'" + wish.command + "': the log that was shown is not the whole log");
  }
}

void JobsJudge::removed(const JobWish& wish) {
  count("removed");
  if (record_of(wish) != nullptr) {
    complain("'" + wish.command + "' was reported as deleted, but its record is there");
  }
}

void JobsJudge::at_rest() {
  std::size_t known = 0;
  for (const auto& [command, marks] : jobs_) {
    known += marks.size();
  }
  int accepted = 0;
  for (const auto& [cluster, dashboard] : proxy_.dashboards) {
    accepted += dashboard->accepted;
  }
  CHECK(static_cast<int>(known) == accepted);  // each was seen here
  for (const auto& [command, wish] : wishes_) {
    if (!jobs_.contains(command)) {
      complain("'" + command + "' never ran");
    }
  }
}

}  // namespace codeflare::sim
