#include "tests/sim/sim_dispatch_judge.h"

#include "json/parse.h"
#include "model/codec/app_wrapper.h"
#include "model/codec/quota_subtree.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace codeflare::sim {

using apiserver::Event;
using apiserver::Write;

namespace {

constexpr std::string_view kHub = "hub";
constexpr std::int64_t kMillicoresOfPod = 1000;

bool is_removal(const Event& event) {
  return event.op == Write::Op::remove;
}

json::Document parsed(const Event& event) {
  Result<json::Document> document = json::parse(event.object->json());
  return document ? *std::move(document) : json::Document();
}

bool is_complete(const json::Value& job) {
  const json::Value* conditions = job.get({"status", "conditions"});
  if (conditions == nullptr) {
    return false;
  }
  for (const json::Value& each : conditions->items()) {
    if (each.string_or_empty("type") == "Complete" && each.string_or_empty("status") == "True") {
      return true;
    }
  }
  return false;
}

}  // namespace

void DispatchJudge::follow(apiserver::Store& store, std::string cluster) {
  store.on_commit([this, &store, cluster](apiserver::CollectionId id, const Event& event) {
    commit(cluster, store.name_of(id), event);
  });
}

void DispatchJudge::commit(const std::string& cluster, std::string_view collection,
                           const Event& event) {
  if (collection == "jobs.batch") {
    job_changed(cluster, event);
  } else if (collection == "pods") {
    pod_changed(cluster, event);
  } else if (collection == "appwrappers.workload.codeflare.dev") {
    wrapper_changed(cluster, event);
  } else if (collection == "quotasubtrees.quota.codeflare.dev" && cluster == kHub) {
    const auto subtree = model::from_json<model::QuotaSubtree>(parsed(event).root);
    if (subtree) {
      quotas_.write(*subtree, WallTime());
    }
  }
}

void DispatchJudge::violation(std::string what) {
  say_("VIOLATION " + what);
  violations_.push_back(std::move(what));
}

void DispatchJudge::check(const std::string& work, const Where& where, const char* what) {
  std::string clusters;
  int count = 0;
  for (const auto& [cluster, names] : where) {
    // Work that ended on a cluster that was lost afterwards may run again elsewhere.
    const bool over = fenced_.contains(cluster) && finished_.contains(cluster + "/" + work);
    if (!names.empty() && !over) {
      clusters += (clusters.empty() ? "" : " and ") + cluster;
      ++count;
    }
  }
  if (count > 1) {
    violation(work + " has " + what + " on two clusters: " + clusters);
  }
}

void DispatchJudge::job_changed(const std::string& cluster, const Event& event) {
  const std::string name(event.object->name());
  if (is_removal(event)) {
    jobs_[name][cluster].erase(name);
    finished_.erase(cluster + "/" + name);
    return;
  }
  if (jobs_[name][cluster].insert(name).second) {
    counts_[cluster == kHub ? "Jobs here" : "Jobs on workers"] += 1;
    say_(cluster + " has Job " + name);
    const auto ended = ended_.find(name);
    if (ended != ended_.end() && fenced_.contains(ended->second)) {
      counts_["ran again after a loss"] += 1;
    } else if (ended != ended_.end()) {
      violation(name + " runs again on " + cluster + " although it ended on " + ended->second);
    }
  }
  const bool complete = is_complete(parsed(event).root);
  if (complete) {
    finished_.insert(cluster + "/" + name);
  }
  check(name, jobs_[name], "a Job");
  if (!complete) {
    return;
  }
  std::set<std::string>& done = done_[name];
  done.insert(std::string(event.object->uid()));
  // A Job that completes while its copy is being deleted, before its own queue could see it.
  if (done.size() > 1) {
    ++counts_["Job completed again"];
  }
}

void DispatchJudge::pod_changed(const std::string& cluster, const Event& event) {
  const json::Document document = parsed(event);
  const json::Value* labels = document.root.get({"metadata", "labels"});
  const std::string work(labels == nullptr ? "" : labels->string_or_empty("job-name"));
  if (work.empty()) {
    return;
  }
  const json::Value* status = document.root.find("status");
  const std::string_view phase = status == nullptr ? "" : status->string_or_empty("phase");
  const std::string name(event.object->name());
  if (is_removal(event) || phase == "Succeeded" || phase == "Failed") {
    pods_[work][cluster].erase(name);
    if (phase == "Succeeded") {
      succeeded_[work].insert(name);
    }
    return;
  }
  pods_[work][cluster].insert(name);
  check(work, pods_[work], "pods");
}

void DispatchJudge::wrapper_changed(const std::string& cluster, const Event& event) {
  const std::string name(event.object->name());
  const std::string key = cluster + "/" + name;
  if (!is_removal(event)) {
    wrappers_.insert(key);
  } else {
    wrappers_.erase(key);
    if (name.starts_with(kForeignPrefix)) {
      violation(key + " of another hub is removed");
    }
  }
  if (is_removal(event)) {
    if (cluster == kHub) {
      works_.erase(name);
      plans_.erase(name);
      labels_.erase(name);
    }
    return;
  }
  const json::Document document = parsed(event);
  const json::Value* status = document.root.find("status");
  const std::string state(status == nullptr ? "" : status->string_or_empty("state"));
  if (state == "Completed" || state == "Failed") {
    ended_.emplace(name, cluster);
  }
  const json::Value* fenced =
      document.root.get({"metadata", "annotations", "dispatch.codeflare.dev/fenced"});
  if (fenced != nullptr && stopped_.insert(std::string(event.object->uid())).second) {
    say_(key + " is stopped by its fence");
    counts_["stopped by a fence"] += 1;
  }
  if (cluster != kHub) {
    return;
  }
  note_holding(name, document);
  if (works_[name] != state) {
    say_(name + " is " + state);
    counts_["state " + state] += 1;
    works_[name] = state;
  }
}

// Its labels never change.
void DispatchJudge::note_holding(const std::string& work, const json::Document& document) {
  const auto wrapper = model::from_json<model::AppWrapper>(document.root);
  if (!wrapper || !wrapper->status.plan) {
    plans_.erase(work);
    succeeded_.erase(work);
    return;
  }
  labels_[work] = wrapper->metadata.labels;
  const bool is_new = !plans_.contains(work);
  QuotaBook::Charge& charge = plans_[work];
  charge = {.labels = wrapper->metadata.labels};
  for (const model::PlannedPlace& place : wrapper->status.plan->places) {
    charge.millicores += place.count * kMillicoresOfPod;
  }
  if (!is_new) {
    return;
  }
  std::vector<QuotaBook::Charge> others;
  for (const auto& [other, labels] : labels_) {
    if (other != work) {
      others.push_back(charge_of(other));
    }
  }
  counts_["plans that count to a quota"] += charge.labels.empty() ? 0 : 1;
  if (const std::string where = quotas_.exceeded(charge, others, WallTime()); !where.empty()) {
    violation(work + " is dispatched over quota: " + where);
  }
}

QuotaBook::Charge DispatchJudge::charge_of(const std::string& work) const {
  QuotaBook::Charge charge{.labels = labels_.at(work)};
  if (const auto plan = plans_.find(work); plan != plans_.end()) {
    const auto ended = succeeded_.find(work);
    const std::int64_t over = ended == succeeded_.end() ? 0 : std::ssize(ended->second);
    charge.millicores = plan->second.millicores - over * kMillicoresOfPod;
  }
  std::int64_t pods = 0;
  if (const auto at = pods_.find(work); at != pods_.end()) {
    for (const auto& [cluster, names] : at->second) {
      pods += std::ssize(names);
    }
  }
  charge.millicores = std::max(charge.millicores, pods * kMillicoresOfPod);
  return charge;
}

std::string DispatchJudge::left_over() const {
  for (const std::string& key : wrappers_) {
    if (!key.contains(kForeignPrefix)) {
      return "AppWrapper " + key;
    }
  }
  for (const auto& [work, where] : jobs_) {
    for (const auto& [cluster, names] : where) {
      if (!names.empty() && !work.starts_with(kForeignPrefix)) {
        return "Job " + cluster + "/" + work;
      }
    }
  }
  return "";
}

}  // namespace codeflare::sim
