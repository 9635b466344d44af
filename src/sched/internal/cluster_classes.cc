#include "base/check.h"
#include "sched/internal/cluster.h"
#include "sched/taints.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace codeflare::sched {

namespace {

const std::vector<std::string> kNoKeys;

std::string signature_of(const Labels& labels, const std::vector<Taint>& taints) {
  Signature signature;
  signature.add(labels.size());
  for (const auto& [key, value] : labels) {
    signature.add(key).add(value);
  }
  for (const Taint& taint : taints) {
    signature.add(taint.key).add(taint.value).add(static_cast<std::uint64_t>(taint.effect));
  }
  return signature.text();
}

std::string signature_of(const Request& request, const Constraint& constraint) {
  Signature signature;
  signature.add(request.size());
  for (const Part& part : request) {
    signature.add(part.resource).add(static_cast<std::uint64_t>(part.amount));
  }
  signature.add(constraint.selector.size());
  for (const auto& [key, value] : constraint.selector) {
    signature.add(key).add(value);
  }
  signature.add(constraint.affinity.size());
  for (const Term& term : constraint.affinity) {
    signature.add(term.requirements.size());
    for (const Requirement& requirement : term.requirements) {
      signature.add(requirement.key).add(static_cast<std::uint64_t>(requirement.op));
      signature.add(requirement.values.size());
      for (const std::string& value : requirement.values) {
        signature.add(value);
      }
    }
  }
  for (const Toleration& toleration : constraint.tolerations) {
    signature.add(toleration.key).add(toleration.exists ? 1 : 0).add(toleration.value);
    signature.add(toleration.effect ? 1 + static_cast<std::uint64_t>(*toleration.effect) : 0);
  }
  signature.add(constraint.apart ? 1 : 0);
  for (const std::string& key : constraint.within) {
    signature.add(key);
  }
  return signature.text();
}

}  // namespace

std::pair<Cluster::NodeLabels, std::vector<Taint>> Cluster::describe(const NodeSpec& spec) {
  NodeLabels labels;
  labels.reserve(spec.labels.size());
  for (const auto& [key, value] : spec.labels) {
    labels.emplace_back(names_.intern(key), names_.intern(value));
  }
  std::sort(labels.begin(), labels.end());
  std::vector<Taint> taints;
  for (const Taint& taint : spec.taints) {
    if (taint.effect != Effect::prefer_no_schedule) {
      taints.push_back(taint);
    }
  }
  if (spec.unschedulable) {
    taints.push_back(cordon());
  }
  std::sort(taints.begin(), taints.end(), [](const Taint& a, const Taint& b) {
    return std::tie(a.key, a.value, a.effect) < std::tie(b.key, b.value, b.effect);
  });
  taints.erase(std::unique(taints.begin(), taints.end()), taints.end());
  return {std::move(labels), std::move(taints)};
}

void Cluster::count_keys(Index node, int sign) {
  if (keys_.empty()) {
    return;
  }
  for (const auto& [key, value] : nodes_[node].labels) {
    const auto use = keys_.find(names_.text(key));
    if (use == keys_.end()) {
      continue;
    }
    Index& count = use->second.values[value];
    count = sign > 0 ? count + 1 : count - 1;
    if (count == 0) {
      use->second.values.erase(value);
    }
  }
}

Labels Cluster::labels_for(Index node, const std::vector<std::string>& keys) const {
  Labels labels;
  for (const auto& [key, value] : nodes_[node].labels) {
    const std::string& text = names_.text(key);
    if (std::binary_search(keys.begin(), keys.end(), text)) {
      labels.emplace_back(text, names_.text(value));
    }
  }
  std::sort(labels.begin(), labels.end());
  return labels;
}

Labels Cluster::class_labels(Index node) const {
  Labels labels;
  if (keys_.empty()) {
    return labels;
  }
  for (const auto& [key, value] : nodes_[node].labels) {
    const auto use = keys_.find(names_.text(key));
    if (use == keys_.end() || use->second.wide) {
      continue;
    }
    labels.emplace_back(use->first, names_.text(value));
  }
  std::sort(labels.begin(), labels.end());
  return labels;
}

Index Cluster::class_for(Index node) {
  Labels labels = class_labels(node);
  std::string signature = signature_of(labels, nodes_[node].taints);
  const auto known = class_by_signature_.find(signature);
  if (known != class_by_signature_.end()) {
    return known->second;
  }
  Index index = 0;
  if (free_classes_.empty()) {
    index = static_cast<Index>(classes_.size());
    classes_.emplace_back();
  } else {
    index = free_classes_.back();
    free_classes_.pop_back();
  }
  const std::size_t width = order_.free.width();
  NodeClass& added = classes_[index];
  added = NodeClass{.labels = std::move(labels),
                    .taints = nodes_[node].taints,
                    .signature = signature,
                    .index = ClassIndex(width),
                    .free_sum = std::vector<Amount>(width),
                    .capacity_sum = std::vector<Amount>(width)};
  class_by_signature_.emplace(std::move(signature), index);
  for (Index kind = 0; kind < kinds_.size(); ++kind) {
    if (kinds_[kind].refs > 0) {
      match(kind, index);
    }
  }
  return index;
}

void Cluster::match(Index kind, Index node_class) {
  Kind& candidate = kinds_[kind];
  NodeClass& home = classes_[node_class];
  if (!matches(candidate.constraint, {home.labels, home.taints, wide_keys_})) {
    return;
  }
  candidate.classes.push_back(node_class);
  enter_domain(candidate, node_class);
  KindNeed& need = home.kinds.emplace_back(KindNeed{.kind = kind});
  // Zero for an absent request would exclude overdrawn nodes: any amount will do there.
  need.need.fill(std::numeric_limits<Amount>::min());
  for (const Part& part : candidate.request) {
    if (part.resource < KindNeed::kColumns) {
      need.need[part.resource] = part.amount;
    }
  }
}

void Cluster::enter_domain(Kind& kind, Index node_class) {
  if (kind.constraint.within.empty() || kind.open_domains) {
    return;
  }
  DomainValues values;
  for (const std::string& key : kind.constraint.within) {
    const auto& labels = classes_[node_class].labels;
    const auto label = std::find_if(labels.begin(), labels.end(),
                                    [&](const auto& each) { return each.first == key; });
    // A key that has become wide: rematch() follows.
    if (label == labels.end()) {
      return;
    }
    values.push_back(names_.intern(label->second));
  }
  const auto at = std::lower_bound(
      kind.domains.begin(), kind.domains.end(), values,
      [](const KindDomain& domain, const DomainValues& wanted) { return domain.values < wanted; });
  if (at != kind.domains.end() && at->values == values) {
    at->classes.push_back(node_class);
  } else {
    kind.domains.insert(at, {std::move(values), {node_class}});
  }
}

const KindDomain* Cluster::find_domain(const Kind& kind, const DomainValues& values) {
  const auto at = std::lower_bound(
      kind.domains.begin(), kind.domains.end(), values,
      [](const KindDomain& domain, const DomainValues& wanted) { return domain.values < wanted; });
  return at != kind.domains.end() && at->values == values ? &*at : nullptr;
}

DomainValues Cluster::domain_of(const Kind& kind, Index node) const {
  DomainValues values;
  for (const std::string& key : kind.constraint.within) {
    for (const auto& [name, value] : nodes_[node].labels) {
      if (names_.text(name) == key) {
        values.push_back(value);
        break;
      }
    }
  }
  return values;
}

void Cluster::join_class(Index node) {
  const Index index = class_for(node);
  nodes_[node].node_class = index;
  ++classes_[index].nodes;
  add_sums(node, +1);
  classes_[index].index.insert(order_, node);
}

void Cluster::leave_class(Index node) {
  const Index index = nodes_[node].node_class;
  add_sums(node, -1);
  classes_[index].index.erase(order_, node);
  nodes_[node].node_class = kNone;
  if (--classes_[index].nodes == 0) {
    drop_class(index);
  }
}

void Cluster::drop_class(Index index) {
  for (const KindNeed& need : classes_[index].kinds) {
    auto& classes = kinds_[need.kind].classes;
    classes.erase(std::find(classes.begin(), classes.end(), index));
    auto& domains = kinds_[need.kind].domains;
    for (KindDomain& domain : domains) {
      std::erase(domain.classes, index);
    }
    std::erase_if(domains, [](const KindDomain& domain) { return domain.classes.empty(); });
  }
  class_by_signature_.erase(classes_[index].signature);
  classes_[index] = NodeClass{};
  free_classes_.push_back(index);
}

void Cluster::reclass_all() {
  for (Index node = 0; node < nodes_.size(); ++node) {
    if (!nodes_[node].alive) {
      continue;
    }
    leave_class(node);
    join_class(node);
  }
}

bool Cluster::mention(const std::vector<std::string>& keys) {
  bool seen_on_nodes = false;
  for (const std::string& key : keys) {
    const auto [use, added] = keys_.try_emplace(key);
    if (!added) {
      continue;
    }
    const Index number = names_.intern(key);
    for (const Node& node : nodes_) {
      for (const auto& [label, value] : node.labels) {
        if (label == number) {
          ++use->second.values[value];
        }
      }
    }
    seen_on_nodes = seen_on_nodes || !use->second.values.empty();
  }
  return seen_on_nodes;
}

// Keys that have come to tell too many nodes apart leave the classes for good.
bool Cluster::widen_keys() {
  bool changed = false;
  for (auto& [key, use] : keys_) {
    if (use.wide || use.values.size() <= kClassValuesMax) {
      continue;
    }
    use.wide = changed = true;
    wide_keys_.push_back(key);
  }
  if (!changed) {
    return false;
  }
  std::sort(wide_keys_.begin(), wide_keys_.end());
  for (Index kind = 0; kind < kinds_.size(); ++kind) {
    if (kinds_[kind].refs > 0) {
      rematch(kind);
    }
  }
  return true;
}

void Cluster::rematch(Index kind) {
  Kind& changed = kinds_[kind];
  for (const Index index : changed.classes) {
    std::erase_if(classes_[index].kinds, [&](const KindNeed& need) { return need.kind == kind; });
  }
  changed.classes.clear();
  changed.domains.clear();
  changed.per_node = std::any_of(changed.keys.begin(), changed.keys.end(), [&](const auto& key) {
    return std::binary_search(wide_keys_.begin(), wide_keys_.end(), key);
  });
  const auto& within = changed.constraint.within;
  changed.open_domains = std::any_of(within.begin(), within.end(), [&](const auto& key) {
    return std::binary_search(wide_keys_.begin(), wide_keys_.end(), key);
  });
  for (Index index = 0; index < classes_.size(); ++index) {
    if (classes_[index].nodes > 0) {
      match(kind, index);
    }
  }
}

Index Cluster::acquire_kind(const Request& request, const Constraint& constraint) {
  std::string signature = signature_of(request, constraint);
  const auto known = kind_by_signature_.find(signature);
  if (known != kind_by_signature_.end()) {
    ++kinds_[known->second].refs;
    return known->second;
  }
  Index index = 0;
  if (free_kinds_.empty()) {
    index = static_cast<Index>(kinds_.size());
    kinds_.emplace_back();
  } else {
    index = free_kinds_.back();
    free_kinds_.pop_back();
  }
  kinds_[index] = Kind{.request = request,
                       .constraint = constraint,
                       .keys = keys_of(constraint),
                       .signature = signature,
                       .refs = 1};
  kind_by_signature_.emplace(std::move(signature), index);
  const bool tells_apart = mention(kinds_[index].keys);
  if (widen_keys() || tells_apart) {
    reclass_all();
  }
  rematch(index);
  return index;
}

void Cluster::release_kind(Index kind) {
  if (--kinds_[kind].refs > 0) {
    return;
  }
  for (const Index index : kinds_[kind].classes) {
    std::erase_if(classes_[index].kinds, [&](const KindNeed& need) { return need.kind == kind; });
  }
  kind_by_signature_.erase(kinds_[kind].signature);
  kinds_[kind] = Kind{};
  free_kinds_.push_back(kind);
}

bool Cluster::allows(const Kind& kind, Index node) const {
  if (!kind.per_node) {
    return true;
  }
  return matches(kind.constraint, {labels_for(node, kind.keys), nodes_[node].taints, kNoKeys});
}

std::string Cluster::exclusion(const Kind& kind, Index node) const {
  return sched::exclusion(kind.constraint,
                          {labels_for(node, kind.keys), nodes_[node].taints, kNoKeys});
}

std::size_t Cluster::memory_bytes() const {
  std::size_t bytes = order_.free.memory_bytes() + allocatable_.memory_bytes() +
                      foreign_.memory_bytes() + seen_.memory_bytes() + order_.rank.capacity() * 8 +
                      order_.block.capacity() * 4;
  for (const Node& node : nodes_) {
    bytes +=
        sizeof(Node) + node.labels.capacity() * 8 + node.residents.capacity() * sizeof(Resident);
  }
  for (const NodeClass& each : classes_) {
    bytes += sizeof(NodeClass) + each.index.memory_bytes();
  }
  for (const Kind& each : kinds_) {
    bytes += sizeof(Kind) + each.signature.capacity() * 2;
  }
  return bytes;
}

Result<void> Cluster::check_invariants() const {
  for (Index index = 0; index < classes_.size(); ++index) {
    const NodeClass& each = classes_[index];
    if (!each.index.consistent(order_)) {
      return fail(internal_error("class index " + std::to_string(index) + " is inconsistent"));
    }
    std::vector<Amount> free(order_.free.width());
    Index count = 0;
    for (Index node = 0; node < nodes_.size(); ++node) {
      if (!nodes_[node].alive || nodes_[node].node_class != index) {
        continue;
      }
      ++count;
      for (Index r = 0; r < order_.resources; ++r) {
        free[r] += std::max<Amount>(order_.free.row(node)[r], 0);
      }
    }
    if (count != each.nodes) {
      return fail(internal_error("a class miscounts its nodes"));
    }
    if (count > 0 && free != each.free_sum) {
      return fail(internal_error("a class missums free"));
    }
  }
  return {};
}

}  // namespace codeflare::sched
