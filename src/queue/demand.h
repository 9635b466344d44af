#pragma once

#include "base/result.h"
#include "json/value.h"
#include "model/app_wrapper.h"
#include "model/gvk.h"
#include "model/pod.h"
#include "sched/spec.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// What an AppWrapper's items ask for, read from the items alone. Pure.
namespace codeflare::queue {

// One kind of pods of a gang.
struct PodSetDemand {
  // For the core: what one pod reserves on its node (the larger of declared and template, with
  // "pods": 1), what it charges to quota (declared; with "pods": 1, and its limits as "limits.cpu"
  // for ResourceQuotas), and its constraints.
  sched::PodSet pods;
  // Which item, and which pod template in it as a JSON pointer ("/spec/headGroupSpec/template");
  // empty when only custompodresources tell of it: then pods are matched by their requests.
  std::size_t item = 0;
  std::string template_path{};
  // Pods over its life when that is known (completions of a Job): an ended pod beyond has no
  // successor. Absent: an ended pod is replaced unless it succeeded.
  std::optional<std::int64_t> total{};
};

// One wrapped object, checked: decodable, of the AppWrapper's namespace, no AppWrapper itself.
struct ItemInfo {
  model::ObjectKey key;  // the namespace is the AppWrapper's; the kind may still be cluster-scoped
  std::string api_version;
  std::string kind;
};

struct Demand {
  std::vector<ItemInfo> items;
  std::vector<PodSetDemand> pod_sets;
};

// Errors are `invalid_argument` and name the field: "spec.resources.GenericItems[1].generictemplate
// .spec.template.spec.containers[0].resources.requests.cpu: ...".
Result<Demand> demand_of(const model::AppWrapper& wrapper);

// All that is wrong with an AppWrapper, each as "field: what"; empty when nothing is. Includes what
// demand_of() would say.
std::vector<std::string> problems_of(const model::AppWrapper& wrapper);

struct InstrumentOptions {
  // Put into pod templates that name no scheduler; empty: left alone.
  std::string scheduler_name{};
};

// The JSON of item number `item` as it is to be created: namespace, labels, controller owner
// reference, and in each pod template the labels of AppWrapper and pod set and the AppWrapper's
// node selector. Labels of the object override labels of its templates, as in MCAD.
Result<std::string> instrumented_item(const model::AppWrapper& wrapper, const Demand& demand,
                                      std::size_t item, const InstrumentOptions& options);

// Which pod set a pod belongs to: by its label, else by its requests; nothing when none fits.
std::optional<std::uint32_t> pod_set_of(const Demand& demand, const model::Pod& pod);

// Amounts in the core's units, rounded up: millicores, bytes, whole pieces. Fails for what does not
// fit 64 bits and for negative amounts.
Result<sched::Resources> to_resources(const model::ResourceList& list);
model::ResourceList to_resource_list(const sched::Resources& resources);

// The pod as the core sees it, for pods that belong to nobody here.
Result<sched::PodSet> pod_set_for(const model::PodSpec& spec);

}  // namespace codeflare::queue
