#pragma once

#include "model/resource_list.h"
#include "sched/spec.h"

#include <string>

// Amounts of what is seen on nodes and pods, in the core's units.
namespace codeflare::queue {

// Clamped instead of rejected: the pod exists with its requests. Sorted by name, no zeros.
sched::Resources observed(const model::ResourceList& list);
// The amounts that a ResourceQuota calls limits.cpu and so on.
sched::Resources observed_limits(const model::ResourceList& limits);

// sum += sign x amounts; both sorted by name, and so is the sum.
void add(sched::Resources& sum, const sched::Resources& amounts, int sign);
sched::Resources joined(sched::Resources a, const sched::Resources& b);
sched::Amount amount_of(const sched::Resources& resources, const std::string& name);

// The shortest exact way to write it: "1950m", "4G", "5199972Ki".
std::string quantity_text(const std::string& resource, sched::Amount amount);
// Rounded, for people: "1.95", "4G", "7.7Gi"; and with its noun: "2 CPUs", "7.7Gi memory".
std::string human_amount(const std::string& resource, sched::Amount amount);
std::string human_resource(const std::string& resource, sched::Amount amount);
// "4 CPUs, 2G memory".
std::string amounts_text(const sched::Resources& resources);

}  // namespace codeflare::queue
