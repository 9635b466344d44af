#include "controllers/appwrapper/pod_ledger.h"

#include "json/write.h"
#include "model/codec/meta.h"
#include "model/condition.h"
#include "model/pod_requests.h"
#include "queue/marks.h"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <utility>

namespace codeflare::controllers {

using model::ObjectKey;
using model::Pod;

namespace {

constexpr std::size_t kRefusalsShown = 10;
constexpr std::string_view kGpu = "nvidia.com/gpu";

// What co-schedulers say while they gather a gang; no reason to withdraw it.
bool is_gathering(std::string_view message) {
  const auto has_all = [&](std::initializer_list<std::string_view> words) {
    return std::ranges::all_of(words, [&](std::string_view w) { return message.contains(w); });
  };
  return has_all({"pgName", "last", "failed", "deny"}) ||
         has_all({"optimistic", "rejection", "PostFilter"}) ||
         has_all({"cannot", "find", "enough", "sibling"});
}

// Absurd requests end at the largest number.
void add(std::int64_t& sum, std::int64_t amount) {
  if (__builtin_add_overflow(sum, amount, &sum)) {
    sum = std::numeric_limits<std::int64_t>::max();
  }
}

bool is_refused(const Pod& pod) {
  const model::Condition* scheduled = model::find_condition(pod.status.conditions, "PodScheduled");
  return pod.status.phase == "Pending" && scheduled != nullptr && scheduled->status == "False" &&
         scheduled->reason == "Unschedulable" && !is_gathering(scheduled->message);
}

std::string conditions_json(const Pod& pod) {
  json::Arena arena;
  json::Value list = json::Value::array();
  for (const model::Condition& condition : pod.status.conditions) {
    list.push_back(arena, model::to_json(arena, condition));
  }
  return json::to_text(list);
}

}  // namespace

PodOwner owner_of(const Pod& pod) {
  const model::StringMap& labels = pod.metadata.labels;
  if (const std::string_view uid = model::find_or_empty(labels, queue::kUidLabel); !uid.empty()) {
    return {.uid = std::string(uid)};
  }
  const std::string_view name = model::find_or_empty(labels, queue::kMcadLabel);
  return name.empty() ? PodOwner() : PodOwner{.key = {pod.metadata.ns, std::string(name)}};
}

PodLedger::Fact PodLedger::fact_of(const Pod& pod) {
  Fact fact;
  fact.uid = pod.metadata.uid;
  const std::string& phase = pod.status.phase;
  fact.phase = phase == "Running"     ? Phase::running
               : phase == "Succeeded" ? Phase::succeeded
               : phase == "Failed"    ? Phase::failed
                                      : Phase::pending;
  const model::ResourceList requests = model::pod_requests(pod.spec);
  fact.cpu = requests.get("cpu").milli_value();
  fact.memory = requests.get("memory").value();
  fact.gpu = requests.get(kGpu).value();
  if (is_refused(pod)) {
    fact.refusal = conditions_json(pod);
  }
  return fact;
}

std::vector<PodOwner> PodLedger::upsert(const Pod& pod) {
  const ObjectKey key = pod.metadata.key();
  const PodOwner owner = owner_of(pod);
  std::vector<PodOwner> concerned;
  if (auto known = owners_.find(key); known != owners_.end() && known->second != owner) {
    concerned.push_back(remove(key));
  }
  if (!owner.empty()) {
    facts_[owner][key] = fact_of(pod);
    owners_[key] = owner;
    concerned.push_back(owner);
  }
  return concerned;
}

PodOwner PodLedger::remove(const ObjectKey& key) {
  auto known = owners_.find(key);
  if (known == owners_.end()) {
    return {};
  }
  PodOwner owner = std::move(known->second);
  owners_.erase(known);
  auto facts = facts_.find(owner);
  facts->second.erase(key);
  if (facts->second.empty()) {
    facts_.erase(facts);
  }
  return owner;
}

template <typename F>
void PodLedger::for_each(const std::string& uid, const ObjectKey& key, F visit) const {
  for (const PodOwner& owner : {PodOwner{.uid = uid}, PodOwner{.key = key}}) {
    if (auto facts = facts_.find(owner); facts != facts_.end()) {
      for (const auto& [pod, fact] : facts->second) {
        visit(pod, fact);
      }
    }
  }
}

PodsSeen PodLedger::seen(const std::string& uid, const ObjectKey& key) const {
  PodsSeen seen;
  for_each(uid, key, [&](const ObjectKey& pod, const Fact& fact) {
    switch (fact.phase) {
      case Phase::pending:
        seen.pending += 1;
        break;
      case Phase::running:
        seen.running += 1;
        break;
      case Phase::succeeded:
        seen.succeeded += 1;
        break;
      case Phase::failed:
        seen.failed += 1;
        break;
    }
    if (fact.phase == Phase::running || fact.phase == Phase::succeeded) {
      add(seen.cpu, fact.cpu);
      add(seen.memory, fact.memory);
      add(seen.gpu, fact.gpu);
    }
    if (!fact.refusal.empty()) {
      seen.unschedulable += 1;
      if (seen.unschedulable_pods.size() < kRefusalsShown) {
        seen.unschedulable_pods.push_back({.pod_name = pod.name, .conditions = {fact.refusal}});
      }
    }
  });
  return seen;
}

bool PodLedger::any(const std::string& uid, const ObjectKey& key) const {
  return facts_.contains(PodOwner{.uid = uid}) || facts_.contains(PodOwner{.key = key});
}

std::vector<PodLedger::PodRef> PodLedger::pods(const std::string& uid, const ObjectKey& key) const {
  std::vector<PodRef> refs;
  for_each(uid, key,
           [&](const ObjectKey& pod, const Fact& fact) { refs.push_back({pod, fact.uid}); });
  return refs;
}

}  // namespace codeflare::controllers
