#include "queue/internal/amounts.h"
#include "queue/internal/standing_of.h"
#include "queue/internal/taint_words.h"
#include "queue/report.h"

#include <algorithm>

namespace codeflare::queue {

namespace {

std::string nodes_text(std::int64_t nodes) {
  return std::to_string(nodes) + (nodes == 1 ? " eligible node" : " eligible nodes");
}

std::int64_t most_allowed(const sched::Explanation& explanation) {
  std::int64_t nodes = 0;
  for (const sched::PodSetReport& each : explanation.pod_sets) {
    nodes = std::max(nodes, each.nodes_allowed);
  }
  return nodes;
}

// "needs 3 CPUs of quota node gold (tree team), 2 of 4 used".
std::string quota_numbers(const sched::QuotaReport& quota) {
  const bool own = quota.tree.starts_with("ResourceQuota ");
  return "needs " + human_resource(quota.resource, quota.requested) + " of " +
         (own ? quota.tree : "quota node " + quota.node + " (tree " + quota.tree + ")") + ", " +
         human_amount(quota.resource, quota.used) + " of " +
         human_amount(quota.resource, quota.limit) + " used";
}

std::string quota_text(const sched::QuotaReport& quota) {
  if (!quota.problem.empty()) {
    return quota.problem + "; set the label " + quota.tree + " to another quota node";
  }
  const std::string text = quota_numbers(quota);
  if (quota.requested > quota.limit) {
    return text + "; raise the limit to " + quantity_text(quota.resource, quota.requested) +
           " or more";
  }
  return text + " (" + human_amount(quota.resource, quota.used + quota.requested - quota.limit) +
         " short)";
}

std::string quota_texts(const std::vector<sched::QuotaReport>& reports) {
  std::string text;
  for (const sched::QuotaReport& each : reports) {
    text += (text.empty() ? "" : "; ") + quota_text(each);
  }
  return text.empty() ? "the quota is used up" : text;
}

// "taint dedicated=ml:NoSchedule excludes 2 (n1, n2), selector zone=a excludes 1". Nodes with a
// taint are named: a toleration or the administrator of the node can help.
std::string exclusions_text(const sched::PodSetReport& set) {
  std::string text;
  for (const sched::Exclusion& excluded : set.excluded) {
    text += (text.empty() ? "" : ", ") + excluded.constraint + " excludes " +
            std::to_string(excluded.nodes) +
            (excluded.taint ? " (" + some_names(excluded.names, excluded.nodes) + ")" : "");
  }
  return text;
}

// How to make a node eligible where none is.
std::string eligible_text(const sched::PodSetReport& set) {
  const bool taints = std::ranges::all_of(
      set.excluded, [](const sched::Exclusion& each) { return each.taint.has_value(); });
  if (set.excluded.empty() || !taints) {
    return "add a node that matches, or change the constraints";
  }
  const sched::Exclusion& first = set.excluded.front();
  return taint_cure(*first.taint, first.names, first.nodes, false);
}

// The number of a pod set is worth a word only where there are several.
std::string set_text(const sched::Explanation& explanation, const sched::PodSetReport& set,
                     std::string_view before, std::string_view after) {
  return explanation.pod_sets.size() == 1
             ? ""
             : std::string(before) + "pod set " + std::to_string(set.pod_set) + std::string(after);
}

std::string excluded_text(const sched::Explanation& explanation) {
  for (const sched::PodSetReport& each : explanation.pod_sets) {
    if (each.nodes_allowed > 0 || each.wanted == 0) {
      continue;
    }
    if (each.nodes_all == 0) {
      return "the cluster has no nodes";
    }
    return set_text(explanation, each, "", ": ") + "0 of " + std::to_string(each.nodes_all) +
           " nodes are eligible: " + exclusions_text(each) + "; " + eligible_text(each);
  }
  return "no node is eligible";
}

// "3 CPUs, 1.95 of 8 free on 1 eligible node (1.05 short)".
std::string short_text(const sched::Shortage& each, std::int64_t nodes) {
  std::string text = human_resource(each.resource, each.requested) + ", " +
                     human_amount(each.resource, each.free) + " of " +
                     human_amount(each.resource, each.capacity) + " free on " + nodes_text(nodes) +
                     " (" + human_amount(each.resource, each.requested - each.free) + " short";
  if (each.requested > each.capacity) {
    text += ", " + human_amount(each.resource, each.requested - each.capacity) +
            " short even when empty";
  }
  return text + ")";
}

// "2 CPUs, at most 1 free on one node".
std::string one_pod_text(const sched::Shortage& each) {
  return human_resource(each.resource, each.pod) + ", at most " +
         human_amount(each.resource, each.best_node) + " free on one node";
}

// "one pod needs 16 CPUs, the largest node has 8 for the queue", that is beside pods outside it:
// waiting does not help. Empty if nodes are large enough.
std::string too_large_text(const sched::Explanation& explanation) {
  std::string text;
  for (const sched::Shortage& each : explanation.shortages) {
    if (each.pod_too_large()) {
      text += (text.empty() ? "one pod needs " : "; one pod needs ") +
              human_resource(each.resource, each.pod) + ", the largest node has " +
              human_amount(each.resource, std::max<sched::Amount>(0, each.largest_node)) +
              " for the queue";
    }
  }
  return text;
}

// Enough in sum: the pod set that misses most of its places tells the story.
std::string places_text(const sched::Explanation& explanation) {
  const sched::PodSetReport* worst = nullptr;
  for (const sched::PodSetReport& each : explanation.pod_sets) {
    if (each.places >= each.wanted) {
      continue;
    }
    if (worst == nullptr || each.wanted - each.places > worst->wanted - worst->places) {
      worst = &each;
    }
  }
  if (worst == nullptr) {
    return "each pod set fits alone, but not all of them together";
  }
  std::string text = std::to_string(worst->places) + " of " + std::to_string(worst->wanted) +
                     " pods" + set_text(explanation, *worst, " of ", "") + " fit on " +
                     nodes_text(worst->nodes_allowed);
  if (worst->apart) {
    text += ", at most one pod per node";
  }
  for (const sched::Shortage& each : explanation.shortages) {
    if (each.pod > each.best_node && !each.pod_too_large()) {
      text += "; one pod needs " + one_pod_text(each);
    }
  }
  return text;
}

// " within zone=a, the nearest of 3"
std::string within_text(const sched::Explanation& explanation) {
  if (explanation.domains.empty()) {
    return "";
  }
  std::string text = " within " + explanation.within + "=" + explanation.domains.front().name;
  return explanation.domains.size() == 1
             ? text
             : text + ", the nearest of " + std::to_string(explanation.domains.size());
}

std::string insufficient_text(const sched::Explanation& explanation) {
  std::string text;
  const std::int64_t nodes =
      explanation.domains.empty() ? most_allowed(explanation) : explanation.domains.front().nodes;
  for (const sched::Shortage& each : explanation.shortages) {
    if (each.short_in_sum()) {
      text += (text.empty() ? "needs " : "; needs ") + short_text(each, nodes);
    }
  }
  const std::string too_large = too_large_text(explanation);
  return too_large + (too_large.empty() ? "" : "; ") +
         (text.empty() ? places_text(explanation) : text);
}

std::string fragmented_text(const sched::Explanation& explanation) {
  const std::string too_large = too_large_text(explanation);
  return (too_large.empty() ? "enough is free in total, but fragmented" : too_large) +
         (too_large.empty() ? ": " : "; ") + places_text(explanation);
}

std::string reserved_text(const sched::Explanation& explanation) {
  if (!explanation.reservation) {
    return "nodes are reserved for the first in the queue";
  }
  std::string text =
      "nodes are reserved for " + explanation.reservation->holder + ", first in the queue";
  if (explanation.reservation->starts) {
    text += ", which is expected to start at " + to_rfc3339(*explanation.reservation->starts);
  }
  return text + "; the reservation ends at " + to_rfc3339(explanation.reservation->expires) +
         " at the latest";
}

std::string names_of(const std::vector<sched::Holder>& holders) {
  constexpr std::size_t kNamesMax = 3;
  const std::size_t named = std::min(holders.size(), kNamesMax);
  const std::size_t rest = holders.size() - named;
  std::string text;
  for (std::size_t i = 0; i < named; ++i) {
    const bool last = i + 1 == named && rest == 0;
    text += (i == 0 ? ""
             : last ? " and "
                    : ", ") +
            holders[i].name + " (" + amounts_text(holders[i].held) + ")";
  }
  return rest == 0 ? text : text + " and " + std::to_string(rest) + " more";
}

std::string awaiting_text(const sched::Explanation& explanation) {
  std::string text = explanation.awaited.empty()
                         ? "starts when evicted work has ended"
                         : "starts when evicted work has ended: " + names_of(explanation.awaited);
  for (const sched::QuotaReport& each : explanation.quota) {
    text += "; " + quota_numbers(each);
  }
  return text;
}

// Of all that one pod needs, the resources that no eligible node has free.
std::string lacking_text(const sched::Explanation& explanation) {
  std::string text;
  for (const sched::Shortage& each : explanation.shortages) {
    if (each.pod <= each.best_node) {
      continue;
    }
    text += (text.empty() ? "needs " : "; needs ") + one_pod_text(each);
  }
  return text.empty() ? "no node has all requested resources free at once" : text;
}

}  // namespace

std::string sentence(const sched::Explanation& explanation) {
  switch (explanation.why) {
    case Reason::none:
      return "not evaluated yet";
    case Reason::held:
      return "held";
    case Reason::unknown_quota:
    case Reason::insufficient_quota:
      return quota_texts(explanation.quota);
    case Reason::no_node_allowed:
      return excluded_text(explanation);
    case Reason::insufficient_resources:
      return insufficient_text(explanation) + within_text(explanation);
    case Reason::fragmented:
      return fragmented_text(explanation) + within_text(explanation);
    case Reason::reserved:
      return reserved_text(explanation);
    case Reason::preempting:
      return awaiting_text(explanation);
    case Reason::paused:
      return "the queue is paused; run 'codeflare queue resume' to start work";
    default:
      return "";  // not of the core
  }
}

std::string domain_sentence(const sched::DomainReport& domain) {
  std::string text;
  for (const sched::Shortage& each : domain.shortages) {
    if (each.short_in_sum()) {
      text += (text.empty() ? "needs " : "; needs ") + short_text(each, domain.nodes);
    }
  }
  if (!text.empty()) {
    return text;
  }
  text = std::to_string(domain.places) + " of " + std::to_string(domain.wanted) + " pods fit on " +
         nodes_text(domain.nodes);
  return domain.places < domain.wanted ? text : text + ", each pod set alone";
}

std::string pod_sentence(const sched::Explanation& explanation) {
  const bool nodes = explanation.why == Reason::no_node_allowed ||
                     explanation.why == Reason::insufficient_resources ||
                     explanation.why == Reason::fragmented;
  if (!nodes || explanation.pod_sets.empty()) {
    return sentence(explanation);
  }
  const sched::PodSetReport& pod = explanation.pod_sets.front();
  if (pod.nodes_all == 0) {
    return "the cluster has no nodes";
  }
  // As kube-scheduler begins: people and programs look for it.
  const std::string text = "0/" + std::to_string(pod.nodes_all) + " nodes are available: ";
  const std::string excluded = exclusions_text(pod);
  if (pod.nodes_allowed > 0) {
    return text + (excluded.empty() ? "" : excluded + ", ") + lacking_text(explanation);
  }
  return text + excluded + "; " + eligible_text(pod);
}

}  // namespace codeflare::queue
