#include "queue/settings.h"

#include "json/parse.h"
#include "json/value.h"
#include "json/write.h"

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace codeflare::queue {

namespace {

constexpr std::string_view kPreemption = "preemption";
constexpr std::string_view kPrioritySlope = "prioritySlope";
constexpr std::string_view kHoldingSeconds = "holdingSeconds";
constexpr std::string_view kQuotaTrees = "quotaTrees";
constexpr std::string_view kGrowthCooldown = "growthCooldownSeconds";
constexpr std::string_view kElasticPolicy = "elasticPolicy";
constexpr std::string_view kMaxScaleout = "maxScaleout";
constexpr std::string_view kScaleBudget = "scaleBudget";
constexpr std::string_view kScaleNamespaceBudget = "scaleNamespaceBudget";
constexpr std::int64_t kSecondsMax = std::int64_t{1} << 31;

void read_flag(const json::Value& from, std::string_view key, bool& flag) {
  const json::Value* value = from.find(key);
  if (value != nullptr && value->is_boolean()) {
    flag = value->as_bool();
  }
}

void read_seconds(const json::Value& from, std::string_view key, Duration& duration) {
  const json::Value* seconds = from.find(key);
  if (seconds != nullptr && seconds->is_number()) {
    duration = std::chrono::seconds(
        std::clamp<std::int64_t>(seconds->to_int64().value_or(0), 0, kSecondsMax));
  }
}

void read_amount(const json::Value& from, std::string_view key, std::optional<double>& amount) {
  const json::Value* value = from.find(key);
  if (value != nullptr && value->is_number()) {
    amount = value->to_double();
  }
}

}  // namespace

sched::Options core_options(const Settings& settings) {
  sched::Options options;
  options.preemption = settings.preemption;
  options.priority_slope = settings.priority_slope;
  options.holding_time = settings.holding_time;
  options.growth_cooldown = settings.growth_cooldown;
  options.elastic_policy = settings.elastic_policy;
  options.resize_cost = kResizeCost;
  return options;
}

std::string to_text(const Settings& settings) {
  std::string text;
  json::Writer w(text);
  w.begin_object().key(kPreemption).boolean(settings.preemption);
  w.key(kPrioritySlope).boolean(settings.priority_slope);
  w.key(kHoldingSeconds).integer(settings.holding_time / std::chrono::seconds(1));
  w.key(kQuotaTrees).boolean(settings.quota_trees);
  w.key(kGrowthCooldown).integer(settings.growth_cooldown / std::chrono::seconds(1));
  for (const auto& [name, policy] : kElasticPolicies) {
    if (policy == settings.elastic_policy) {
      w.member(kElasticPolicy, name);
    }
  }
  if (settings.max_scaleout) {
    w.key(kMaxScaleout).integer(*settings.max_scaleout);
  }
  if (settings.scale_budget) {
    w.key(kScaleBudget).number(*settings.scale_budget);
  }
  if (settings.scale_namespace_budget) {
    w.key(kScaleNamespaceBudget).number(*settings.scale_namespace_budget);
  }
  w.end_object();
  return text;
}

Settings settings_from(std::string_view text) {
  Settings settings;
  const Result<json::Document> document = json::parse(text);
  if (!document || !document->root.is_object()) {
    return settings;
  }
  read_flag(document->root, kPreemption, settings.preemption);
  read_flag(document->root, kPrioritySlope, settings.priority_slope);
  read_flag(document->root, kQuotaTrees, settings.quota_trees);
  read_seconds(document->root, kHoldingSeconds, settings.holding_time);
  read_seconds(document->root, kGrowthCooldown, settings.growth_cooldown);
  for (const auto& [name, policy] : kElasticPolicies) {
    if (document->root.string_or_empty(kElasticPolicy) == name) {
      settings.elastic_policy = policy;
    }
  }
  const json::Value* machines = document->root.find(kMaxScaleout);
  if (machines != nullptr && machines->is_number()) {
    settings.max_scaleout = machines->to_int64();
  }
  read_amount(document->root, kScaleBudget, settings.scale_budget);
  read_amount(document->root, kScaleNamespaceBudget, settings.scale_namespace_budget);
  return settings;
}

}  // namespace codeflare::queue
