#include "queue/internal/demand_reader.h"

#include "base/split.h"
#include "model/pod_requests.h"
#include "model/validation.h"
#include "queue/internal/declared.h"
#include "queue/internal/item_check.h"
#include "queue/internal/pod_amounts.h"
#include "queue/internal/pod_constraints.h"
#include "queue/internal/pod_neighbours.h"
#include "queue/internal/pod_shape.h"
#include "queue/kinds/template_reader.h"
#include "queue/marks.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace codeflare::queue {
namespace {

constexpr std::size_t kItemsMax = 1'000;
constexpr std::size_t kPodSetsMax = 1'000;
constexpr std::size_t kWithinMax = 3;
constexpr std::int64_t kPodsMax = 1'000'000;
// The core's own bounds for one pod and for a whole gang: beyond them an amount is a mistake.
constexpr sched::Amount kPodAmountMax = sched::Amount{1} << 50;
constexpr sched::Amount kGangAmountMax = sched::Amount{1} << 56;

class DemandReader {
 public:
  DemandReader(const model::AppWrapper& wrapper, Problems& problems)
      : wrapper_(wrapper), problems_(problems) {}

  Demand run() {
    const auto& items = wrapper_.spec.resources.generic_items;
    check_name();
    read_within();
    demand_.clusters = cluster_rule_of(wrapper_, problems_);
    // It would be dispatched and never end.
    if (items.empty()) {
      problems_.add("spec.resources.GenericItems",
                    "required: an AppWrapper needs at least one item");
    }
    if (items.size() > kItemsMax) {
      problems_.add("spec.resources.GenericItems",
                    "must have at most 1000 items, got " + std::to_string(items.size()));
      return {};
    }
    for (std::size_t i = 0; i < items.size(); ++i) {
      read_item(i);
    }
    keep_one_elastic();
    check_totals();
    demand_.unheeded = keep_apart(neighbours_, demand_.pod_sets);
    return std::move(demand_);
  }

 private:
  // Labels carry it.
  void check_name() {
    const std::string& name = wrapper_.metadata.name;
    if (name.size() > model::kLabelValueLengthMax) {
      problems_.add("metadata.name",
                    "must be at most 63 characters, got " + std::to_string(name.size()));
    }
  }

  void read_within() {
    const std::string_view text =
        model::find_or_empty(wrapper_.metadata.annotations, kWithinAnnotation);
    if (text.empty()) {
      return;
    }
    const std::string field = "metadata.annotations[" + std::string(kWithinAnnotation) + "]";
    for (const std::string_view key : split(text, ',')) {
      if (const auto complaints = model::check_qualified_name(key); !complaints.empty()) {
        problems_.add(field, "must be a label key of nodes such as topology.kubernetes.io/zone: " +
                                 model::join(complaints));
        return;
      }
      if (std::ranges::find(demand_.within, key) == demand_.within.end()) {
        demand_.within.emplace_back(key);
      }
    }
    if (demand_.within.size() > kWithinMax) {
      problems_.add(field,
                    "must have at most 3 label keys, got " + std::to_string(demand_.within.size()));
    }
  }

  void read_item(std::size_t i) {
    std::optional<CheckedItem> item = check_item(wrapper_, i, problems_);
    if (!item) {
      demand_.items.emplace_back();
      return;
    }
    check_unique(i, item->info);
    demand_.items.push_back(item->info);
    object_labels_ = labels_of(*item);

    ItemProblems item_problems(problems_, item_field(i) + ".generictemplate");
    std::vector<PodTemplate> templates;
    TemplateReader reader(item->document.root, check_pod_amounts, item_problems);
    if (reader.knows_kind()) {
      templates = reader.read();
    }
    const auto& entries = wrapper_.spec.resources.generic_items[i].custom_pod_resources;
    if (demand_.pod_sets.size() + templates.size() + entries.size() > kPodSetsMax) {
      problems_.add(item_field(i), "has more than 1000 different pod sets");
      return;
    }
    if (entries.empty()) {
      for (const PodTemplate& each : templates) {
        add_template(i, each);
      }
    } else {
      add_declared(i, entries, templates);
    }
  }

  // A TrainingJob grows if it is all there is; beside other pods it keeps its smallest size.
  void keep_one_elastic() {
    if (demand_.pod_sets.size() == 1) {
      return;
    }
    for (PodSetDemand& set : demand_.pod_sets) {
      set.pods.sizes.reset();
    }
  }

  // Those of the object override those of its templates; ours come on top (instrument.cc).
  model::StringMap labels_of(const CheckedItem& item) const {
    model::StringMap labels;
    const json::Value* metadata = item.document.root.find("metadata");
    const json::Value* own = metadata == nullptr ? nullptr : metadata->find("labels");
    if (own != nullptr) {
      for (const json::Member& label : own->members()) {
        if (label.value.is_string()) {
          labels.insert_or_assign(std::string(label.key), std::string(label.value.as_string()));
        }
      }
    }
    for (const std::string_view key : {kAppWrapperLabel, kMcadLabel}) {
      labels.insert_or_assign(std::string(key), wrapper_.metadata.name);
    }
    return labels;
  }

  void check_unique(std::size_t i, const ItemInfo& info) {
    if (info.kind.empty() || info.key.name.empty()) {
      return;
    }
    const auto [at, is_new] = seen_.try_emplace(
        {model::parse_api_version(info.api_version).group, info.kind, info.key.name}, i);
    if (!is_new) {
      problems_.add(item_field(i) + ".generictemplate.metadata.name",
                    "the same object as in " + item_field(at->second));
    }
  }

  void add_template(std::size_t i, const PodTemplate& from) {
    const model::ResourceList requests = model::pod_requests(from.spec);
    add(i, &from, from.count, requests, requests, model::pod_limits(from.spec), false,
        item_field(i) + ".generictemplate" + dotted(from.path.value_or("")));
  }

  void add_declared(std::size_t i, const std::vector<model::CustomPodResources>& entries,
                    const std::vector<PodTemplate>& templates) {
    const std::vector<std::size_t> matched = match_entries(entries, templates);
    std::map<std::size_t, std::size_t> set_of_template;
    for (std::size_t e = 0; e < entries.size(); ++e) {
      const std::string field = item_field(i) + ".custompodresources[" + std::to_string(e) + "]";
      if (!check_entry(entries[e], field)) {
        continue;
      }
      const PodTemplate* from = matched.empty() ? nullptr : &templates[matched[e]];
      const model::ResourceList declared = effective_requests(entries[e]);
      model::ResourceList reserved = declared;
      model::ResourceList limits = entries[e].limits;
      if (from != nullptr) {
        reserved.raise_to(model::pod_requests(from->spec));
        if (limits.empty()) {
          limits = model::pod_limits(from->spec);
        }
      }
      const std::size_t before = demand_.pod_sets.size();
      add(i, from, entries[e].replicas, reserved, declared, limits, true, field);
      if (from != nullptr && demand_.pod_sets.size() > before) {
        const auto [at, is_first] = set_of_template.try_emplace(matched[e], before);
        if (!is_first) {
          merge_last_into(at->second);
        }
      }
    }
    // Templates that need no declaration and have none.
    for (std::size_t t = 0; t < templates.size(); ++t) {
      if (templates[t].undeclared && std::ranges::find(matched, t) == matched.end()) {
        add_template(i, templates[t]);
      }
    }
  }

  bool check_entry(const model::CustomPodResources& entry, const std::string& field) {
    bool good = true;
    if (entry.replicas < 0) {
      problems_.add(field + ".replicas",
                    "must not be negative, got " + std::to_string(entry.replicas));
      good = false;
    }
    for (const auto& [list, name] :
         {std::pair(&entry.requests, ".requests"), std::pair(&entry.limits, ".limits")}) {
      std::string problem = names_problem(*list);
      for (auto at = list->begin(); problem.empty() && at != list->end(); ++at) {
        const std::string what = container_resource_problem(at->first);
        problem = what.empty() ? "" : "[" + at->first + "]: " + what;
      }
      if (problem.empty()) {
        const auto amounts = to_resources(*list);
        problem = amounts ? "" : amounts.error().message;
      }
      if (!problem.empty()) {
        problems_.add_line(field + name + problem);
        good = false;
      }
    }
    return good;
  }

  void add(std::size_t i, const PodTemplate* from, std::int64_t count,
           const model::ResourceList& reserved, const model::ResourceList& charged,
           const model::ResourceList& limits, bool declared, const std::string& field) {
    if (from != nullptr && from->amounts_bad) {
      return;
    }
    PodSetDemand set;
    set.item = i;
    set.pods.count = count;
    Result<sched::Resources> requests = reserved_by_pod(reserved);
    Result<sched::Resources> charge = charged_by_pod(charged, limits);
    if (!requests || !charge) {
      problems_.add(field, "requests" + (requests ? charge : requests).error().message);
      return;
    }
    set.pods.requests = *std::move(requests);
    set.pods.charge = *std::move(charge);
    if (!check_amounts(set.pods.requests, field) || !check_amounts(*set.pods.charge, field)) {
      return;
    }
    if (from != nullptr) {
      set.traits = traits_of(from->spec);
    }
    set.traits.best_effort = !asks_for_compute(*set.pods.charge);
    Neighbours neighbours;
    if (from != nullptr) {
      const std::string spec =
          item_field(i) + ".generictemplate" + dotted(from->path.value_or("")) + ".spec.";
      set.template_path = from->path;
      set.in_template = from->count;
      // With declared counts nobody knows how many it takes, unless the counts agree.
      set.total = from->count == count ? from->total : std::nullopt;
      set.training = from->sizes.has_value();
      set.pods.sizes = declared ? std::nullopt : from->sizes;
      demand_.queue = from->sizes ? from->queue : demand_.queue;
      if (Result<void> added = add_constraints(from->spec, set.pods); !added) {
        problems_.add_line(spec + added.error().message);
        return;
      }
      model::StringMap labels = object_labels_;
      labels.insert(from->labels.begin(), from->labels.end());
      neighbours = neighbours_of(from->spec, std::move(labels), wrapper_.metadata.ns, spec);
    }
    add_wrapper_selector(i, from, set.pods);
    demand_.pod_sets.push_back(std::move(set));
    neighbours_.push_back(std::move(neighbours));
  }

  static bool asks_for_compute(const sched::Resources& charge) {
    return std::ranges::any_of(charge, [](const sched::Resource& each) {
      return each.amount > 0 && (each.name == "cpu" || each.name == "memory" ||
                                 each.name == "limits.cpu" || each.name == "limits.memory");
    });
  }

  bool check_amounts(const sched::Resources& resources, const std::string& field) {
    for (const sched::Resource& resource : resources) {
      if (resource.amount > kPodAmountMax) {
        problems_.add(field, "one pod requests too much " + resource.name + ": " +
                                 to_resource_list({resource}).get(resource.name).to_string());
        return false;
      }
    }
    return true;
  }

  // The AppWrapper's node selector holds for every pod.
  void add_wrapper_selector(std::size_t i, const PodTemplate* from, sched::PodSet& pods) {
    if (!wrapper_.spec.scheduling_spec) {
      return;
    }
    for (const auto& [key, value] : wrapper_.spec.scheduling_spec->node_selector) {
      const auto own =
          std::ranges::find(pods.selector, key, &std::pair<std::string, std::string>::first);
      if (own == pods.selector.end()) {
        pods.selector.emplace_back(key, value);
      } else if (own->second != value) {
        problems_.add(item_field(i) + ".generictemplate" + dotted(from->path.value_or("")) +
                          ".spec.nodeSelector[" + key + "]",
                      "contradicts spec.schedulingSpec.nodeSelector[" + key + "]");
      }
    }
  }

  // All pods of one template are one set: the larger amounts count.
  void merge_last_into(std::size_t index) {
    PodSetDemand last = std::move(demand_.pod_sets.back());
    demand_.pod_sets.pop_back();
    neighbours_.pop_back();
    PodSetDemand& into = demand_.pod_sets[index];
    into.pods.count += last.pods.count;
    into.total.reset();
    raise(into.pods.requests, last.pods.requests);
    raise(*into.pods.charge, *last.pods.charge);
  }

  static void raise(sched::Resources& amounts, const sched::Resources& others) {
    for (const sched::Resource& other : others) {
      const auto at = std::ranges::find(amounts, other.name, &sched::Resource::name);
      if (at == amounts.end()) {
        amounts.push_back(other);
      } else {
        at->amount = std::max(at->amount, other.amount);
      }
    }
  }

  void check_totals() {
    std::int64_t pods = 0;
    std::map<std::string, sched::Amount> reserved;
    std::map<std::string, sched::Amount> charged;
    for (const PodSetDemand& set : demand_.pod_sets) {
      pods = std::min(pods + std::min(set.pods.count, kPodsMax + 1), kPodsMax + 1);
      if (pods > kPodsMax) {
        problems_.add(item_field(set.item), "all items together have more than 1000000 pods");
        return;
      }
      if (!add_total(set, set.pods.requests, reserved) ||
          !add_total(set, *set.pods.charge, charged)) {
        return;
      }
      // Each has a column of its own for every node. Pods and three limits come with them.
      if (std::max(reserved.size(), charged.size()) > kResourcesMax + 4) {
        problems_.add(item_field(set.item), "all items together name more than " +
                                                std::to_string(kResourcesMax) +
                                                " different resources");
        return;
      }
    }
  }

  bool add_total(const PodSetDemand& set, const sched::Resources& amounts,
                 std::map<std::string, sched::Amount>& totals) {
    for (const sched::Resource& each : amounts) {
      sched::Amount& total = totals[each.name];
      sched::Amount product = 0;
      if (__builtin_mul_overflow(each.amount, set.pods.count, &product) ||
          product > kGangAmountMax - total) {
        problems_.add(item_field(set.item), "all items together request too much " + each.name);
        return false;
      }
      total += product;
    }
    return true;
  }

  const model::AppWrapper& wrapper_;
  Problems& problems_;
  Demand demand_;
  model::StringMap object_labels_;      // of the item that is being read
  std::vector<Neighbours> neighbours_;  // by pod set
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> seen_;
};

}  // namespace

Demand read_demand(const model::AppWrapper& wrapper, Problems& problems) {
  return DemandReader(wrapper, problems).run();
}

}  // namespace codeflare::queue
