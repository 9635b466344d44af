#include "queue/clusters.h"

#include "base/split.h"
#include "json/parse.h"
#include "model/codec/meta.h"
#include "model/managed_cluster.h"
#include "model/validation.h"
#include "queue/kinds/problems.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace codeflare::queue {

namespace {

constexpr std::string_view kSpecField = "spec.schedulingSpec.clusterScheduling";

std::string annotation_field(std::string_view key) {
  return "metadata.annotations[" + std::string(key) + "]";
}

void add_name(std::string_view name, const std::string& field, ClusterRule& rule,
              Problems& problems) {
  if (const auto complaints = model::check_dns1123_subdomain(name); !complaints.empty()) {
    problems.add(field,
                 "must be the name of a ManagedCluster or `local`: " + model::join(complaints));
    return;
  }
  if (std::ranges::find(rule.names, name) == rule.names.end()) {
    rule.names.emplace_back(name);
  }
}

// MCAD's own fields: {clusters: [{name}], clusterSelector: LabelSelector}.
void read_spec(std::string_view text, ClusterRule& rule, Problems& problems) {
  const Result<json::Document> parsed = json::parse(text);
  if (!parsed) {
    problems.add(kSpecField, parsed.error().message);
    return;
  }
  if (const json::Value* clusters = parsed->root.find("clusters"); clusters != nullptr) {
    std::size_t i = 0;
    for (const json::Value& each : clusters->items()) {
      const std::string field =
          std::string(kSpecField) + ".clusters[" + std::to_string(i++) + "].name";
      add_name(each.is_object() ? each.string_or_empty("name") : "", field, rule, problems);
    }
  }
  const json::Value* from = parsed->root.find("clusterSelector");
  if (from == nullptr || from->is_null()) {
    return;
  }
  const std::string field = std::string(kSpecField) + ".clusterSelector";
  const auto read = model::from_json<model::LabelSelector>(*from);
  if (!read) {
    problems.add(field, read.error().message);
    return;
  }
  auto selector = model::to_selector(*read);
  if (!selector) {
    problems.add(field, selector.error().message);
  } else if (!selector->selects_everything()) {
    rule.selector = *std::move(selector);
  }
}

std::optional<model::Selector> read_selector(const model::ObjectMeta& meta, std::string_view key,
                                             Problems& problems) {
  const std::string_view text = model::find_or_empty(meta.annotations, key);
  if (text.empty()) {
    return std::nullopt;
  }
  auto selector = model::Selector::parse(text);
  if (!selector) {
    problems.add(annotation_field(key),
                 "must be a label selector such as gpu=a100: " + selector.error().message);
    return std::nullopt;
  }
  return *std::move(selector);
}

bool matches(const model::Selector& selector, const ClusterInfo& cluster) {
  return selector.matches_with([&](std::string_view key) -> std::optional<std::string_view> {
    if (key == model::managed_cluster::kClusterLabel) {
      return cluster.name;
    }
    const auto at = cluster.labels.find(key);
    return at == cluster.labels.end() ? std::nullopt : std::optional<std::string_view>(at->second);
  });
}

// Why the AppWrapper may not use the cluster; empty when it may.
std::string why_not(const ClusterRule& rule, const ClusterInfo& cluster, const ClusterNotes& notes,
                    bool training) {
  if (!rule.names.empty() && std::ranges::find(rule.names, cluster.name) == rule.names.end()) {
    return "is not one of its clusters";
  }
  if (rule.selector && !matches(*rule.selector, cluster)) {
    return "does not match " + rule.selector->to_string();
  }
  if (!cluster.closed.empty()) {
    return cluster.closed;
  }
  if (training && !cluster.closed_to_training.empty()) {
    return cluster.closed_to_training;
  }
  const auto out = notes.out.find(cluster.name);
  return out == notes.out.end() ? "" : out->second;
}

}  // namespace

ClusterRule cluster_rule_of(const model::AppWrapper& wrapper, Problems& problems) {
  const auto& scheduling = wrapper.spec.scheduling_spec;
  const std::string_view text =
      scheduling ? scheduling->extra.find("clusterScheduling") : std::string_view();
  if (text.empty()) {
    return cluster_rule_of(wrapper.metadata, problems);
  }
  ClusterRule rule;
  read_spec(text, rule, problems);
  rule.prefer = read_selector(wrapper.metadata, kPreferAnnotation, problems);
  return rule;
}

ClusterRule cluster_rule_of(const model::ObjectMeta& meta, Problems& problems) {
  ClusterRule rule;
  const std::string_view names = model::find_or_empty(meta.annotations, kClustersAnnotation);
  if (!names.empty()) {
    for (const std::string_view name : split(names, ',')) {
      add_name(name, annotation_field(kClustersAnnotation), rule, problems);
    }
  }
  rule.selector = read_selector(meta, kClusterSelectorAnnotation, problems);
  rule.prefer = read_selector(meta, kPreferAnnotation, problems);
  return rule;
}

ClusterChoice choose_clusters(const ClusterRule& rule, const std::vector<ClusterInfo>& clusters,
                              const ClusterNotes& notes, bool training) {
  using Rank = std::tuple<bool, bool, double>;  // late, not preferred, cost
  std::map<Rank, std::vector<std::string>> tiers;
  ClusterChoice choice;
  const auto add_other = [&](const std::string& name, const std::string& why) {
    choice.others += (choice.others.empty() ? "" : "; ") + name + " " + why;
  };
  for (const ClusterInfo& cluster : clusters) {
    if (const std::string why = why_not(rule, cluster, notes, training); !why.empty()) {
      add_other(cluster.name, why);
      continue;
    }
    choice.allowed.push_back(cluster.name);
    const bool preferred = !rule.prefer || matches(*rule.prefer, cluster);
    tiers[{notes.last.contains(cluster.name), !preferred, cluster.cost}].push_back(cluster.name);
  }
  for (const std::string& name : rule.names) {
    if (std::ranges::find(clusters, name, &ClusterInfo::name) == clusters.end()) {
      add_other(name, "is not a ManagedCluster");
    }
  }
  std::ranges::sort(choice.allowed);
  if (tiers.size() > 1) {
    for (auto& [rank, names] : tiers) {
      std::ranges::sort(names);
      choice.tiers.push_back(std::move(names));
    }
  }
  return choice;
}

void restrict_to_clusters(sched::PodSet& pods, const std::vector<std::string>& names) {
  sched::Requirement requirement{std::string(model::managed_cluster::kClusterLabel),
                                 sched::Operator::in, names};
  if (pods.affinity.empty()) {
    pods.affinity.emplace_back();
  }
  for (sched::Term& term : pods.affinity) {
    term.requirements.push_back(requirement);
  }
}

}  // namespace codeflare::queue
