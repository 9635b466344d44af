#include "controllers/job/job_pods.h"

#include "json/parse.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace codeflare::controllers::job {

namespace {

const json::Value kNothing{};

const json::Value& at(const json::Value& value, std::initializer_list<std::string_view> path) {
  const json::Value* found = value.get(path);
  return found == nullptr ? kNothing : *found;
}

std::optional<WallTime> time_at(const json::Value& value, std::string_view key) {
  const Result<WallTime> time = parse_rfc3339(value.string_or_empty(key));
  return time ? std::optional(*time) : std::nullopt;
}

std::int64_t integer_at(const json::Value& value, std::string_view key) {
  const json::Value* found = value.find(key);
  return found == nullptr ? 0 : found->to_int64().value_or(0);
}

Phase phase_of(std::string_view word) {
  return word == "Running"     ? Phase::running
         : word == "Succeeded" ? Phase::succeeded
         : word == "Failed"    ? Phase::failed
                               : Phase::pending;
}

std::int64_t index_of(std::string_view text) {
  std::int64_t index = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  return error == std::errc() && end == text.data() + text.size() && index >= 0 ? index : -1;
}

const json::Value& condition(const json::Value& status, std::string_view type) {
  for (const json::Value& entry : at(status, {"conditions"}).items()) {
    if (entry.string_or_empty("type") == type) {
      return entry;
    }
  }
  return kNothing;
}

// When the last container ended; nothing while one has not.
std::optional<WallTime> containers_ended(const json::Value& status) {
  std::optional<WallTime> last;
  for (const json::Value& container : at(status, {"containerStatuses"}).items()) {
    const auto time = time_at(at(container, {"state", "terminated"}), "finishedAt");
    if (!time) {
      return std::nullopt;
    }
    last = last ? std::max(*last, *time) : *time;
  }
  return last;
}

WallTime ended(const json::Value& metadata, const json::Value& status) {
  if (const auto time = containers_ended(status)) {
    return *time;
  }
  const json::Value& ready = condition(status, "Ready");
  if (ready.string_or_empty("status") == "False") {
    if (const auto time = time_at(ready, "lastTransitionTime")) {
      return *time;
    }
  }
  if (const auto time = time_at(metadata, "deletionTimestamp")) {
    return *time - std::chrono::seconds(integer_at(metadata, "deletionGracePeriodSeconds"));
  }
  return time_at(metadata, "creationTimestamp").value_or(WallTime());
}

std::int32_t restarts(const json::Value& status) {
  std::int64_t sum = 0;
  for (std::string_view list : {"initContainerStatuses", "containerStatuses"}) {
    for (const json::Value& container : at(status, {list}).items()) {
      sum += integer_at(container, "restartCount");
    }
  }
  return static_cast<std::int32_t>(std::min<std::int64_t>(sum, INT32_MAX));
}

const json::Value& controller(const json::Value& metadata) {
  for (const json::Value& owner : at(metadata, {"ownerReferences"}).items()) {
    const json::Value& controls = at(owner, {"controller"});
    if (controls.is_boolean() && controls.as_bool()) {
      return owner;
    }
  }
  return kNothing;
}

bool is_job(const json::Value& owner) {
  return owner.string_or_empty("kind") == "Job" &&
         owner.string_or_empty("apiVersion").starts_with("batch/");
}

}  // namespace

PodDigest digest_of(const kube::Object& pod) {
  PodDigest digest{.name = std::string(pod.name()), .uid = std::string(pod.uid())};
  const Result<json::Document> document = pod.parse();
  if (!document) {
    return digest;
  }
  const json::Value& metadata = at(document->root, {"metadata"});
  const json::Value& status = at(document->root, {"status"});
  const json::Value& owner = controller(metadata);
  if (is_job(owner)) {
    digest.owner_uid = owner.string_or_empty("uid");
  }
  digest.phase = phase_of(status.string_or_empty("phase"));
  digest.deleting = pod.deleting();
  digest.tracked =
      std::ranges::any_of(at(metadata, {"finalizers"}).items(), [](const json::Value& name) {
        return name.is_string() && name.as_string() == kTrackingFinalizer;
      });
  const json::Value& ready = condition(status, "Ready");
  digest.ready = ready.string_or_empty("status") == "True";
  digest.ready_since = time_at(ready, "lastTransitionTime").value_or(WallTime());
  digest.bound = !at(document->root, {"spec"}).string_or_empty("nodeName").empty();
  digest.index = index_of(at(metadata, {"annotations"}).string_or_empty(kIndexKey));
  digest.restarts = restarts(status);
  digest.created = time_at(metadata, "creationTimestamp").value_or(WallTime());
  if (digest.over() || digest.deleting) {
    digest.ended = ended(metadata, status);
  }
  return digest;
}

void job_of(const kube::Object& pod, std::vector<model::ObjectKey>& keys) {
  if (!pod.owner_references_json().empty()) {
    if (const auto owners = json::parse_in_place(pod.owner_references_json())) {
      for (const json::Value& owner : owners->root.items()) {
        const json::Value& controls = at(owner, {"controller"});
        if (controls.is_boolean() && controls.as_bool()) {
          if (is_job(owner)) {
            keys.push_back({std::string(pod.ns()), std::string(owner.string_or_empty("name"))});
          }
          return;
        }
      }
    }
  }
  if (!pod.labels_json().empty()) {
    if (const auto labels = json::parse_in_place(pod.labels_json())) {
      const std::string_view name = labels->root.string_or_empty(kJobNameLabel);
      if (!name.empty()) {
        keys.push_back({std::string(pod.ns()), std::string(name)});
      }
    }
  }
}

JobPods::JobPods(runtime::Informer& pods, Changed changed) : changed_(std::move(changed)) {
  pods.add_handler([this](const runtime::ObjectChange& what) { change(what); });
}

std::vector<PodDigest> JobPods::of(const model::ObjectKey& job) const {
  std::vector<PodDigest> pods;
  if (auto found = by_job_.find(job); found != by_job_.end()) {
    pods.reserve(found->second.size());
    for (const auto& [name, digest] : found->second) {
      pods.push_back(digest);
    }
  }
  return pods;
}

void JobPods::change(const runtime::ObjectChange& change) {
  const model::ObjectKey pod = (change.now ? change.now : change.old)->key();
  std::vector<model::ObjectKey> jobs;
  if (change.now != nullptr) {
    job_of(*change.now, jobs);
  }
  if (auto known = job_of_pod_.find(pod);
      known != job_of_pod_.end() && (jobs.empty() || known->second != jobs.front())) {
    auto job = by_job_.find(known->second);
    job->second.erase(pod.name);
    changed_(job->first, job->second.size());
    if (job->second.empty()) {
      by_job_.erase(job);
    }
    job_of_pod_.erase(known);
  }
  if (!jobs.empty()) {
    auto& pods = by_job_[jobs.front()];
    pods.insert_or_assign(pod.name, digest_of(*change.now));
    job_of_pod_.insert_or_assign(pod, jobs.front());
    changed_(jobs.front(), pods.size());
  }
}

}  // namespace codeflare::controllers::job
