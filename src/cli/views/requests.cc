#include "cli/views/requests.h"

#include "model/resource_text.h"
#include "queue/demand.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace codeflare::cli {

namespace {

constexpr std::string_view kDefaultNode = "default";

// Of one pod: GPUs and their like, else CPUs, else memory.
std::string one_pod_text(const sched::Resources& requests) {
  const auto amount_of = [&](std::string_view name) {
    const auto found = std::ranges::find(requests, name, &sched::Resource::name);
    return found == requests.end() ? sched::Amount{0} : found->amount;
  };
  for (const sched::Resource& each : requests) {
    if (each.name.contains('/') && each.amount > 0) {
      const std::string name = each.name.substr(each.name.rfind('/') + 1);
      return std::to_string(each.amount) + " " + (name == "gpu" ? "GPU" : name);
    }
  }
  if (const sched::Amount cpu = amount_of("cpu"); cpu > 0) {
    return model::human_amount("cpu", model::Quantity::milli(cpu)) + " CPU";
  }
  const sched::Amount memory = amount_of("memory");
  return memory > 0 ? model::human_amount("memory", model::Quantity(memory)) : "1 pod";
}

}  // namespace

std::string requests_text(const model::AppWrapper& wrapper) {
  const Result<queue::Demand> demand = queue::demand_of(wrapper);
  if (!demand) {
    return "";
  }
  std::vector<std::pair<std::string, std::int64_t>> parts;
  for (const queue::PodSetDemand& set : demand->pod_sets) {
    const std::string one = one_pod_text(set.pods.requests);
    const auto same = std::ranges::find(parts, one, &std::pair<std::string, std::int64_t>::first);
    if (same != parts.end()) {
      same->second += set.pods.count;
    } else if (set.pods.count > 0) {
      parts.emplace_back(one, set.pods.count);
    }
  }
  std::string text;
  for (const auto& [one, count] : parts) {
    text += (text.empty() ? "" : " + ") + std::to_string(count) + " x " + one;
  }
  return text;
}

std::string requests_text(const queue::Work& job) {
  const Result<queue::Demand> demand = job.demand();
  if (!demand || demand->pod_sets.empty() || !job.sizes) {
    return "";
  }
  const std::string most =
      job.sizes->max > job.sizes->min ? ".." + std::to_string(job.sizes->max) : "";
  return std::to_string(job.sizes->min) + most + " x " +
         one_pod_text(demand->pod_sets.front().pods.requests);
}

std::string quota_text(const model::StringMap& labels, const std::set<std::string>& trees) {
  std::string text;
  for (const std::string& tree : trees) {
    const auto label = labels.find(tree);
    const std::string node =
        label == labels.end() ? std::string(kDefaultNode) : std::string(label->second);
    text += (text.empty() ? "" : ",") + (trees.size() == 1 ? node : tree + "=" + node);
  }
  return text;
}

}  // namespace codeflare::cli
