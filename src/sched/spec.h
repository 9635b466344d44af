#pragma once

#include "base/time.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

// Input of the scheduling core: plain values, no I/O, no JSON.
namespace codeflare::sched {

// Calendar time, as the caller reads it; the core has no clock of its own.
using Time = WallTime;

// Whole units of one resource: millicores for "cpu", bytes for "memory", pieces for the rest.
using Amount = std::int64_t;

struct Resource {
  std::string name;
  Amount amount = 0;
  friend bool operator==(const Resource&, const Resource&) = default;
};
// Any order, each name once. An absent resource counts as zero, and as unlimited in a quota.
using Resources = std::vector<Resource>;

using Labels = std::vector<std::pair<std::string, std::string>>;

enum class Effect : std::uint8_t { no_schedule, prefer_no_schedule, no_execute };

struct Taint {
  std::string key;
  std::string value;
  Effect effect = Effect::no_schedule;
  friend bool operator==(const Taint&, const Taint&) = default;
};

// An empty key with `exists` tolerates every taint; no effect means every effect.
struct Toleration {
  std::string key;
  bool exists = false;  // otherwise the value must be equal
  std::string value;
  std::optional<Effect> effect;
  friend bool operator==(const Toleration&, const Toleration&) = default;
};

enum class Operator : std::uint8_t { in, not_in, exists, does_not_exist, gt, lt };

struct Requirement {
  std::string key;
  Operator op = Operator::in;
  std::vector<std::string> values;
  friend bool operator==(const Requirement&, const Requirement&) = default;
};

// All requirements must hold. A term without any matches no node, as in Kubernetes.
struct Term {
  std::vector<Requirement> requirements;
  friend bool operator==(const Term&, const Term&) = default;
};

// How many pods an elastic pod set may have: `min`, `min + step` and so on up to `max`, or one of
// `list`.
struct Sizes {
  std::int64_t min = 1;
  std::int64_t max = 1;
  std::int64_t step = 1;
  // Ascending, from min to max; empty: by step.
  std::vector<std::int64_t> list{};
  // It does not grow again for so long after a resize; absent: Options::growth_cooldown.
  std::optional<Duration> cooldown{};
  friend bool operator==(const Sizes&, const Sizes&) = default;
};

// `count` equal pods.
struct PodSet {
  std::int64_t count = 1;
  // The requests of one pod on its node; "pods": 1 is the caller's to add.
  Resources requests;
  // The charge of one pod to quota before it exists; absent means `requests`.
  std::optional<Resources> charge{};
  Labels selector{};
  // One of the terms must match; empty means no affinity.
  std::vector<Term> affinity{};
  std::vector<Toleration> tolerations{};
  // Not zero: no node gets two pods of those sets of the gang that have this number. Other pods may
  // be there.
  std::uint32_t apart = 0;
  // Elastic: the gang starts with `min` pods of the set whatever `count` says, grows while room is
  // left over, and shrinks again when somebody needs it. One pod set of a gang at most.
  std::optional<Sizes> sizes{};
};

// All pods of a gang on nodes with equal values of these label keys. A node without one of the keys
// is not eligible.
struct Within {
  std::vector<std::string> keys{};
  // Values of the first key, better ones first; those of one tier are equally good. Values that are
  // not listed come last. Of equally good domains the one with the least free comes first.
  std::vector<std::vector<std::string>> prefer{};
  friend bool operator==(const Within&, const Within&) = default;
};

// "<tree>: <node>" as a quota label says it. A tree that is not named means its node `default`.
// Names of trees that do not exist mean nothing.
struct Designation {
  std::string tree;
  std::string node;
  friend bool operator==(const Designation&, const Designation&) = default;
};

struct GangSpec {
  // Unique among all gangs; the last tie-breaker of the order.
  std::string name;
  std::string ns{};
  std::int32_t priority = 0;
  // Priority gained per second of waiting; counts only with Options::priority_slope.
  double slope = 0;
  Time submitted{};
  std::vector<PodSet> pod_sets{};
  Within within{};
  std::vector<Designation> quota{};
  // How long it will probably run once started; zero is unknown. Feeds estimates, never kills.
  Duration expected{};
  // How long it may run, summed over dispatches; zero means no limit.
  Duration limit{};
  // Dispatched time that earlier dispatches have used up.
  Duration consumed{};
  bool preemptible = true;
  // An elastic gang of higher priority may stop it although Options::preemption is off.
  bool pausable = true;
  // A held gang keeps its place in line and is not tried.
  bool held = false;
  // Nobody's queue is concerned: it charges no quota and is not paused.
  bool loose = false;
  // Whose share the growth of an elastic gang counts to, with ElasticPolicy::fair.
  std::string queue{};
};

// Reported by an elastic gang about its work; ElasticPolicy::throughput reads it.
struct Progress {
  struct Rate {
    std::int64_t size = 0;
    double per_second = 0;  // in whatever unit, the same for all sizes
    friend bool operator==(const Rate&, const Rate&) = default;
  };
  std::vector<Rate> rates{};  // as measured, one for each size that was seen
  // Pod-seconds at the smallest size that are left.
  std::optional<double> remaining{};
};

struct NodeSpec {
  std::string name;
  Labels labels{};
  std::vector<Taint> taints{};
  Resources allocatable{};
  // Cordoned: counts as the taint node.kubernetes.io/unschedulable:NoSchedule.
  bool unschedulable = false;
};

struct QuotaNode {
  std::string name;
  std::string parent{};  // empty: a root
  Resources limits{};
  // May not borrow beyond its limits; unused quota is still lent. Roots never
  // borrow.
  bool hard = false;
  // When set, only gangs of this namespace may charge the node.
  std::string ns{};
};

// Which elastic gang grows first among those of equal priority. All of them give minima before
// growth, and growth of higher priority before growth of lower.
enum class ElasticPolicy : std::uint8_t {
  throughput,       // where one more unit adds most to the logarithm of the speed
  fair,             // max-min over queues, then over gangs
  strict_priority,  // whoever came first, up to its maximum
};

struct Options {
  // Best fit: pods go where the least of the first resource would stay free, then the next.
  std::vector<std::string> pack{"nvidia.com/gpu", "cpu", "memory"};
  // How long the head of the line may keep what it waits for from others; zero: it may not.
  Duration holding_time{};
  bool preemption = false;
  // Order by priority + slope x waited; turns preemption by priority off, as the order then moves.
  bool priority_slope = false;
  // Effort of one placement search for a gang with several kinds of pods, in pods set down.
  std::uint32_t search_steps_max = 1000;
  // Running gangs that one search for victims looks at.
  std::uint32_t victims_examined_max = 4096;
  ElasticPolicy elastic_policy = ElasticPolicy::throughput;
  // An elastic gang that was resized does not grow again for so long.
  Duration growth_cooldown{};
  // Time without progress that a resize costs a gang. Growth that does not win it back is not worth
  // having.
  Duration resize_cost{};
};

}  // namespace codeflare::sched
