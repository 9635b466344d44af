#include "usage/ledger.h"

#include "json/parse.h"
#include "json/write.h"

#include <utility>

namespace codeflare::usage {

namespace {

void add(Ledger& ledger, const ObservedPod& pod) {
  for (const auto& [resource, units] : pod.units) {
    const std::int64_t seconds = pod.interval ? pod.interval->seconds() : 0;
    if (units * seconds > 0) {
      ledger.unit_seconds[{.queue = pod.queue, .resource = resource}] += units * seconds;
    }
  }
  ledger.counted.insert(pod.uid);
}

}  // namespace

Step count(const Ledger& ledger, const std::vector<ObservedPod>& pods) {
  Step step{.ledger = ledger, .release = {}};
  std::set<std::string> held;
  for (const ObservedPod& pod : pods) {
    if (!pod.has_finalizer) {
      continue;
    }
    held.insert(pod.uid);
    if (!pod.is_over) {
      continue;
    }
    if (!step.ledger.counted.contains(pod.uid)) {
      add(step.ledger, pod);
    }
    step.release.push_back(pod.uid);
  }
  // The cache is past the removal of these finalizers: such a pod cannot come back to be counted.
  std::erase_if(step.ledger.counted, [&](const std::string& uid) { return !held.contains(uid); });
  return step;
}

std::string ledger_text(const Ledger& ledger) {
  std::string text;
  json::Writer writer(text);
  writer.begin_object().key("totals").begin_array();
  for (const auto& [account, unit_seconds] : ledger.unit_seconds) {
    writer.begin_object().member("queue", account.queue).member("resource", account.resource);
    writer.key("unitSeconds").integer(unit_seconds).end_object();
  }
  writer.end_array().key("countedPods").begin_array();
  for (const std::string& uid : ledger.counted) {
    writer.string(uid);
  }
  writer.end_array().end_object();
  return text;
}

Result<Ledger> parse_ledger(std::string_view text) {
  TRY_ASSIGN(const json::Document document, json::parse(text));
  Ledger ledger;
  if (const json::Value* totals = document.root.find("totals")) {
    for (const json::Value& item : totals->items()) {
      const json::Value* amount = item.find("unitSeconds");
      const auto number = amount == nullptr ? std::nullopt : amount->to_int64();
      if (!number || *number < 0) {
        return fail(data_loss("totals[].unitSeconds must be a whole number of at least 0"));
      }
      ledger.unit_seconds[{.queue = std::string(item.string_or_empty("queue")),
                           .resource = std::string(item.string_or_empty("resource"))}] += *number;
    }
  }
  if (const json::Value* counted = document.root.find("countedPods")) {
    for (const json::Value& item : counted->items()) {
      if (!item.is_string()) {
        return fail(data_loss("countedPods must be a list of texts"));
      }
      ledger.counted.emplace(item.as_string());
    }
  }
  return ledger;
}

}  // namespace codeflare::usage
