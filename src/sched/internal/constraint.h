#pragma once

#include "sched/spec.h"

#include <string>
#include <vector>

namespace codeflare::sched {

// Which nodes one pod may use, and whether others of its set may be there. Kept in a canonical
// order, so that equal constraints are equal text.
struct Constraint {
  Labels selector;
  std::vector<Term> affinity;
  std::vector<Toleration> tolerations;
  bool apart = false;
  std::vector<std::string> within{};  // label keys that the node must have; in the gang's order
};

Constraint canonical(const PodSet& pod_set, const Within& within);
// The label keys that decide.
std::vector<std::string> keys_of(const Constraint& constraint);

// A node as constraints see it. Keys listed in `open` are not decided here: they count as fitting.
struct NodeView {
  const Labels& labels;  // sorted by key
  const std::vector<Taint>& taints;
  const std::vector<std::string>& open;  // sorted
};

bool matches(const Constraint& constraint, const NodeView& node);
// The first thing that excludes the node: "taint a=b:NoSchedule", "selector a=b", "affinity",
// "missing label a";
// empty if nothing does.
std::string exclusion(const Constraint& constraint, const NodeView& node);
// Whether pods may not start on a node with this taint.
bool keeps_away(const Constraint& constraint, const Taint& taint);
// The first taint that keeps pods away; null if none does.
const Taint* untolerated(const Constraint& constraint, const std::vector<Taint>& taints);

}  // namespace codeflare::sched
