#include "sched/explanation.h"

#include <algorithm>
#include <array>

namespace codeflare::sched {

namespace {

std::string quota_text(const QuotaReport& quota) {
  if (!quota.problem.empty()) {
    return quota.problem;
  }
  return "quota node " + quota.node + " of tree " + quota.tree + " is full: needs " +
         amount_text(quota.resource, quota.requested) + " " + quota.resource + ", " +
         amount_text(quota.resource, quota.used) + " of " +
         amount_text(quota.resource, quota.limit) + " used";
}

std::string quota_texts(const std::vector<QuotaReport>& reports) {
  std::string text;
  for (const QuotaReport& each : reports) {
    text += (text.empty() ? "" : "; ") + quota_text(each);
  }
  return text.empty() ? "quota" : text;
}

std::string insufficient_text(const Explanation& explanation) {
  std::string text = "insufficient";
  for (const Shortage& each : explanation.shortages) {
    if (!each.short_in_sum()) {
      continue;
    }
    text += std::string(text == "insufficient" ? " " : ", ") + each.resource + ": needs " +
            amount_text(each.resource, each.requested) + ", " +
            amount_text(each.resource, each.free) + " of " +
            amount_text(each.resource, each.capacity) + " free";
  }
  return text;
}

// Enough in sum: the pod set that finds the fewest of its places tells the story.
const PodSetReport* shortest(const Explanation& explanation) {
  const PodSetReport* worst = nullptr;
  for (const PodSetReport& each : explanation.pod_sets) {
    if (each.places >= each.wanted) {
      continue;
    }
    if (worst == nullptr || each.wanted - each.places > worst->wanted - worst->places) {
      worst = &each;
    }
  }
  return worst;
}

std::string places_text(const Explanation& explanation) {
  const PodSetReport* worst = shortest(explanation);
  if (worst == nullptr) {
    return ", but the pod sets do not fit together";
  }
  std::string text = ", but " + std::to_string(worst->places) + " of " +
                     std::to_string(worst->wanted) + " pods of pod set " +
                     std::to_string(worst->pod_set) + " fit on " +
                     std::to_string(worst->nodes_allowed) + " eligible nodes";
  if (worst->apart) {
    text += ", at most one pod per node";
  }
  if (worst->places > 0) {
    text += ", at most " + std::to_string(worst->best_class_places) + " in " + worst->best_class;
  }
  for (const Shortage& each : explanation.shortages) {
    if (each.pod <= each.best_node) {
      continue;
    }
    text += "; one pod needs " + amount_text(each.resource, each.pod) + " " + each.resource +
            ", at most " + amount_text(each.resource, each.best_node) + " free on one node";
  }
  return text;
}

std::string excluded_text(const Explanation& explanation) {
  std::string text = "no node is eligible";
  for (const PodSetReport& each : explanation.pod_sets) {
    if (each.nodes_allowed > 0 || each.wanted == 0) {
      continue;
    }
    text = "pod set " + std::to_string(each.pod_set) + " has 0 eligible nodes of " +
           std::to_string(each.nodes_all);
    for (const Exclusion& excluded : each.excluded) {
      text += (&excluded == &each.excluded.front() ? ": " : ", ") + excluded.constraint +
              " excludes " + std::to_string(excluded.nodes);
    }
    break;
  }
  return text;
}

std::string waiting_text(const Explanation& explanation) {
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
      return insufficient_text(explanation);
    case Reason::fragmented:
      return "fragmented: enough is free in total" + places_text(explanation);
    case Reason::reserved: {
      if (!explanation.reservation) {
        return "behind a reservation";
      }
      std::string text = "behind the reservation of " + explanation.reservation->holder;
      if (explanation.reservation->starts) {
        text += ", which starts at " + to_rfc3339(*explanation.reservation->starts);
      }
      return text + ", until " + to_rfc3339(explanation.reservation->expires) + " at the latest";
    }
    case Reason::preempting:
      return "waiting for evicted work to end";
    case Reason::paused:
      return "the queue is paused";
    default:
      return "";  // not of the core
  }
}

}  // namespace

std::string amount_text(const std::string& resource, Amount amount) {
  if (resource == "cpu") {
    return amount % 1000 == 0 ? std::to_string(amount / 1000) : std::to_string(amount) + "m";
  }
  if (resource == "memory" || resource == "ephemeral-storage") {
    static constexpr std::array kSuffixes{"", "Ki", "Mi", "Gi", "Ti", "Pi"};
    std::size_t suffix = 0;
    while (amount != 0 && amount % 1024 == 0 && suffix + 1 < kSuffixes.size()) {
      amount /= 1024;
      ++suffix;
    }
    return std::to_string(amount) + kSuffixes[suffix];
  }
  return std::to_string(amount);
}

std::string to_text(const Explanation& explanation) {
  switch (explanation.state) {
    case GangState::running:
      return "running";
    case GangState::draining:
      return "being evicted";
    case GangState::nominated:
    case GangState::waiting:
      break;
  }
  std::string text = waiting_text(explanation);
  if (!explanation.domains.empty() && (explanation.why == Reason::insufficient_resources ||
                                       explanation.why == Reason::fragmented)) {
    text += " within " + explanation.within + "=" + explanation.domains.front().name;
    const std::size_t others = explanation.domains.size() - 1;
    if (others > 0) {
      text += ", the nearest of " + std::to_string(others + 1);
    }
  }
  if (explanation.never_fits) {
    text += "; does not fit even on an empty cluster";
  }
  if (explanation.search_cut_short) {
    text += " (the search was cut short)";
  }
  return text;
}

}  // namespace codeflare::sched
