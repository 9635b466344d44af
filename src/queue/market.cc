#include "queue/market.h"

#include <algorithm>
#include <utility>

namespace codeflare::queue {

namespace {

using model::MachineRequest;
using model::MachineType;

// Machines that are there or on their way, by type.
std::map<std::string, std::int64_t> live_machines(const MachineRequest& request) {
  std::map<std::string, std::int64_t> live;
  for (const model::MachineAmount& amount : request.spec.machines) {
    live[amount.type] += amount.count;
  }
  for (const model::MachineState& machine : request.status.machines) {
    live[machine.type] -= machine.phase == kGone ? 1 : 0;
  }
  return live;
}

std::string about(const MachineRequest& request) {
  std::vector<std::pair<std::string, std::int64_t>> machines;
  for (const model::MachineAmount& amount : request.spec.machines) {
    machines.emplace_back(amount.type, amount.count);
  }
  std::string text = "asked for " + machines_text(machines);
  if (request.metadata.creation_timestamp) {
    text += " at " + to_rfc3339(*request.metadata.creation_timestamp);
  }
  text += " (MachineRequest " + request.metadata.name + ")";
  return request.status.ready.empty() ? text : text + ", " + request.status.ready + " ready";
}

// The slowest type counts.
std::optional<model::Time> usually_ready(const MachineRequest& request,
                                         const MachineMarket& market) {
  std::int64_t seconds = 0;
  for (const model::MachineAmount& amount : request.spec.machines) {
    const auto offer = std::ranges::find(market.offers, amount.type, &MachineOffer::type);
    if (offer == market.offers.end() || !offer->spec.start_seconds) {
      return std::nullopt;
    }
    seconds = std::max(seconds, *offer->spec.start_seconds);
  }
  const std::optional<model::Time>& asked = request.metadata.creation_timestamp;
  return asked ? std::optional(*asked + std::chrono::seconds(seconds)) : std::nullopt;
}

MachineOffer offer_of(const MachineType& type, const MarketRules& rules) {
  MachineOffer offer{.type = type.metadata.name, .spec = type.spec};
  std::optional<model::MachineTypeSpec> known =
      rules.complete ? rules.complete(type) : std::optional(type.spec);
  if (known) {
    offer.spec = *std::move(known);
  } else {
    offer.resting = "has provider " + type.spec.provider + ", which this controller does not have";
  }
  offer.spec.labels.insert_or_assign(std::string(kMachineTypeLabel), offer.type);
  return offer;
}

void add_request(const MachineRequest& request, MachineMarket& market) {
  const std::string_view phase = phase_of(request);
  const std::map<std::string, std::int64_t> live = live_machines(request);
  for (MachineOffer& offer : market.offers) {
    const auto count = live.find(offer.type);
    if (count == live.end()) {
      continue;
    }
    offer.in_use += count->second;
    if (phase == kFailed && request.status.retry_time) {
      offer.resting = "failed: " + request.status.message + "; next try at " +
                      to_rfc3339(*request.status.retry_time);
    }
    market.namespace_costs[request.spec.work.ns] +=
        static_cast<double>(count->second) * offer.spec.cost_per_hour.value_or(0);
  }
  if (phase != kPending || request.metadata.deleting()) {
    return;
  }
  market.requests.emplace(request.metadata.name, about(request));
  if (const auto ready = usually_ready(request, market)) {
    market.ready_at.emplace(request.metadata.name, *ready);
  }
  for (const model::MachineAmount& amount : request.spec.machines) {
    const MachineOnOrder machine{request.metadata.name, amount.type, request.spec.labels};
    market.on_order.insert(market.on_order.end(), static_cast<std::size_t>(amount.count), machine);
  }
}

void set_limits(const std::vector<MachineRequest>& requests, const MarketRules& rules,
                MachineMarket& market) {
  std::int64_t machines = 0;
  for (const MachineRequest& request : requests) {
    for (const auto& [type, count] : live_machines(request)) {
      machines += count;
    }
  }
  double cost = 0;
  for (const MachineOffer& offer : market.offers) {
    cost += static_cast<double>(offer.in_use) * offer.spec.cost_per_hour.value_or(0);
  }
  if (rules.machines) {
    market.machines_left = *rules.machines - machines;
    market.machines_limit = rules.machines_name;
  }
  if (rules.budget) {
    market.budget_left = *rules.budget - cost;
    market.budget_limit = "the budget per hour";
  }
  market.namespace_budget = rules.namespace_budget;
}

}  // namespace

std::string_view phase_of(const MachineRequest& request) {
  return request.status.phase.empty() ? kPending : std::string_view(request.status.phase);
}

MachineMarket market_of(const std::vector<MachineType>& types,
                        const std::vector<MachineRequest>& requests, const MarketRules& rules) {
  MachineMarket market;
  for (const MachineType& type : types) {
    if (!type.metadata.deleting()) {
      market.offers.push_back(offer_of(type, rules));
    }
  }
  std::ranges::sort(market.offers, {}, &MachineOffer::type);
  for (const MachineRequest& request : requests) {
    add_request(request, market);
  }
  set_limits(requests, rules, market);
  return market;
}

// Machines on order there are for the work that they were asked for; what they leave free counts
// once they are nodes.
void add_cluster(const ClusterMachines& machines, MachineMarket& market) {
  for (MachineOffer& offer : market_of(machines.types, machines.requests, {}).offers) {
    offer.type = machines.cluster + "/" + offer.type;
    offer.cluster = machines.cluster;
    market.offers.push_back(std::move(offer));
  }
}

}  // namespace codeflare::queue
