#pragma once

#include "base/result.h"
#include "base/time.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// The workloads of Kueue's scheduler benchmark, as its generator.yaml tells them.
namespace codeflare::bench {

struct WorkClass {
  std::string name;
  Duration runtime{};
  std::int64_t priority = 0;
  std::int64_t cpu = 0;
};

// One stream of arrivals: `count` rounds over the classes, each workload `interval` after the
// answer to the one before.
struct WorkSet {
  std::int64_t count = 0;
  Duration interval{};
  std::vector<WorkClass> classes;
};

struct QueueSet {
  std::string name;
  std::int64_t count = 0;
  std::int64_t nominal = 0;    // CPUs
  std::int64_t borrowing = 0;  // CPUs beyond them
  std::vector<WorkSet> work;
};

struct CohortSet {
  std::string name;
  std::int64_t count = 0;
  std::vector<QueueSet> queues;
};

// A queue of the scenario: one namespace, one stream per work set.
struct QueueRef {
  std::string cohort;
  std::string name;
  const QueueSet* set = nullptr;
};

struct Scenario {
  std::vector<CohortSet> cohorts;

  // With the names that Kueue's generator gives them. Point into this scenario.
  std::vector<QueueRef> queues() const;
  std::int64_t workloads() const;
  std::int64_t nominal() const;  // CPUs of all queues
  // CPU seconds of all workloads, each run once.
  double work() const;
  const WorkClass* find(std::string_view work_class) const;
};

// Fails for what our quota trees cannot say (a queue that may not borrow all of its cohort) and for
// parts of the format that the baseline does not use (topologies).
Result<Scenario> read_scenario(std::string_view yaml);

// Names are "small-0-17-0": the class, and where in the generator's loops it was made.
std::string_view class_of(std::string_view workload);

}  // namespace codeflare::bench
