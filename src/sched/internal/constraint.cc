#include "sched/internal/constraint.h"

#include "sched/taints.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <tuple>

namespace codeflare::sched {

namespace {

const std::string* find(const Labels& labels, const std::string& key) {
  const auto place =
      std::lower_bound(labels.begin(), labels.end(), key,
                       [](const auto& label, const std::string& k) { return label.first < k; });
  return place != labels.end() && place->first == key ? &place->second : nullptr;
}

std::optional<std::int64_t> number(const std::string& text) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || rest != end) {
    return std::nullopt;
  }
  return value;
}

bool compare(const Requirement& requirement, const std::string* value) {
  if (value == nullptr || requirement.values.size() != 1) {
    return false;
  }
  const auto have = number(*value);
  const auto bound = number(requirement.values.front());
  if (!have || !bound) {
    return false;
  }
  return requirement.op == Operator::gt ? *have > *bound : *have < *bound;
}

bool holds(const Requirement& requirement, const NodeView& node) {
  if (std::binary_search(node.open.begin(), node.open.end(), requirement.key)) {
    return true;
  }
  const std::string* value = find(node.labels, requirement.key);
  const auto listed = [&] {
    return std::find(requirement.values.begin(), requirement.values.end(), *value) !=
           requirement.values.end();
  };
  switch (requirement.op) {
    case Operator::in:
      return value != nullptr && listed();
    case Operator::not_in:
      return value == nullptr || !listed();
    case Operator::exists:
      return value != nullptr;
    case Operator::does_not_exist:
      return value == nullptr;
    case Operator::gt:
    case Operator::lt:
      return compare(requirement, value);
  }
  return false;
}

bool holds(const Term& term, const NodeView& node) {
  return !term.requirements.empty() &&
         std::all_of(term.requirements.begin(), term.requirements.end(),
                     [&](const Requirement& requirement) { return holds(requirement, node); });
}

bool affine(const Constraint& constraint, const NodeView& node) {
  return constraint.affinity.empty() ||
         std::any_of(constraint.affinity.begin(), constraint.affinity.end(),
                     [&](const Term& term) { return holds(term, node); });
}

const std::pair<std::string, std::string>* unselected(const Constraint& constraint,
                                                      const NodeView& node) {
  for (const auto& label : constraint.selector) {
    if (std::binary_search(node.open.begin(), node.open.end(), label.first)) {
      continue;
    }
    const std::string* value = find(node.labels, label.first);
    if (value == nullptr || *value != label.second) {
      return &label;
    }
  }
  return nullptr;
}

// A key of the gang's domain that the node does not have.
const std::string* unlabelled(const Constraint& constraint, const NodeView& node) {
  for (const std::string& key : constraint.within) {
    if (!std::binary_search(node.open.begin(), node.open.end(), key) &&
        find(node.labels, key) == nullptr) {
      return &key;
    }
  }
  return nullptr;
}

}  // namespace

const Taint* untolerated(const Constraint& constraint, const std::vector<Taint>& taints) {
  const auto found = std::ranges::find_if(
      taints, [&](const Taint& taint) { return keeps_away(constraint, taint); });
  return found == taints.end() ? nullptr : &*found;
}

bool keeps_away(const Constraint& constraint, const Taint& taint) {
  return taint.effect != Effect::prefer_no_schedule && !tolerates(constraint.tolerations, taint);
}

Constraint canonical(const PodSet& pod_set, const Within& within) {
  Constraint constraint{pod_set.selector, pod_set.affinity, pod_set.tolerations, pod_set.apart != 0,
                        within.keys};
  std::sort(constraint.selector.begin(), constraint.selector.end());
  std::sort(constraint.tolerations.begin(), constraint.tolerations.end(),
            [](const Toleration& a, const Toleration& b) {
              return std::tie(a.key, a.exists, a.value, a.effect) <
                     std::tie(b.key, b.exists, b.value, b.effect);
            });
  return constraint;
}

std::vector<std::string> keys_of(const Constraint& constraint) {
  std::vector<std::string> keys = constraint.within;
  for (const auto& label : constraint.selector) {
    keys.push_back(label.first);
  }
  for (const Term& term : constraint.affinity) {
    for (const Requirement& requirement : term.requirements) {
      keys.push_back(requirement.key);
    }
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

bool matches(const Constraint& constraint, const NodeView& node) {
  return untolerated(constraint, node.taints) == nullptr &&
         unselected(constraint, node) == nullptr && affine(constraint, node) &&
         unlabelled(constraint, node) == nullptr;
}

std::string exclusion(const Constraint& constraint, const NodeView& node) {
  if (const Taint* taint = untolerated(constraint, node.taints)) {
    return "taint " + taint_text(*taint);
  }
  if (const auto* label = unselected(constraint, node)) {
    return "selector " + label->first + "=" + label->second;
  }
  if (!affine(constraint, node)) {
    return "affinity";
  }
  const std::string* key = unlabelled(constraint, node);
  return key == nullptr ? "" : "missing label " + *key;
}

}  // namespace codeflare::sched
