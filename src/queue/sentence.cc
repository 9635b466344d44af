#include "queue/internal/amounts.h"
#include "queue/internal/standing_of.h"
#include "queue/report.h"

#include <algorithm>

namespace codeflare::queue {

namespace {

std::string amount(const std::string& resource, sched::Amount value) {
  return quantity_text(resource, value);
}

std::string nodes_text(std::int64_t nodes) {
  return std::to_string(nodes) + (nodes == 1 ? " allowed node" : " allowed nodes");
}

std::int64_t most_allowed(const sched::Explanation& explanation) {
  std::int64_t nodes = 0;
  for (const sched::PodSetReport& each : explanation.pod_sets) {
    nodes = std::max(nodes, each.nodes_allowed);
  }
  return nodes;
}

std::string quota_numbers(const sched::QuotaReport& quota) {
  const bool own = quota.tree.starts_with("ResourceQuota ");
  const std::string node = own ? quota.tree : "quota node " + quota.node + " of tree " + quota.tree;
  return node + " has no room: " + quota.resource + " asks " +
         amount(quota.resource, quota.requested) + ", used " + amount(quota.resource, quota.used) +
         " of " + amount(quota.resource, quota.limit);
}

std::string quota_text(const sched::QuotaReport& quota) {
  if (!quota.problem.empty()) {
    return quota.problem + "; the label " + quota.tree + " may name another node";
  }
  const std::string text = quota_numbers(quota);
  if (quota.requested > quota.limit) {
    return text + "; it asks for more than the whole limit: raise it to " +
           amount(quota.resource, quota.requested) + " at least";
  }
  return text + "; " + amount(quota.resource, quota.used + quota.requested - quota.limit) +
         " has to be given back, or the limit raised";
}

std::string quota_texts(const std::vector<sched::QuotaReport>& reports) {
  std::string text;
  for (const sched::QuotaReport& each : reports) {
    text += (text.empty() ? "" : "; and ") + quota_text(each);
  }
  return text.empty() ? "quota has no room" : text;
}

std::string excluded_text(const sched::Explanation& explanation) {
  for (const sched::PodSetReport& each : explanation.pod_sets) {
    if (each.nodes_allowed > 0 || each.wanted == 0) {
      continue;
    }
    if (each.nodes_all == 0) {
      return "there is no node";
    }
    std::string text = "pod set " + std::to_string(each.pod_set) + " may use none of " +
                       std::to_string(each.nodes_all) + " nodes:";
    for (const sched::Exclusion& excluded : each.excluded) {
      text += (&excluded == &each.excluded.front() ? " " : ", ") + excluded.constraint +
              " excludes " + std::to_string(excluded.nodes);
    }
    return text + "; a node that it may use has to join";
  }
  return "no node is allowed";
}

std::string short_text(const sched::Shortage& each, std::int64_t nodes) {
  std::string text = each.resource + " asks " + amount(each.resource, each.requested) + ", " +
                     amount(each.resource, each.free) + " free of " +
                     amount(each.resource, each.capacity) + " on " + nodes_text(nodes);
  if (each.requested > each.capacity) {
    return text + ", more than they have";
  }
  return text + ", " + amount(each.resource, each.requested - each.free) + " more needed";
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
    return "its pod sets fit one by one, but not together";
  }
  std::string text = "pod set " + std::to_string(worst->pod_set) + " finds " +
                     std::to_string(worst->places) + " of " + std::to_string(worst->wanted) +
                     " places on " + nodes_text(worst->nodes_allowed);
  if (worst->apart) {
    text += ", one pod on each at most";
  }
  for (const sched::Shortage& each : explanation.shortages) {
    if (each.pod <= each.best_node) {
      continue;
    }
    text += "; one pod asks " + amount(each.resource, each.pod) + " " + each.resource +
            ", the most free on one node is " + amount(each.resource, each.best_node);
    if (each.pod > each.largest_node) {
      text += ", and the largest node could never give more than " +
              amount(each.resource, std::max<sched::Amount>(0, each.largest_node));
    }
  }
  return text;
}

std::string insufficient_text(const sched::Explanation& explanation) {
  std::string text;
  const std::int64_t nodes = most_allowed(explanation);
  for (const sched::Shortage& each : explanation.shortages) {
    if (each.short_in_sum()) {
      text += (text.empty() ? "" : "; ") + short_text(each, nodes);
    }
  }
  return text.empty() ? places_text(explanation) : text;
}

std::string reserved_text(const sched::Explanation& explanation) {
  if (!explanation.reservation) {
    return "the head of the line keeps its place";
  }
  std::string text = explanation.reservation->holder + " is first in line and keeps its place";
  if (explanation.reservation->starts) {
    text += ", which it takes at " + to_rfc3339(*explanation.reservation->starts);
  }
  return text + ", until " + to_rfc3339(explanation.reservation->expires) + " at the latest";
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
  std::string text = "its place is being cleared: it starts when ";
  switch (explanation.awaited.size()) {
    case 0:
      text += "the work that makes room has ended";
      break;
    case 1:
      text += names_of(explanation.awaited) + ", which makes room, has ended";
      break;
    default:
      text += names_of(explanation.awaited) + ", which make room, have ended";
  }
  for (const sched::QuotaReport& each : explanation.quota) {
    text += "; " + quota_numbers(each);
  }
  return text;
}

// Of all that one pod asks for, what no allowed node has free.
std::string lacking_text(const sched::Explanation& explanation) {
  std::string text;
  for (const sched::Shortage& each : explanation.shortages) {
    if (each.pod <= each.best_node) {
      continue;
    }
    text += (text.empty() ? "" : "; ") + each.resource + " asks " +
            amount(each.resource, each.pod) + ", the most free on one node is " +
            amount(each.resource, each.best_node);
  }
  return text.empty() ? "no node has all that it asks for free at once" : text;
}

}  // namespace

std::string sentence(const sched::Explanation& explanation) {
  switch (explanation.why) {
    case Reason::none:
      return "not tried yet";
    case Reason::held:
      return "held";
    case Reason::unknown_quota:
    case Reason::insufficient_quota:
      return quota_texts(explanation.quota);
    case Reason::no_node_allowed:
      return excluded_text(explanation);
    case Reason::insufficient_resources:
      return insufficient_text(explanation);
    case Reason::fragmented:
      return "enough is free in sum, but fragmented: " + places_text(explanation);
    case Reason::reserved:
      return reserved_text(explanation);
    case Reason::preempting:
      return awaiting_text(explanation);
    case Reason::paused:
      return "the queue is paused: nothing new starts until `codeflare queue resume`";
    default:
      return "";  // not of the core
  }
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
    return "there is no node";
  }
  // As kube-scheduler begins: people and programs look for it.
  std::string text = "0/" + std::to_string(pod.nodes_all) + " nodes are available: ";
  for (const sched::Exclusion& excluded : pod.excluded) {
    text += excluded.constraint + " excludes " + std::to_string(excluded.nodes) + ", ";
  }
  if (pod.nodes_allowed > 0) {
    return text + lacking_text(explanation);
  }
  return text + "a node that it may use has to join";
}

}  // namespace codeflare::queue
