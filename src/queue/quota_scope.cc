#include "queue/quota_scope.h"

#include "model/pod_requests.h"
#include "model/quantity.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

namespace codeflare::queue {

namespace {

using Kind = QuotaScope::Kind;
using Operator = QuotaScope::Operator;

template <typename T>
struct Named {
  std::string_view name;
  T value;
};

constexpr Named<Kind> kKinds[] = {{"Terminating", Kind::terminating},
                                  {"NotTerminating", Kind::not_terminating},
                                  {"BestEffort", Kind::best_effort},
                                  {"NotBestEffort", Kind::not_best_effort},
                                  {"PriorityClass", Kind::priority_class}};
constexpr Named<Operator> kOperators[] = {{"Exists", Operator::exists},
                                          {"DoesNotExist", Operator::does_not_exist},
                                          {"In", Operator::in},
                                          {"NotIn", Operator::not_in}};

template <typename T, std::size_t N>
std::optional<T> find(const Named<T> (&all)[N], std::string_view name) {
  const auto at = std::ranges::find(all, name, &Named<T>::name);
  return at == std::end(all) ? std::nullopt : std::optional(at->value);
}

bool asks_for(const model::ResourceList& amounts) {
  return amounts.get("cpu").sign() > 0 || amounts.get("memory").sign() > 0;
}

std::span<const json::Value> items_of(const json::Value* list) {
  return list == nullptr ? std::span<const json::Value>() : list->items();
}

std::optional<QuotaScope> scope_of(const json::Value& expression) {
  const auto kind = find(kKinds, expression.string_or_empty("scopeName"));
  const auto op = find(kOperators, expression.string_or_empty("operator"));
  if (!kind || !op) {
    return std::nullopt;
  }
  QuotaScope scope{.kind = *kind, .op = *op};
  for (const json::Value& value : items_of(expression.find("values"))) {
    if (value.is_string()) {
      scope.values.emplace_back(value.as_string());
    }
  }
  return scope;
}

}  // namespace

PodTraits traits_of(const model::PodSpec& spec) {
  return {.terminating = spec.active_deadline_seconds.has_value(),
          .best_effort = !asks_for(model::pod_requests(spec)) && !asks_for(model::pod_limits(spec)),
          .priority_class = spec.priority_class_name};
}

bool QuotaScope::matches(const PodTraits& pod) const {
  switch (kind) {
    case Kind::terminating:
      return pod.terminating;
    case Kind::not_terminating:
      return !pod.terminating;
    case Kind::best_effort:
      return pod.best_effort;
    case Kind::not_best_effort:
      return !pod.best_effort;
    case Kind::priority_class:
      break;
  }
  const bool listed = std::ranges::find(values, pod.priority_class) != values.end();
  switch (op) {
    case Operator::exists:
      return !pod.priority_class.empty();
    case Operator::does_not_exist:
      return pod.priority_class.empty();
    case Operator::in:
      return listed;
    case Operator::not_in:
      return !listed;
  }
  return false;
}

bool QuotaRule::concerns(const PodTraits& pod) const {
  return std::ranges::all_of(scopes, [&](const QuotaScope& scope) { return scope.matches(pod); });
}

std::optional<QuotaRule> quota_rule(const json::Value& resource_quota) {
  const json::Value* spec = resource_quota.find("spec");
  const json::Value* hard = spec == nullptr ? nullptr : spec->find("hard");
  if (hard == nullptr) {
    return std::nullopt;
  }
  QuotaRule rule;
  for (const json::Value& name : items_of(spec->find("scopes"))) {
    const auto kind = name.is_string() ? find(kKinds, name.as_string()) : std::nullopt;
    if (!kind) {
      return std::nullopt;
    }
    rule.scopes.push_back({.kind = *kind});
  }
  for (const json::Value& each : items_of(spec->get({"scopeSelector", "matchExpressions"}))) {
    std::optional<QuotaScope> scope = scope_of(each);
    if (!scope) {
      return std::nullopt;
    }
    rule.scopes.push_back(*std::move(scope));
  }
  for (const json::Member& member : hard->members()) {
    const std::string_view text = member.value.is_string()   ? member.value.as_string()
                                  : member.value.is_number() ? member.value.number()
                                                             : std::string_view();
    if (const Result<model::Quantity> amount = model::Quantity::parse(text)) {
      rule.hard.set(member.key, *amount);
    }
  }
  return rule;
}

}  // namespace codeflare::queue
