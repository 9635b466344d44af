#pragma once

#include "model/app_wrapper.h"
#include "model/labels.h"
#include "model/meta.h"
#include "sched/spec.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

// Which clusters an AppWrapper may use, and which it tries first. Pure
// (docs/decisions/0016-many-clusters.md).
namespace codeflare::queue {

class Problems;

// Where there is no schedulingSpec.clusterScheduling: names with commas, and a label selector.
inline constexpr std::string_view kClustersAnnotation = "dispatch.codeflare.dev/clusters";
inline constexpr std::string_view kClusterSelectorAnnotation =
    "dispatch.codeflare.dev/cluster-selector";
// A label selector; clusters that match it come first.
inline constexpr std::string_view kPreferAnnotation = "dispatch.codeflare.dev/prefer";

// The cluster rules of an AppWrapper.
struct ClusterRule {
  std::vector<std::string> names{};  // empty: any
  std::optional<model::Selector> selector{};
  std::optional<model::Selector> prefer{};
  bool empty() const { return names.empty() && !selector && !prefer; }
};
ClusterRule cluster_rule_of(const model::AppWrapper& wrapper, Problems& problems);
// By annotations alone: of a TrainingJob.
ClusterRule cluster_rule_of(const model::ObjectMeta& meta, Problems& problems);

// A cluster whose nodes the queue may use.
struct ClusterInfo {
  std::string name;
  model::StringMap labels{};
  double cost = 0;
  std::string closed{};              // why no new work goes there: "is paused"; empty: it does
  std::string closed_to_training{};  // why no TrainingJob goes there, beside that
  friend bool operator==(const ClusterInfo&, const ClusterInfo&) = default;
};

// Notes about clusters for one AppWrapper.
struct ClusterNotes {
  std::map<std::string, std::string, std::less<>> out{};  // and why: "rejects user bob: ..."
  std::set<std::string, std::less<>> last{};              // did not start it in time
  // Of these, those that are not asked for machines for it now.
  std::set<std::string, std::less<>> no_machines{};
  friend bool operator==(const ClusterNotes&, const ClusterNotes&) = default;
};

struct ClusterChoice {
  std::vector<std::string> allowed{};  // by name
  // Tiers of the allowed ones, the best first; empty: all are equally good.
  std::vector<std::vector<std::string>> tiers{};
  // "east is paused; west does not match ...": those that are not allowed.
  std::string others{};
};
ClusterChoice choose_clusters(const ClusterRule& rule, const std::vector<ClusterInfo>& clusters,
                              const ClusterNotes& notes, bool training = false);

// Nodes of these clusters only.
void restrict_to_clusters(sched::PodSet& pods, const std::vector<std::string>& names);

}  // namespace codeflare::queue
