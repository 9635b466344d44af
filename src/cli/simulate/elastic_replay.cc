#include "cli/simulate/elastic_replay.h"

#include "base/check.h"
#include "base/split.h"
#include "cli/simulate/original_rule.h"
#include "sched/core.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace codeflare::cli::simulate {

namespace {

using sched::GangId;
using sched::Time;

// Longer traces end before it: nothing that waits can start any more.
constexpr Time kHorizon{std::chrono::hours(24 * 365 * 20)};
// Decisions of one moment; they end by themselves.
constexpr int kRoundsMax = 100'000;

double seconds(Duration time) {
  return std::chrono::duration<double>(time).count();
}

Duration duration(double time) {
  return Duration(std::llround(time * 1e9));
}

// How the trainings of a trace get on, whoever decides their sizes.
class Field {
 public:
  Field(const std::vector<Training>& trainings, const ElasticPlay& play)
      : trainings_(trainings), play_(play), runs_(trainings.size()) {
    outcome_.policy = play.policy;
    outcome_.trainings = trainings.size();
  }

  struct Run {
    double done = 0;                              // iterations
    std::map<std::int64_t, std::int64_t> pods{};  // by node
    std::int64_t size = 0;
    double rate = 0;  // iterations a second
    Time busy{};      // no progress before
    bool started = false;
    bool ended = false;
    bool changed = false;                   // its pods, since rates were set
    std::map<std::int64_t, double> seen{};  // rates by size
  };

  Run& operator[](std::size_t training) { return runs_[training]; }
  const std::vector<Run>& runs() const { return runs_; }

  // Everybody works until then. Returns the trainings that end on the way, the first first.
  std::vector<std::size_t> advance(Time from, Time to) {
    std::vector<std::pair<Time, std::size_t>> ended;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      Run& run = runs_[i];
      if (run.size == 0 || run.ended) {
        continue;
      }
      outcome_.gpu_seconds += static_cast<double>(run.size) * seconds(to - from);
      const Time begin = std::max(from, run.busy);
      if (begin >= to) {
        continue;
      }
      run.seen[run.size] = run.rate;
      const double left = trainings_[i].iterations - run.done;
      const Time end = begin + duration(left / run.rate);
      if (end <= to) {
        ended.emplace_back(end, i);
        continue;
      }
      run.done += seconds(to - begin) * run.rate;
    }
    std::ranges::sort(ended);
    std::vector<std::size_t> order;
    for (const auto& [at, i] : ended) {
      finish(i, at);
      order.push_back(i);
    }
    return order;
  }

  // When the next one ends, if nothing changes.
  std::optional<Time> next_end(Time now) const {
    std::optional<Time> next;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      const Run& run = runs_[i];
      if (run.size == 0 || run.ended) {
        continue;
      }
      const double left = (trainings_[i].iterations - run.done) / run.rate;
      const Time end = std::max(now, run.busy) + duration(left) + Duration(1);
      next = next ? std::min(*next, end) : end;
    }
    return next;
  }

  void move(std::size_t training, std::int64_t node, std::int64_t pods) {
    Run& run = runs_[training];
    run.changed = true;
    std::int64_t& there = run.pods[node];
    there += pods;
    CHECK(there >= 0, "more pods left a node than were on it");
    if (there == 0) {
      run.pods.erase(node);
    }
  }

  // Pods have been moved: those that changed are interrupted, and have another rate.
  void settle(Time now) {
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      Run& run = runs_[i];
      if (!std::exchange(run.changed, false) || run.ended) {
        continue;
      }
      std::int64_t size = 0;
      for (const auto& [node, pods] : run.pods) {
        size += pods;
      }
      if (!run.started && size > 0) {
        run.started = true;
        outcome_.waits.push_back(now - Time(trainings_[i].submitted));
      } else if (run.size > 0 && size > 0) {
        ++outcome_.resizes;
      }
      run.size = size;
      if (size == 0) {
        continue;
      }
      run.busy = now + play_.resize;
      run.rate = 1 / trainings_[i].application->iteration_seconds(
                         static_cast<std::int64_t>(run.pods.size()), size, trainings_[i].batch);
    }
  }

  sched::Progress progress(std::size_t training) const {
    const Run& run = runs_[training];
    sched::Progress progress;
    for (const auto& [size, rate] : run.seen) {
      progress.rates.push_back({size, rate});
    }
    if (play_.known_work) {
      const Training& asked = trainings_[training];
      progress.remaining =
          (asked.iterations - run.done) * asked.application->iteration_seconds(1, 1, asked.batch);
    }
    return progress;
  }

  std::int64_t size_max(std::size_t training, std::int64_t cluster) const {
    const Training& asked = trainings_[training];
    return std::min(cluster, play_.up_to_requested ? asked.requested : asked.size_max);
  }

  ElasticOutcome take_outcome() {
    std::ranges::sort(outcome_.completions);
    std::ranges::sort(outcome_.waits);
    return std::move(outcome_);
  }

 private:
  void finish(std::size_t training, Time at) {
    Run& run = runs_[training];
    run.ended = true;
    run.size = 0;
    run.pods.clear();
    ++outcome_.finished;
    outcome_.completions.push_back(at - Time(trainings_[training].submitted));
    outcome_.makespan = std::max(outcome_.makespan, at - Time());
  }

  const std::vector<Training>& trainings_;
  const ElasticPlay& play_;
  std::vector<Run> runs_;
  ElasticOutcome outcome_;
};

// Decides the sizes.
class Planner {
 public:
  virtual ~Planner() = default;
  virtual void submit(std::size_t training) = 0;
  virtual void end(std::size_t training) = 0;
  virtual void decide(Time now) = 0;
  // When time alone may change a decision.
  virtual std::optional<Time> wake() const { return std::nullopt; }
};

class CorePlanner final : public Planner {
 public:
  CorePlanner(const std::vector<Training>& trainings, const Cluster& cluster,
              const ElasticPlay& play, Field& field)
      : trainings_(trainings),
        field_(field),
        core_({.elastic_policy = *play.rule,
               .growth_cooldown = play.cooldown,
               .resize_cost = play.resize}),
        gangs_(trainings.size()) {
    for (const sched::NodeSpec& node : cluster.nodes) {
      const Result<sched::NodeId> added = core_.upsert_node(node);
      CHECK(added.has_value(), "a node that was read is a node");
      for (const sched::Resource& each : node.allocatable) {
        gpus_ += each.name == kGpuResource ? each.amount : 0;
      }
    }
  }

  void submit(std::size_t training) override {
    sched::PodSet set{.requests = {{kGpuResource, 1}}};
    set.sizes =
        sched::Sizes{.min = 1, .max = std::max<std::int64_t>(1, field_.size_max(training, gpus_))};
    sched::GangSpec gang{.name = name_of(training)};
    gang.submitted = Time(trainings_[training].submitted);
    gang.priority = trainings_[training].priority;
    gang.pod_sets.push_back(std::move(set));
    const Result<GangId> id = core_.submit(std::move(gang));
    CHECK(id.has_value(), "a training is a gang");
    gangs_[training] = *id;
    of_.emplace(*id, training);
  }

  void end(std::size_t training) override {
    CHECK(core_.remove(gangs_[training]).has_value(), "what ran can be removed");
    of_.erase(gangs_[training]);
  }

  // Leaving places are free at once: the interruption is counted as the cost of the resize.
  void decide(Time now) override {
    for (const auto& [gang, training] : of_) {
      const sched::Progress progress = field_.progress(training);
      if (!progress.rates.empty() || progress.remaining) {
        CHECK(core_.set_progress(gang, progress).has_value(), "progress can be reported");
      }
    }
    for (int round = 0; round < kRoundsMax; ++round) {
      const sched::StepResult result = core_.step(now);
      wake_ = result.wake_at;
      for (const sched::Admission& each : result.admitted) {
        move(each.gang, each.placement, +1);
      }
      bool again = result.more || !result.evicted.empty();
      for (const sched::Eviction& each : result.evicted) {
        const std::size_t training = of_.at(each.victim);
        const auto pods = field_[training].pods;
        for (const auto& [node, count] : pods) {
          field_.move(training, node, -count);
        }
        CHECK(core_.requeue(each.victim, now).has_value(), "who was evicted can wait again");
      }
      for (const sched::Resize& each : result.resized) {
        move(each.gang, each.more, +1);
        move(each.gang, each.less, -1);
        again = again || !each.less.empty();
        for (const sched::Slot& slot : each.less) {
          for (std::int64_t i = 0; i < slot.count; ++i) {
            const Result<bool> gone = core_.drop_place(each.gang, slot.pod_set, slot.node);
            CHECK(gone.has_value() && *gone, "what leaves has a place");
          }
        }
      }
      if (!again) {
        return;
      }
    }
    CHECK(false, "decisions do not end");
  }

  std::optional<Time> wake() const override { return wake_; }

 private:
  // The core's last tie-breaker is the name.
  static std::string name_of(std::size_t training) {
    const std::string digits = std::to_string(training);
    return std::string(10 - std::min<std::size_t>(10, digits.size()), '0') + digits;
  }

  void move(GangId gang, const sched::Placement& placement, std::int64_t sign) {
    for (const sched::Slot& slot : placement) {
      field_.move(of_.at(gang), slot.node.index, sign * slot.count);
    }
  }

  const std::vector<Training>& trainings_;
  Field& field_;
  sched::Core core_;
  std::vector<GangId> gangs_;
  std::map<GangId, std::size_t> of_;
  std::int64_t gpus_ = 0;
  std::optional<Time> wake_;
};

// Sizes from half to all of what was asked for, on nodes as full as can be.
class OriginalPlanner final : public Planner {
 public:
  OriginalPlanner(const std::vector<Training>& trainings, const Cluster& cluster, Field& field)
      : trainings_(trainings), field_(field) {
    for (const sched::NodeSpec& node : cluster.nodes) {
      for (const sched::Resource& each : node.allocatable) {
        if (each.name == kGpuResource) {
          free_.push_back(each.amount);
          gpus_ += each.amount;
        }
      }
    }
  }

  void submit(std::size_t training) override { line_.insert(training); }
  void end(std::size_t training) override { line_.erase(training); }

  void decide(Time) override {
    std::vector<std::size_t> order(line_.begin(), line_.end());
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
      const Training& x = trainings_[a];
      const Training& y = trainings_[b];
      return std::tuple(-x.priority, x.submitted, a) < std::tuple(-y.priority, y.submitted, b);
    });
    std::vector<OriginalJob> jobs;
    for (const std::size_t each : order) {
      const std::int64_t most = std::min(trainings_[each].requested, gpus_);
      jobs.push_back({(most + 1) / 2, most, trainings_[each].priority});
    }
    const std::vector<std::int64_t> sizes = original_sizes(jobs, gpus_);
    std::vector<std::int64_t> free = free_;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const auto& pods = field_[order[i]].pods;
      std::int64_t size = 0;
      for (const auto& [node, count] : pods) {
        size += count;
      }
      if (size != sizes[i]) {
        continue;
      }
      for (const auto& [node, count] : pods) {
        free[static_cast<std::size_t>(node)] -= count;
      }
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
      place(order[i], sizes[i], free);
    }
  }

 private:
  void place(std::size_t training, std::int64_t size, std::vector<std::int64_t>& free) {
    const auto pods = field_[training].pods;
    std::int64_t has = 0;
    for (const auto& [node, count] : pods) {
      has += count;
    }
    if (has == size) {
      return;
    }
    for (const auto& [node, count] : pods) {
      field_.move(training, node, -count);
    }
    // The emptiest nodes first: a job gets as few of them as there are.
    std::vector<std::size_t> nodes(free.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      nodes[i] = i;
    }
    std::ranges::sort(nodes, [&](std::size_t a, std::size_t b) {
      return std::pair(-free[a], a) < std::pair(-free[b], b);
    });
    for (const std::size_t node : nodes) {
      const std::int64_t here = std::min(size, std::max<std::int64_t>(free[node], 0));
      if (here > 0) {
        field_.move(training, static_cast<std::int64_t>(node), here);
        free[node] -= here;
        size -= here;
      }
    }
    CHECK(size == 0, "the rule gives no more than there is");
  }

  const std::vector<Training>& trainings_;
  Field& field_;
  std::set<std::size_t> line_;
  std::vector<std::int64_t> free_;
  std::int64_t gpus_ = 0;
};

// The next moment to decide at: a multiple of the interval, or when something happens.
std::optional<Time> next_time(const std::vector<Training>& trainings, std::size_t arrived,
                              const Field& field, const Planner& planner, const ElasticPlay& play,
                              Time now) {
  std::optional<Time> next = field.next_end(now);
  const auto earliest = [&](Time time) { next = next ? std::min(*next, time) : time; };
  const bool works = next.has_value();
  if (arrived < trainings.size()) {
    earliest(Time(trainings[arrived].submitted));
  }
  if (works && planner.wake() && *planner.wake() > now) {
    earliest(*planner.wake());
  }
  if (!next || play.interval <= Duration::zero()) {
    return next;
  }
  const Duration since = std::max(*next, now + Duration(1)) - Time();
  const auto ticks = (since + play.interval - Duration(1)) / play.interval;
  // A decision a tick as long as anybody runs: what is known of speeds grows.
  const Time tick = Time() + ticks * play.interval;
  return works ? std::min(tick, Time() + ((now - Time()) / play.interval + 1) * play.interval)
               : tick;
}

}  // namespace

Result<std::vector<ElasticPlay>> parse_elastic_policies(std::string_view text,
                                                        const ElasticPlay& common) {
  std::vector<ElasticPlay> plays;
  for (const std::string_view word : split(text, ',')) {
    ElasticPlay play = common;
    play.policy = std::string(word);
    if (word == "throughput") {
      play.rule = sched::ElasticPolicy::throughput;
    } else if (word == "fair") {
      play.rule = sched::ElasticPolicy::fair;
    } else if (word == "strict-priority") {
      play.rule = sched::ElasticPolicy::strict_priority;
    } else if (word != "original") {
      return fail(invalid_argument("elastic policy \"" + std::string(word) +
                                   "\": expected throughput, fair, strict-priority or original"));
    }
    plays.push_back(std::move(play));
  }
  return plays;
}

ElasticOutcome replay_elastic(const std::vector<Training>& trainings, const Cluster& cluster,
                              const ElasticPlay& play) {
  Field field(trainings, play);
  std::unique_ptr<Planner> planner;
  if (play.rule) {
    planner = std::make_unique<CorePlanner>(trainings, cluster, play, field);
  } else {
    planner = std::make_unique<OriginalPlanner>(trainings, cluster, field);
  }
  Time now{};
  std::size_t arrived = 0;
  while (const auto next = next_time(trainings, arrived, field, *planner, play, now)) {
    if (*next > kHorizon) {
      break;
    }
    for (const std::size_t ended : field.advance(now, *next)) {
      planner->end(ended);
    }
    now = *next;
    for (; arrived < trainings.size() && Time(trainings[arrived].submitted) <= now; ++arrived) {
      planner->submit(arrived);
    }
    planner->decide(now);
    field.settle(now);
  }
  return field.take_outcome();
}

}  // namespace codeflare::cli::simulate
