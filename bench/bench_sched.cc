// Measures the scheduling core at 1,000, 10,000 and 100,000 nodes in one run: placements a second,
// the decision for a fitting gang behind a long line of misfits, the cost of single events, memory.
// At 10,000 and 100,000 nodes again with the nodes in ten clusters and each gang within one of
// them. Then elastic gangs: a thousand on 10,000 GPUs.
//   bench_sched [--gangs N] [--nodes N]      one size only with --nodes

#include "sched/core.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::sched {
namespace {

constexpr const char* kGpu = "nvidia.com/gpu";
constexpr const char* kCluster = "codeflare.dev/cluster";
constexpr Amount kGi = Amount{1} << 30;
constexpr int kClasses = 16;
constexpr int kShapes = 1000;

using Clock = std::chrono::steady_clock;

double micros(Clock::duration duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}
  std::uint64_t below(std::uint64_t bound) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_ % bound;
  }

 private:
  std::uint64_t state_;
};

struct Percentiles {
  double p50 = 0;
  double p99 = 0;
  double worst = 0;
};

Percentiles percentiles(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  const auto at = [&](double part) {
    return samples[static_cast<std::size_t>(part * static_cast<double>(samples.size() - 1))];
  };
  return {at(0.5), at(0.99), samples.back()};
}

NodeSpec node_spec(int number) {
  NodeSpec node{.name = "node-" + std::to_string(number)};
  node.labels = {{"pool", "p" + std::to_string(number % kClasses)},
                 {"kubernetes.io/hostname", node.name}};
  node.allocatable = {{"cpu", 96'000}, {"memory", 768 * kGi}, {kGpu, 8}, {"pods", 110}};
  return node;
}

// A thousand shapes: 1 to 16 pods of 1, 2, 4 or 8 GPUs with various cpu and memory; half of them
// want one pool, a third has a head pod beside the workers.
GangSpec shape(int number, Dice& dice) {
  GangSpec gang;
  static constexpr Amount kGpus[] = {1, 1, 1, 2, 2, 4, 8};
  static constexpr std::int64_t kCounts[] = {1, 1, 1, 2, 2, 4, 8, 16};
  const Amount gpus = kGpus[dice.below(std::size(kGpus))];
  PodSet workers{.count = kCounts[dice.below(std::size(kCounts))]};
  workers.requests = {{kGpu, gpus},
                      {"cpu", gpus * static_cast<Amount>(4000 + 250 * dice.below(28))},
                      {"memory", gpus * static_cast<Amount>(16 + dice.below(64)) * kGi},
                      {"pods", 1}};
  if (number % 2 == 0) {
    workers.selector = {{"pool", "p" + std::to_string(number % kClasses)}};
  }
  if (number % 3 == 0) {
    PodSet head{.requests = {{"cpu", 2000 + 10 * number}, {"memory", 8 * kGi}, {"pods", 1}}};
    gang.pod_sets.push_back(head);
  }
  gang.pod_sets.push_back(workers);
  return gang;
}

std::int64_t pods_of(const Placement& placement) {
  std::int64_t pods = 0;
  for (const Slot& slot : placement) {
    pods += slot.count;
  }
  return pods;
}

class Bench {
 public:
  // With clusters each gang stays within one of them.
  Bench(int nodes, int gangs, int clusters = 0)
      : nodes_(nodes), gangs_(gangs), clusters_(clusters) {
    for (int i = 0; i < kShapes; ++i) {
      shapes_.push_back(shape(i, dice_));
      if (clusters_ > 0) {
        shapes_.back().within.keys = {kCluster};
      }
    }
  }

  void run() {
    add_nodes();
    submit_all();
    fill();
    churn();
    behind_misfits();
    node_events();
    print();
  }

 private:
  void add_nodes() {
    const auto start = Clock::now();
    for (int i = 0; i < nodes_; ++i) {
      NodeSpec node = node_spec(i);
      if (clusters_ > 0) {
        node.labels.emplace_back(kCluster, "c" + std::to_string(i / kClasses % clusters_));
      }
      node_ids_.push_back(*core_.upsert_node(node));
    }
    add_node_us_ = micros(Clock::now() - start) / nodes_;
  }

  GangId submit(GangSpec spec) {
    spec.name = "gang-" + std::to_string(next_++);
    now_ += std::chrono::microseconds(1);
    spec.submitted = now_;
    return *core_.submit(std::move(spec));
  }

  void submit_all() {
    const std::size_t before = core_.memory_bytes();
    const auto start = Clock::now();
    for (int i = 0; i < gangs_; ++i) {
      submit(shapes_[dice_.below(kShapes)]);
    }
    submit_us_ = micros(Clock::now() - start) / gangs_;
    bytes_per_gang_ = static_cast<double>(core_.memory_bytes() - before) / gangs_;
  }

  // The whole cluster fills from the line in steps of a thousand admissions.
  void fill() {
    const auto start = Clock::now();
    for (;;) {
      const StepResult result = core_.step(now_, 1000);
      for (const Admission& each : result.admitted) {
        fill_pods_ += pods_of(each.placement);
        running_.push_back(each.gang);
      }
      if (!result.more) {
        break;
      }
    }
    fill_seconds_ = std::chrono::duration<double>(Clock::now() - start).count();
  }

  // A full cluster: one gang ends, whoever fits takes its place. Equal gangs come back at the end
  // of the line, so that it stays as long.
  void churn() {
    const int rounds = 20'000;
    std::vector<double> steps;
    std::int64_t placed = 0;
    const auto start = Clock::now();
    for (int i = 0; i < rounds && !running_.empty(); ++i) {
      const std::size_t which = dice_.below(running_.size());
      const auto event = Clock::now();
      (void)core_.remove(running_[which]);
      running_[which] = running_.back();
      running_.pop_back();
      const StepResult result = core_.step(now_);
      steps.push_back(micros(Clock::now() - event));
      for (const Admission& each : result.admitted) {
        placed += pods_of(each.placement);
        running_.push_back(each.gang);
        submit(shapes_[dice_.below(kShapes)]);
      }
    }
    churn_seconds_ = std::chrono::duration<double>(Clock::now() - start).count();
    churn_pods_ = placed;
    churn_ = percentiles(std::move(steps));
  }

  // Everything that waits now does not fit. Room for one small gang appears; it comes last in line.
  void behind_misfits() {
    std::vector<double> decisions;
    for (int i = 0; i < 2000; ++i) {
      // One pod of a kind that the line does not know, on a resource nobody else wants.
      GangSpec spec;
      PodSet pod{.requests = {{"cpu", 1}, {"pods", 1}}};
      if (i % 2 == 0) {
        pod.selector = {{"pool", "p" + std::to_string(i % kClasses)}};
      }
      spec.pod_sets.push_back(pod);
      const GangId gang = submit(spec);
      const auto start = Clock::now();
      const StepResult result = core_.step(now_);
      decisions.push_back(micros(Clock::now() - start));
      if (result.admitted.size() != 1 || result.admitted[0].gang != gang) {
        ++not_admitted_;
      }
      (void)core_.remove(gang);
    }
    misfits_ = core_.waiting();
    behind_ = percentiles(std::move(decisions));
  }

  // Foreign pods come and go on random nodes; every one is followed by a step.
  void node_events() {
    std::vector<double> events;
    for (int i = 0; i < 5000; ++i) {
      const NodeId node = node_ids_[dice_.below(node_ids_.size())];
      const Amount cpu = static_cast<Amount>(dice_.below(500));
      const auto start = Clock::now();
      (void)core_.set_foreign(node, {{"cpu", cpu}, {"pods", 1}});
      const StepResult result = core_.step(now_);
      events.push_back(micros(Clock::now() - start));
      for (const Admission& each : result.admitted) {
        running_.push_back(each.gang);
      }
    }
    event_ = percentiles(std::move(events));
  }

  void print() const {
    const double fill_rate = static_cast<double>(fill_pods_) / fill_seconds_;
    const double churn_rate = static_cast<double>(churn_pods_) / churn_seconds_;
    std::printf(
        "%8d %8zu | %9.0f %9.0f | %7.1f %7.1f %8.1f | %7.1f %7.1f | %7.1f %7.1f | %6.2f %6.2f | "
        "%5.0f\n",
        nodes_, misfits_, fill_rate, churn_rate, behind_.p50, behind_.p99, behind_.worst,
        churn_.p50, churn_.p99, event_.p50, event_.p99, submit_us_, add_node_us_, bytes_per_gang_);
    if (not_admitted_ > 0) {
      std::printf("%d fitting gangs were not admitted\n", not_admitted_);
    }
    std::fflush(stdout);
  }

  int nodes_;
  int gangs_;
  int clusters_;
  Dice dice_{42};
  Core core_;
  Time now_ = Time(std::chrono::seconds(1'700'000'000));
  std::vector<GangSpec> shapes_;
  std::vector<NodeId> node_ids_;
  std::vector<GangId> running_;
  int next_ = 0;
  int not_admitted_ = 0;
  std::int64_t fill_pods_ = 0;
  std::int64_t churn_pods_ = 0;
  std::size_t misfits_ = 0;
  double fill_seconds_ = 0;
  double churn_seconds_ = 0;
  double submit_us_ = 0;
  double add_node_us_ = 0;
  double bytes_per_gang_ = 0;
  Percentiles behind_;
  Percentiles churn_;
  Percentiles event_;
};

// A thousand elastic gangs share 10,000 GPUs: decided from nothing, then event by event. Leaving
// places are free at once.
class ElasticBench {
 public:
  explicit ElasticBench(ElasticPolicy policy) : core_(Options{.elastic_policy = policy}) {}

  // Times are those of the processor: others on the machine do not count.
  void run(const char* policy) {
    for (int i = 0; i < kNodes; ++i) {
      (void)core_.upsert_node(node_spec(i));
    }
    for (int i = 0; i < kGangs; ++i) {
      gangs_.push_back(submit(1, 64));
    }
    const double start = processor_micros();
    settle();
    const double all_ms = (processor_micros() - start) / 1000;
    const Percentiles ends = measure([&](int i) {
      const std::size_t which = static_cast<std::size_t>(i * 7919) % gangs_.size();
      (void)core_.remove(gangs_[which]);
      settle();
      gangs_[which] = submit(1, 64);
    });
    const Percentiles squeezes = measure([&](int i) {
      const GangId fixed = submit(1 + i % 8, 0);
      settle();
      (void)core_.remove(fixed);
    });
    const auto sound = core_.check_invariants();
    std::printf(
        "elastic, %s: %d gangs on %d GPUs: all sizes from nothing in %.1f ms (%lld resizes); an "
        "end "
        "and a start: p50 %.0f us, p99 %.0f us; a fixed gang that others shrink for: p50 %.0f us, "
        "p99 %.0f us%s\n",
        policy, kGangs, 8 * kNodes, all_ms, static_cast<long long>(resizes_), ends.p50, ends.p99,
        squeezes.p50, squeezes.p99, sound ? "" : " BROKEN INVARIANTS");
  }

 private:
  static constexpr int kNodes = 1250;
  static constexpr int kGangs = 1000;

  GangId submit(std::int64_t pods, std::int64_t most) {
    GangSpec spec{.name = "gang-" + std::to_string(next_++)};
    now_ += std::chrono::seconds(1);
    spec.submitted = now_;
    PodSet set{.count = pods, .requests = {{kGpu, 1}, {"pods", 1}}};
    if (most > 0) {
      set.sizes = Sizes{.min = pods, .max = most};
    }
    spec.pod_sets.push_back(std::move(set));
    return *core_.submit(std::move(spec));
  }

  void settle() {
    for (bool again = true; again;) {
      again = false;
      const StepResult result = core_.step(now_);
      for (const Resize& each : result.resized) {
        ++resizes_;
        for (const Slot& slot : each.less) {
          for (std::int64_t i = 0; i < slot.count; ++i) {
            (void)core_.drop_place(each.gang, slot.pod_set, slot.node);
          }
          again = true;
        }
      }
    }
  }

  template <typename Event>
  Percentiles measure(Event&& event) {
    std::vector<double> samples;
    for (int i = 0; i < 500; ++i) {
      const double start = processor_micros();
      event(i);
      samples.push_back(processor_micros() - start);
    }
    return percentiles(std::move(samples));
  }

  static double processor_micros() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
  }

  Core core_;
  Time now_ = Time(std::chrono::seconds(1'700'000'000));
  std::vector<GangId> gangs_;
  int next_ = 0;
  std::int64_t resizes_ = 0;
};

void run_elastic() {
  ElasticBench(ElasticPolicy::throughput).run("throughput");
  ElasticBench(ElasticPolicy::fair).run("fair");
  ElasticBench(ElasticPolicy::strict_priority).run("strict-priority");
}

void print_head() {
  std::printf("%8s %8s | %9s %9s | %7s %7s %8s | %7s %7s | %7s %7s | %6s %6s | %5s\n", "", "",
              "pods/s", "pods/s", "fit us", "fit us", "fit us", "end us", "end us", "node us",
              "node us", "submit", "node+", "B per");
  std::printf("%8s %8s | %9s %9s | %7s %7s %8s | %7s %7s | %7s %7s | %6s %6s | %5s\n", "nodes",
              "waiting", "filling", "churning", "p50", "p99", "max", "p50", "p99", "p50", "p99",
              "us", "us", "gang");
}

}  // namespace
}  // namespace codeflare::sched

int main(int argc, char** argv) {
  int gangs = 1'000'000;
  int only = 0;
  bool elastic_alone = false;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view flag = argv[i];
    if (flag == "--elastic") {
      elastic_alone = true;
      --i;
    } else if (i + 1 < argc && flag == "--gangs") {
      gangs = std::atoi(argv[i + 1]);
    } else if (i + 1 < argc && flag == "--nodes") {
      only = std::atoi(argv[i + 1]);
    } else {
      std::puts("usage: bench_sched [--gangs N] [--nodes 1000|10000|100000] [--elastic]");
      return flag == "--help" || flag == "-h" ? 0 : 2;
    }
  }
  if (elastic_alone) {
    codeflare::sched::run_elastic();
    return 0;
  }
  codeflare::sched::print_head();
  for (const int nodes : {1'000, 10'000, 100'000}) {
    if (only == 0 || only == nodes) {
      codeflare::sched::Bench(nodes, gangs).run();
    }
  }
  constexpr int kClusters = 10;
  std::printf("in %d clusters, each gang within one:\n", kClusters);
  for (const int nodes : {10'000, 100'000}) {
    if (only == 0 || only == nodes) {
      codeflare::sched::Bench(nodes, gangs, kClusters).run();
    }
  }
  std::printf("\n");
  codeflare::sched::run_elastic();
  return 0;
}
