#include "cli/simulate/replay.h"

#include "base/check.h"
#include "sched/core.h"
#include "sched/explanation.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>

namespace codeflare::cli::simulate {

namespace {

using sched::GangId;
using sched::Resources;
using sched::Time;

// Beyond it sums of times would overflow.
constexpr Time kHorizon{std::chrono::hours(24 * 365 * 200)};
// Wakings in a row that change nothing while nothing runs and nothing comes.
constexpr int kIdleWakesMax = 1000;
// Of those that never started, for each reason.
constexpr std::size_t kNamedMax = 3;
constexpr std::size_t kProgressEvery = 1u << 14;

std::int64_t ceil_div(std::int64_t whole, std::int64_t parts) {
  return whole / parts + (whole % parts != 0 ? 1 : 0);
}

// Gangs that differ in nothing but their limit stand in different lanes of the core: guesses are
// rounded up to an eighth, so that there are few.
Duration rounded_up(Duration guess) {
  constexpr int kBits = 4;
  const auto seconds = static_cast<std::uint64_t>(
      std::max<std::int64_t>(1, std::chrono::ceil<std::chrono::seconds>(guess).count()));
  const int shift = std::max(0, static_cast<int>(std::bit_width(seconds)) - kBits);
  const std::uint64_t unit = std::uint64_t{1} << shift;
  return std::chrono::seconds((seconds + unit - 1) / unit * unit);
}

// Facts about the cluster for the shape of gangs, looked up once.
struct Limits {
  explicit Limits(const Cluster& cluster) {
    const std::map<std::string, Amount> most = largest_of(cluster);
    const auto at = [&](const char* name) {
      const auto found = most.find(name);
      return found == most.end() ? Amount{-1} : found->second;
    };
    cpu = at("cpu");
    memory = at("memory");
    gpu = at(kGpuResource);
    pods = at("pods");
    quota = !cluster.quota.empty();
  }
  // The most on one node; -1: no node lists it.
  Amount cpu = -1;
  Amount memory = -1;
  Amount gpu = -1;
  Amount pods = -1;
  bool quota = false;
};

std::int64_t pods_of(const Job& job, const Limits& limits) {
  if (job.pods > 0) {
    return job.pods;
  }
  std::int64_t pods = 1;
  for (const auto& [wanted, most] :
       {std::pair{job.cpu, limits.cpu}, std::pair{job.memory, limits.memory},
        std::pair{job.gpu, limits.gpu}}) {
    if (most > 0) {
      pods = std::max(pods, ceil_div(wanted, most));
    }
  }
  return pods;
}

sched::GangSpec shape_of(const Job& job, const Limits& limits) {
  sched::GangSpec gang;
  const std::int64_t pods = pods_of(job, limits);
  // Pieces do not divide: some pods take one more.
  const std::int64_t more = job.gpu % pods;
  const auto add = [&](std::int64_t count, Amount gpus) {
    if (count == 0) {
      return;
    }
    sched::PodSet set{.count = count};
    if (job.cpu > 0 && limits.cpu >= 0) {
      set.requests.push_back({"cpu", ceil_div(job.cpu, pods)});
    }
    if (job.memory > 0 && limits.memory >= 0) {
      set.requests.push_back({"memory", ceil_div(job.memory, pods)});
    }
    if (gpus > 0) {
      set.requests.push_back({kGpuResource, gpus});
    }
    if (limits.pods >= 0) {
      set.requests.push_back({"pods", 1});
    }
    gang.pod_sets.push_back(std::move(set));
  };
  add(more, job.gpu / pods + 1);
  add(pods - more, job.gpu / pods);
  return gang;
}

sched::GangSpec gang_with(const Job& job, const Limits& limits, const Policy& policy) {
  sched::GangSpec gang = shape_of(job, limits);
  gang.submitted = Time(job.submitted);
  gang.priority = policy.priority ? job.priority : 0;
  gang.expected = job.expected;
  gang.limit = job.limit;
  if (policy.backfill) {
    if (gang.expected == Duration::zero()) {
      gang.expected = gang.limit > Duration::zero() ? gang.limit : job.duration;
    }
    if (gang.limit == Duration::zero()) {
      gang.limit = rounded_up(gang.expected);
    }
  }
  return gang;
}

class Replayer {
 public:
  Replayer(const Trace& trace, const Cluster& cluster, const Policy& policy)
      : trace_(trace), policy_(policy), limits_(cluster), core_(options_of(policy)) {
    runs_.resize(trace.jobs.size());
    outcome_.policy = policy.name;
    outcome_.jobs = trace.jobs.size();
    outcome_.waits.reserve(trace.jobs.size());
    for (const sched::NodeSpec& node : cluster.nodes) {
      const Result<sched::NodeId> added = core_.upsert_node(node);
      CHECK(added.has_value(), "a node that was read is a node");
    }
    if (limits_.quota) {
      core_.set_quota_tree(kQuotaTree, cluster.quota);
    }
  }

  Outcome run(const Progress& progress) {
    std::size_t events = 0;
    while (const std::optional<Time> at = next_time()) {
      if (*at > kHorizon) {
        // A far-off chance to think again is not work that was left undone.
        outcome_.cut_short = next_ < trace_.jobs.size() || !ends_.empty();
        break;
      }
      now_ = *at;
      end_due();
      submit_due();
      decide();
      if (progress && events++ % kProgressEvery == 0) {
        progress(static_cast<double>(done_) / static_cast<double>(2 * trace_.jobs.size()));
      }
    }
    count_waiting();
    std::ranges::sort(outcome_.waits);
    return std::move(outcome_);
  }

 private:
  static constexpr Duration kNever = Duration(-1);

  struct Run {
    Duration first_wait = kNever;
    Time started{};
    // Dispatched time that counts against the limit.
    Duration consumed{};
    // Which dispatch this is: ends of earlier ones are void.
    std::uint32_t dispatch = 0;
    bool running = false;
  };

  struct End {
    Time at;
    std::uint32_t job = 0;
    std::uint32_t dispatch = 0;
    GangId gang;
    bool operator>(const End& other) const {
      return std::tie(at, job, dispatch) > std::tie(other.at, other.job, other.dispatch);
    }
  };

  std::optional<Time> next_time() {
    std::optional<Time> at;
    const auto earliest = [&](Time time) { at = at ? std::min(*at, time) : time; };
    if (next_ < trace_.jobs.size()) {
      earliest(Time(trace_.jobs[next_].submitted));
    }
    while (!ends_.empty() && runs_[ends_.top().job].dispatch != ends_.top().dispatch) {
      ends_.pop();
    }
    if (!ends_.empty()) {
      earliest(ends_.top().at);
    }
    idle_wakes_ = at || admitted_ ? 0 : idle_wakes_ + 1;
    admitted_ = false;
    if (wake_ && *wake_ > now_ && core_.waiting() > 0 && idle_wakes_ <= kIdleWakesMax) {
      earliest(*wake_);
    }
    return at;
  }

  void end_due() {
    while (!ends_.empty() && ends_.top().at <= now_) {
      const End end = ends_.top();
      ends_.pop();
      if (runs_[end.job].dispatch == end.dispatch) {
        finish(end);
      }
    }
  }

  void finish(const End& end) {
    const Job& job = trace_.jobs[end.job];
    Run& run = runs_[end.job];
    const bool killed = now_ - run.started < job.duration;
    ++(killed ? outcome_.killed : outcome_.finished);
    account(job, now_ - run.started, outcome_.held);
    const Duration turnaround = now_ - Time(job.submitted);
    outcome_.turnaround_sum += turnaround;
    const auto seconds = [](Duration time) { return std::chrono::duration<double>(time).count(); };
    outcome_.slowdown_sum +=
        std::max(1.0, seconds(turnaround) / std::max(10.0, seconds(job.duration)));
    outcome_.makespan = now_ - Time();
    run.running = false;
    ++run.dispatch;
    ++done_;
    CHECK(core_.remove(end.gang).has_value(), "what runs can be removed");
  }

  void submit_due() {
    for (; next_ < trace_.jobs.size() && Time(trace_.jobs[next_].submitted) <= now_; ++next_) {
      const Job& job = trace_.jobs[next_];
      sched::GangSpec gang = gang_with(job, limits_, policy_);
      gang.name = name_of(next_);
      if (limits_.quota) {
        gang.quota = {{kQuotaTree, trace_.quotas[job.quota]}};
        if (job.quota == 0) {
          gang.quota.clear();
        }
      }
      Result<GangId> id = core_.submit(std::move(gang));
      ++done_;
      if (!id) {
        ++outcome_.refused;
        if (outcome_.first_refusal.empty()) {
          outcome_.first_refusal = job.id + ": " + id.error().message;
        }
        continue;
      }
      if (id->index >= job_of_.size()) {
        job_of_.resize(id->index + 1);
      }
      job_of_[id->index] = static_cast<std::uint32_t>(next_);
    }
  }

  // The core's last tie-breaker is the name: those of one moment stay in the order of the file.
  static std::string name_of(std::size_t job) {
    std::string digits = std::to_string(job);
    return std::string(10 - std::min<std::size_t>(10, digits.size()), '0') + digits;
  }

  void decide() {
    bool again = true;
    while (again) {
      sched::StepResult result = core_.step(now_);
      wake_ = result.wake_at;
      for (const sched::Admission& admission : result.admitted) {
        start(admission.gang);
      }
      for (const sched::Eviction& eviction : result.evicted) {
        stop(eviction.victim);
      }
      again = result.more || !result.evicted.empty();
      admitted_ = admitted_ || !result.admitted.empty();
    }
  }

  void start(GangId gang) {
    const std::uint32_t index = job_of_[gang.index];
    const Job& job = trace_.jobs[index];
    Run& run = runs_[index];
    if (run.first_wait == kNever) {
      run.first_wait = now_ - Time(job.submitted);
      outcome_.waits.push_back(run.first_wait);
    }
    run.started = now_;
    run.running = true;
    Duration runs_for = job.duration;
    if (job.limit > Duration::zero()) {
      runs_for = std::min(runs_for, std::max(Duration::zero(), job.limit - run.consumed));
    }
    ends_.push({now_ + runs_for, index, run.dispatch, gang});
  }

  // Its pods are gone at once, and what it had done is lost.
  void stop(GangId gang) {
    const std::uint32_t index = job_of_[gang.index];
    Run& run = runs_[index];
    if (run.running) {
      ++outcome_.evictions;
      run.consumed += now_ - run.started;
      account(trace_.jobs[index], now_ - run.started, outcome_.held);
      account(trace_.jobs[index], now_ - run.started, outcome_.lost);
      run.running = false;
      ++run.dispatch;
    }
    CHECK(core_.requeue(gang, now_).has_value(), "who was evicted can stand in line again");
  }

  void account(const Job& job, Duration time, std::map<std::string, double>& to) {
    const double seconds = std::chrono::duration<double>(time).count();
    const auto add = [&](const char* resource, Amount amount) {
      if (amount > 0) {
        to[resource] += static_cast<double>(amount) * seconds;
      }
    };
    add("cpu", limits_.cpu >= 0 ? job.cpu : 0);
    add("memory", limits_.memory >= 0 ? job.memory : 0);
    add(kGpuResource, job.gpu);
  }

  void count_waiting() {
    while (core_.reasons_stale()) {
      core_.review(now_);
    }
    for (const GangId gang : core_.queue(now_, std::numeric_limits<std::size_t>::max())) {
      const Result<sched::Reason> why = core_.why(gang);
      NeverStarted& alike = outcome_.never_started[why ? sched::to_string(*why) : "unknown"];
      if (++alike.jobs <= kNamedMax) {
        alike.first.push_back(trace_.jobs[job_of_[gang.index]].id + ": " + reason_of(gang));
      }
    }
  }

  std::string reason_of(GangId gang) {
    const Result<sched::Explanation> explanation = core_.explain(gang, now_);
    if (!explanation) {
      return explanation.error().message;
    }
    // Names and times of the core are the replay's own.
    if (explanation->reservation) {
      const std::optional<GangId> holder = core_.find(explanation->reservation->holder);
      return "reserved: " + (holder ? trace_.jobs[job_of_[holder->index]].id : "another") +
             " is first in line";
    }
    return sched::to_text(*explanation);
  }

  const Trace& trace_;
  const Policy& policy_;
  const Limits limits_;
  sched::Core core_;
  Outcome outcome_;
  std::vector<Run> runs_;              // by job
  std::vector<std::uint32_t> job_of_;  // by index of the gang
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  std::size_t next_ = 0;
  std::size_t done_ = 0;
  Time now_{};
  std::optional<Time> wake_;
  int idle_wakes_ = 0;
  bool admitted_ = false;
};

}  // namespace

sched::GangSpec gang_of(const Job& job, const Cluster& cluster, const Policy& policy) {
  return gang_with(job, Limits(cluster), policy);
}

Outcome replay(const Trace& trace, const Cluster& cluster, const Policy& policy,
               const Progress& progress) {
  return Replayer(trace, cluster, policy).run(progress);
}

}  // namespace codeflare::cli::simulate
