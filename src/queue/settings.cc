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
constexpr std::int64_t kSecondsMax = std::int64_t{1} << 31;

void read_flag(const json::Value& from, std::string_view key, bool& flag) {
  const json::Value* value = from.find(key);
  if (value != nullptr && value->is_boolean()) {
    flag = value->as_bool();
  }
}

}  // namespace

sched::Options core_options(const Settings& settings) {
  sched::Options options;
  options.preemption = settings.preemption;
  options.priority_slope = settings.priority_slope;
  options.holding_time = settings.holding_time;
  return options;
}

std::string to_text(const Settings& settings) {
  std::string text;
  json::Writer w(text);
  w.begin_object().key(kPreemption).boolean(settings.preemption);
  w.key(kPrioritySlope).boolean(settings.priority_slope);
  w.key(kHoldingSeconds).integer(settings.holding_time / std::chrono::seconds(1));
  w.key(kQuotaTrees).boolean(settings.quota_trees).end_object();
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
  const json::Value* seconds = document->root.find(kHoldingSeconds);
  if (seconds != nullptr && seconds->is_number()) {
    settings.holding_time = std::chrono::seconds(
        std::clamp<std::int64_t>(seconds->to_int64().value_or(0), 0, kSecondsMax));
  }
  return settings;
}

}  // namespace codeflare::queue
