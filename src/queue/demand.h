#pragma once

#include "base/result.h"
#include "json/value.h"
#include "model/app_wrapper.h"
#include "model/gvk.h"
#include "model/pod.h"
#include "queue/clusters.h"
#include "queue/kinds/life.h"
#include "queue/quota_scope.h"
#include "queue/resources.h"
#include "sched/spec.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

// The demand of an AppWrapper's items, read from the items alone. Pure.
namespace codeflare::queue {

// One kind of pods of a gang.
struct PodSetDemand {
  // For the core: what one pod reserves on its node (the larger of declared and template, with
  // "pods": 1), what it charges to quota (declared; with "pods": 1, and its limits as "limits.cpu"
  // for ResourceQuotas), and its constraints.
  sched::PodSet pods;
  // Which item, and which pod template in it as a JSON pointer ("/spec/headGroupSpec/template"; ""
  // is the item itself, a Pod). Absent when only custompodresources tell of it: then pods are
  // matched by their requests.
  std::size_t item = 0;
  std::optional<std::string> template_path{};
  // Pods over its life when that is known (completions of a Job): an ended pod beyond has no
  // successor. Absent: an ended pod is replaced unless it succeeded.
  std::optional<std::int64_t> total{};
  // Pods that the template itself makes at a time; custompodresources may say otherwise.
  std::int64_t in_template = 0;
  PodTraits traits{};
  bool training = false;  // pods of a TrainingJob: the operator's unit and node selector hold
};

// One wrapped object, checked: decodable, of the AppWrapper's namespace, no AppWrapper itself.
struct ItemInfo {
  // The namespace is the AppWrapper's; the kind may still be cluster-scoped. A `generateName` gets
  // a suffix that depends on the AppWrapper's UID and the item's position alone.
  model::ObjectKey key;
  std::string api_version;
  std::string kind;
  Life life = Life::unknown;
};

struct Demand {
  std::vector<ItemInfo> items;
  std::vector<PodSetDemand> pod_sets;
  // Fields that require or forbid other pods nearby and that placement ignores. Placement honors
  // only this kind: pods of one set on different nodes.
  std::vector<std::string> unheeded{};
  // Label keys that all of its pods have in common (kWithinAnnotation).
  std::vector<std::string> within{};
  // Of an elastic one: whose share its growth counts to.
  std::string queue{};
  // Where the queue has several clusters.
  ClusterRule clusters{};
};
// One clause that names them; empty when there are none.
std::string unheeded_text(const Demand& demand);

// Understood from their templates: the kinds of queue/kinds. Their `suspend` is ignored: places are
// kept for the time when they are resumed. Other kinds ask for what custompodresources say, else
// nothing.
//
// custompodresources replace counts and requests (a limit stands for a request that is absent or
// zero); constraints still come from the templates of a known kind. As many entries as templates:
// they match in order (a RayJob's submitter pod need not be declared and then counts by itself).
// Otherwise each entry goes to the template whose requests are most alike; fewer entries than
// templates take different ones, entries that meet at one template are one pod set.
//
// Errors are `invalid_argument` and name the field: "spec.resources.GenericItems[1].generictemplate
// .spec.template.spec.containers[0].resources.requests[cpu]: ...".
Result<Demand> demand_of(const model::AppWrapper& wrapper);

// All that is wrong with an AppWrapper, each as "field: what"; empty when nothing is. Includes what
// demand_of() would say.
std::vector<std::string> problems_of(const model::AppWrapper& wrapper);

struct InstrumentOptions {
  // As the owner reference has it.
  model::WrapperApi api = model::WrapperApi::workload_v1beta1;
  // Put into pod templates that name no scheduler; empty: left alone.
  std::string scheduler_name{};
  // Put into the templates of these pod sets.
  std::map<std::uint32_t, model::StringMap> pod_annotations{};
};

// The JSON of item number `item` as it is to be created: namespace, labels, controller owner
// reference, and in each pod template the labels of AppWrapper and pod set, the annotations of the
// pod set, and the AppWrapper's node selector. Labels of the object override labels of its
// templates, as in MCAD, but for those that its own selector needs. Server-written fields (uid,
// resourceVersion...) are dropped.
Result<std::string> instrumented_item(const model::AppWrapper& wrapper, const Demand& demand,
                                      std::size_t item, const InstrumentOptions& options);

// Which pod set a pod belongs to: by its label, else by its requests: the closest of those that
// have room for it; nothing when none has.
std::optional<std::uint32_t> pod_set_of(const Demand& demand, const model::Pod& pod);

// The pod as the core sees it, for pods that belong to nobody here. Their rules about other pods
// are ignored.
Result<sched::PodSet> pod_set_for(const model::PodSpec& spec);

}  // namespace codeflare::queue
