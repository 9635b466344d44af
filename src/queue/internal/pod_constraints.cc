#include "queue/internal/pod_constraints.h"

#include "queue/marks.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace codeflare::queue {
namespace {

std::optional<sched::Operator> to_operator(std::string_view word) {
  constexpr std::array<std::pair<std::string_view, sched::Operator>, 6> kWords = {{
      {"In", sched::Operator::in},
      {"NotIn", sched::Operator::not_in},
      {"Exists", sched::Operator::exists},
      {"DoesNotExist", sched::Operator::does_not_exist},
      {"Gt", sched::Operator::gt},
      {"Lt", sched::Operator::lt},
  }};
  const auto at =
      std::ranges::find(kWords, word, &std::pair<std::string_view, sched::Operator>::first);
  return at == kWords.end() ? std::nullopt : std::optional(at->second);
}

std::optional<sched::Effect> to_effect(std::string_view word) {
  if (word == "NoSchedule") {
    return sched::Effect::no_schedule;
  }
  if (word == "PreferNoSchedule") {
    return sched::Effect::prefer_no_schedule;
  }
  if (word == "NoExecute") {
    return sched::Effect::no_execute;
  }
  return std::nullopt;
}

Result<sched::Requirement> to_requirement(const model::SelectorExpression& expression,
                                          const std::string& path) {
  const std::optional<sched::Operator> op = to_operator(expression.op);
  if (!op) {
    return fail(invalid_argument(path + ".operator: must be one of In, NotIn, Exists, "
                                        "DoesNotExist, Gt, Lt"));
  }
  return sched::Requirement{expression.key, *op, expression.values};
}

Result<void> append(const std::vector<model::SelectorExpression>& expressions,
                    const std::string& path, bool fields, sched::Term& term) {
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    const std::string at = path + "[" + std::to_string(i) + "]";
    TRY_ASSIGN(sched::Requirement requirement, to_requirement(expressions[i], at));
    if (fields) {
      if (requirement.key != "metadata.name") {
        return fail(invalid_argument(at + ".key: nodes are selected by metadata.name only"));
      }
      requirement.key = kNodeNameKey;
    }
    term.requirements.push_back(std::move(requirement));
  }
  return {};
}

Result<std::vector<sched::Term>> affinity_of(const model::PodSpec& spec) {
  std::vector<sched::Term> terms;
  if (!spec.affinity || !spec.affinity->node_affinity || !spec.affinity->node_affinity->required) {
    return terms;
  }
  const auto& from = spec.affinity->node_affinity->required->node_selector_terms;
  const std::string path =
      "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";
  if (from.empty()) {
    return fail(invalid_argument(path + ": required"));
  }
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::string at = path + "[" + std::to_string(i) + "]";
    sched::Term& term = terms.emplace_back();
    TRY(append(from[i].match_expressions, at + ".matchExpressions", false, term));
    TRY(append(from[i].match_fields, at + ".matchFields", true, term));
  }
  return terms;
}

Result<sched::Toleration> to_toleration(const model::Toleration& from, const std::string& path) {
  sched::Toleration toleration{.key = from.key,
                               .exists = from.op == "Exists",
                               .value = from.value,
                               .effect = to_effect(from.effect)};
  if (!toleration.exists && !from.op.empty() && from.op != "Equal") {
    return fail(invalid_argument(path + ".operator: must be Equal or Exists"));
  }
  if (!toleration.effect && !from.effect.empty()) {
    return fail(invalid_argument(path + ".effect: must be one of NoSchedule, PreferNoSchedule, "
                                        "NoExecute"));
  }
  return toleration;
}

}  // namespace

Result<void> add_constraints(const model::PodSpec& spec, sched::PodSet& pods) {
  for (const auto& [key, value] : spec.node_selector) {
    pods.selector.emplace_back(key, value);
  }
  if (!spec.node_name.empty()) {
    pods.selector.emplace_back(kNodeNameKey, spec.node_name);
  }
  TRY_ASSIGN(pods.affinity, affinity_of(spec));
  for (std::size_t i = 0; i < spec.tolerations.size(); ++i) {
    TRY_ASSIGN(sched::Toleration toleration,
               to_toleration(spec.tolerations[i], "tolerations[" + std::to_string(i) + "]"));
    pods.tolerations.push_back(std::move(toleration));
  }
  return {};
}

}  // namespace codeflare::queue
