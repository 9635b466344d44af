#pragma once

#include "ray/testing/fake_dashboard.h"
#include "sdk/job_info.h"
#include "sdk/testing/ray_proxy.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::sim {

// A job that a user wants once. The command is of this wish alone: it tells whose job a record is.
struct JobWish {
  std::string cluster;
  std::string name;
  std::string command;
  bool with_code = false;  // a working directory travels
  bool shared = false;     // others want the name too
  bool stopped = false;    // its user changes their mind
  bool removed = false;    // its record goes after the end
};

// Compares the words of clients with the records of the dashboards.
class JobsJudge {
 public:
  JobsJudge(const sdk::testing::RayProxy& proxy, int lines) : proxy_(proxy), lines_(lines) {}

  void wanted(const JobWish& wish);
  // After each request: finds the jobs that were accepted since.
  void look();
  // The client reported: the job was accepted; somebody else's job has the name; a piece of the
  // log, of which `log` is all so far; the end, with the whole log if `whole`; removed.
  void accepted(const JobWish& wish);
  void taken(const JobWish& wish);
  void shown(const JobWish& wish, const std::string& log);
  void ended(const JobWish& wish, const sdk::JobInfo& job, const std::string& log, bool whole);
  void removed(const JobWish& wish);
  void at_rest();

  void complain(std::string what);
  void count(const std::string& what) { counts_[what] += 1; }
  bool well() const { return violations_.empty(); }
  const std::vector<std::string>& violations() const { return violations_; }
  const std::map<std::string, std::uint64_t>& counts() const { return counts_; }

 private:
  using Dashboard = ray::testing::FakeDashboard;

  void meet(const Dashboard& dashboard, const Dashboard::Record& record);
  const Dashboard& dashboard_of(const JobWish& wish) const;
  // Null when the name has no record, or the record of another wish.
  const Dashboard::Record* record_of(const JobWish& wish) const;

  const sdk::testing::RayProxy& proxy_;
  int lines_;
  std::map<std::string, JobWish> wishes_;              // by command
  std::map<std::string, std::set<std::string>> jobs_;  // by command: each submission's mark
  std::vector<std::string> violations_;
  std::map<std::string, std::uint64_t> counts_;
};

}  // namespace codeflare::sim
