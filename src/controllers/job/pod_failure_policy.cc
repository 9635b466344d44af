#include "controllers/job/pod_failure_policy.h"

#include "json/parse.h"

#include <algorithm>

namespace codeflare::controllers::job {

namespace {

using Action = PodFailurePolicy::Action;

Action action_of(std::string_view word) {
  return word == "FailJob" ? Action::fail_job : word == "Ignore" ? Action::ignore : Action::count;
}

}  // namespace

PodFailurePolicy PodFailurePolicy::read(const model::RawJson& policy) {
  PodFailurePolicy result;
  const Result<json::Document> document = json::parse(policy.text);
  const json::Value* rules = document ? document->root.find("rules") : nullptr;
  if (rules == nullptr || !rules->is_array()) {
    return result;
  }
  for (const json::Value& each : rules->items()) {
    Rule rule{.action = action_of(each.string_or_empty("action"))};
    const json::Value* exits = each.find("onExitCodes");
    if (exits != nullptr && exits->is_object()) {
      rule.on_exit_codes = true;
      rule.container = exits->string_or_empty("containerName");
      rule.not_in = exits->string_or_empty("operator") == "NotIn";
      if (const json::Value* values = exits->find("values"); values != nullptr) {
        for (const json::Value& value : values->items()) {
          rule.codes.push_back(value.to_int64().value_or(0));
        }
      }
    }
    if (const json::Value* conditions = each.find("onPodConditions"); conditions != nullptr) {
      for (const json::Value& condition : conditions->items()) {
        const std::string_view status = condition.string_or_empty("status");
        rule.conditions.push_back({.type = std::string(condition.string_or_empty("type")),
                                   .status = std::string(status.empty() ? "True" : status)});
      }
    }
    result.rules_.push_back(std::move(rule));
  }
  return result;
}

const PodExit* PodFailurePolicy::Rule::exit_of(const PodDigest& pod) const {
  const auto found = std::ranges::find_if(pod.exits, [this](const PodExit& exit) {
    return (container.empty() || exit.container == container) && exit.code != 0 &&
           (std::ranges::find(codes, exit.code) != codes.end()) != not_in;
  });
  return found == pod.exits.end() ? nullptr : &*found;
}

const PodCondition* PodFailurePolicy::Rule::condition_of(const PodDigest& pod) const {
  const auto found = std::ranges::find_if(conditions, [&](const PodCondition& wanted) {
    return std::ranges::find(pod.conditions, wanted) != pod.conditions.end();
  });
  return found == conditions.end() ? nullptr : &*found;
}

PodFailurePolicy::Verdict PodFailurePolicy::verdict_on(const PodDigest& pod,
                                                       std::string_view ns) const {
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    const Rule& rule = rules_[i];
    const std::string name = std::string(ns) + "/" + pod.name;
    const std::string which = " matching FailJob rule at index " + std::to_string(i);
    if (rule.on_exit_codes) {
      if (const PodExit* exit = rule.exit_of(pod)) {
        return {.action = rule.action,
                .message = "Container " + exit->container + " for pod " + name +
                           " failed with exit code " + std::to_string(exit->code) + which};
      }
    } else if (const PodCondition* condition = rule.condition_of(pod)) {
      return {.action = rule.action,
              .message = "Pod " + name + " has condition " + condition->type + which};
    }
  }
  return {};
}

}  // namespace codeflare::controllers::job
