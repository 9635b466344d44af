#pragma once

#include "model/extra.h"
#include "model/labels.h"
#include "model/list.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace codeflare::model {

// Expressions on labels and on fields ("metadata.name"); all must hold.
struct NodeSelectorTerm {
  List<SelectorExpression> match_expressions;
  List<SelectorExpression> match_fields;
  Extra extra;

  friend bool operator==(const NodeSelectorTerm&, const NodeSelectorTerm&) = default;
};

// One of the terms must hold.
struct NodeSelector {
  List<NodeSelectorTerm> node_selector_terms;
  Extra extra;

  friend bool operator==(const NodeSelector&, const NodeSelector&) = default;
};

struct PreferredSchedulingTerm {
  std::int32_t weight = 0;
  NodeSelectorTerm preference;
  Extra extra;

  friend bool operator==(const PreferredSchedulingTerm&, const PreferredSchedulingTerm&) = default;
};

struct NodeAffinity {
  std::optional<NodeSelector> required;
  List<PreferredSchedulingTerm> preferred;
  Extra extra;

  friend bool operator==(const NodeAffinity&, const NodeAffinity&) = default;
};

struct PodAffinityTerm {
  std::optional<LabelSelector> label_selector;
  List<std::string> namespaces;
  std::string topology_key;
  std::optional<LabelSelector> namespace_selector;
  List<std::string> match_label_keys;
  List<std::string> mismatch_label_keys;
  Extra extra;

  friend bool operator==(const PodAffinityTerm&, const PodAffinityTerm&) = default;
};

struct WeightedPodAffinityTerm {
  std::int32_t weight = 0;
  PodAffinityTerm pod_affinity_term;
  Extra extra;

  friend bool operator==(const WeightedPodAffinityTerm&, const WeightedPodAffinityTerm&) = default;
};

// Serves as anti-affinity too.
struct PodAffinity {
  List<PodAffinityTerm> required;
  List<WeightedPodAffinityTerm> preferred;
  Extra extra;

  friend bool operator==(const PodAffinity&, const PodAffinity&) = default;
};

struct Affinity {
  std::optional<NodeAffinity> node_affinity;
  std::optional<PodAffinity> pod_affinity;
  std::optional<PodAffinity> pod_anti_affinity;
  Extra extra;

  friend bool operator==(const Affinity&, const Affinity&) = default;
};

struct Toleration {
  std::string key;  // empty with "Exists" tolerates everything
  std::string op;   // "Equal" when empty, or "Exists"
  std::string value;
  std::string effect;  // empty: all effects
  std::optional<std::int64_t> toleration_seconds;
  Extra extra;

  friend bool operator==(const Toleration&, const Toleration&) = default;
};

struct TopologySpreadConstraint {
  std::int32_t max_skew = 0;
  std::string topology_key;
  std::string when_unsatisfiable;  // "DoNotSchedule" or "ScheduleAnyway"
  std::optional<LabelSelector> label_selector;
  std::optional<std::int32_t> min_domains;
  std::optional<std::string> node_affinity_policy;
  std::optional<std::string> node_taints_policy;
  List<std::string> match_label_keys;
  Extra extra;

  friend bool operator==(const TopologySpreadConstraint&,
                         const TopologySpreadConstraint&) = default;
};

}  // namespace codeflare::model
