#include "queue/internal/declared.h"

#include "model/pod_requests.h"

#include <algorithm>
#include <cmath>

namespace codeflare::queue {
namespace {

// Templates that entries speak of in order, when the numbers say so.
std::vector<std::size_t> in_order(std::size_t entries, const std::vector<PodTemplate>& templates) {
  std::vector<std::size_t> all;
  std::vector<std::size_t> declared;
  for (std::size_t i = 0; i < templates.size(); ++i) {
    all.push_back(i);
    if (!templates[i].undeclared) {
      declared.push_back(i);
    }
  }
  if (entries == all.size()) {
    return all;
  }
  return entries == declared.size() ? declared : std::vector<std::size_t>();
}

}  // namespace

model::ResourceList effective_requests(const model::CustomPodResources& entry) {
  model::ResourceList requests = entry.requests;
  for (const auto& [name, limit] : entry.limits) {
    if (requests.get(name).is_zero()) {
      requests.set(name, limit);
    }
  }
  return requests;
}

double unlikeness(const model::ResourceList& a, const model::ResourceList& b) {
  const auto amount = [](const model::ResourceList& list, const std::string& name) {
    return static_cast<double>(list.get(name).milli_value());
  };
  double sum = 0;
  const auto add = [&](const std::string& name) {
    const double x = amount(a, name);
    const double y = amount(b, name);
    sum += x == y ? 0 : std::abs(x - y) / std::max(std::abs(x), std::abs(y));
  };
  for (const auto& [name, ignored] : a) {
    add(name);
  }
  for (const auto& [name, ignored] : b) {
    if (a.find(name) == nullptr) {
      add(name);
    }
  }
  return sum;
}

std::vector<std::size_t> match_entries(const std::vector<model::CustomPodResources>& entries,
                                       const std::vector<PodTemplate>& templates) {
  if (templates.empty()) {
    return {};
  }
  if (std::vector<std::size_t> matched = in_order(entries.size(), templates); !matched.empty()) {
    return matched;
  }
  std::vector<model::ResourceList> requests;
  for (const PodTemplate& each : templates) {
    requests.push_back(model::pod_requests(each.spec));
  }
  const bool different = entries.size() < templates.size();
  std::vector<bool> taken(templates.size(), false);
  std::vector<std::size_t> matched;
  for (const model::CustomPodResources& entry : entries) {
    const model::ResourceList wanted = effective_requests(entry);
    std::size_t best = templates.size();
    double best_unlikeness = 0;
    for (std::size_t i = 0; i < templates.size(); ++i) {
      if (different && taken[i]) {
        continue;
      }
      const double found = unlikeness(wanted, requests[i]);
      if (best == templates.size() || found < best_unlikeness) {
        best = i;
        best_unlikeness = found;
      }
    }
    taken[best] = true;
    matched.push_back(best);
  }
  return matched;
}

}  // namespace codeflare::queue
