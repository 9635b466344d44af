#include "tests/sim/sim_queue_judge.h"

#include "base/check.h"
#include "json/parse.h"
#include "model/codec/app_wrapper.h"
#include "model/codec/node.h"
#include "model/codec/pod.h"
#include "model/codec/quota_subtree.h"
#include "model/pod_requests.h"
#include "queue/marks.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace codeflare::sim {

namespace {

using apiserver::Event;
using apiserver::Write;
using model::AppWrapperStatus;

template <typename T>
T decode(const apiserver::Object& object) {
  Result<json::Document> document = json::parse_in_place(object.json());
  CHECK(document.has_value());
  Result<T> value = model::from_json<T>(document->root);
  CHECK(value.has_value());
  return *std::move(value);
}

model::ObjectKey key_of(const apiserver::Object& object) {
  return {std::string(object.ns()), std::string(object.name())};
}

std::string label(const apiserver::Object& object, std::string_view name) {
  if (object.labels().empty()) {
    return {};
  }
  const Result<json::Document> labels = json::parse_in_place(object.labels());
  return labels ? std::string(labels->root.string_or_empty(name)) : std::string();
}

std::int64_t to_number(std::string_view text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// Reads the output of to_text(): "2/3/1000 1/1/500 ".
std::vector<PodSetSize> sizes_of(std::string_view text) {
  std::vector<PodSetSize> sizes;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    const std::size_t first = one.find('/');
    const std::size_t last = one.rfind('/');
    sizes.push_back({to_number(one.substr(0, first)),
                     to_number(one.substr(first + 1, last - first - 1)),
                     to_number(one.substr(last + 1))});
  }
  return sizes;
}

}  // namespace

std::string to_text(const std::vector<PodSetSize>& sizes) {
  std::string text;
  for (const PodSetSize& size : sizes) {
    text += std::to_string(size.count) + "/" + std::to_string(size.total) + "/" +
            std::to_string(size.millicores) + " ";
  }
  return text;
}

bool is_active(const model::Pod& pod) {
  return pod.status.phase != "Succeeded" && pod.status.phase != "Failed";
}

std::string owner_of(const model::Pod& pod) {
  return std::string(model::find_or_empty(pod.metadata.labels, queue::kUidLabel));
}

std::size_t set_of(const model::Pod& pod) {
  return static_cast<std::size_t>(
      to_number(model::find_or_empty(pod.metadata.labels, queue::kPodSetLabel)));
}

std::int64_t QueueJudge::Work::needed(std::size_t set) const {
  const auto done =
      set < succeeded.size() ? static_cast<std::int64_t>(succeeded[set].size()) : std::int64_t{0};
  return std::min(sets[set].count, std::max<std::int64_t>(0, sets[set].total - done));
}

void QueueJudge::follow(apiserver::Store& store) {
  store.on_commit([this, &store](apiserver::CollectionId id, const Event& event) {
    commit(store.name_of(id), event);
  });
}

void QueueJudge::commit(std::string_view collection, const Event& event) {
  const std::uint64_t before = commits_++;
  if (collection == "appwrappers.workload.codeflare.dev") {
    wrapper_changed(event);
  } else if (collection == "pods") {
    item_changed(collection, event);
    pod_changed(event);
  } else if (collection == "jobs.batch" || collection == "rayclusters.ray.io") {
    item_changed(collection, event);
  } else if (collection == "nodes") {
    node_changed(event);
  } else if (collection == "quotasubtrees.quota.codeflare.dev") {
    model::QuotaSubtree subtree = decode<model::QuotaSubtree>(*event.object);
    book_.write(subtree, clock_.wall());
    quotas_.insert_or_assign(key_of(*event.object), std::move(subtree));
  } else {
    commits_ = before;
  }
}

// --- AppWrappers ---

void QueueJudge::wrapper_changed(const Event& event) {
  const std::string uid(event.object->uid());
  if (event.op == Write::Op::remove) {
    const auto found = works_.find(uid);
    CHECK(found != works_.end());
    say_(found->second.name() + " is gone");
    count("AppWrappers gone");
    if (const auto left = items_.find(uid); left != items_.end()) {
      violation(found->second.name() + " is gone, and " + *left->second.begin() +
                " is still there");
    }
    check_nothing_runs(found->second, "is gone");
    works_.erase(found);
    return;
  }
  Work& work = works_[uid];
  const AppWrapperStatus before = std::move(work.object.status);
  work.object = decode<model::AppWrapper>(*event.object);
  if (work.sets.empty()) {
    work.sets = sizes_of(model::find_or_empty(work.object.metadata.annotations, kSizesAnnotation));
  }
  check_status(work, before);
}

void QueueJudge::check_status(Work& work, const AppWrapperStatus& before) {
  const AppWrapperStatus& now = work.object.status;
  if (now.state != before.state) {
    say_(work.name() + " is " + now.state);
    count("state " + now.state);
    if (is_terminal(before)) {
      violation(work.name() + " was " + before.state + " and is " + now.state + " now");
    }
  }
  if (now.plan && !before.plan) {
    admitted(work);
  } else if (!now.plan && before.plan) {
    given_back(work, before);
  } else if (now.plan && now.plan->places != before.plan->places) {
    say_(work.name() + " is planned anew");
    count("new plans");
    work.moved = true;
  }
  if (!now.plan && now.can_run && now.state == model::app_wrapper_state::kRunning) {
    violation(work.name() + " runs without a plan");
  }
}

void QueueJudge::admitted(Work& work) {
  say_(work.name() + " is admitted");
  count("admissions");
  work.made.clear();
  work.pods.assign(work.sets.size(), {});
  work.succeeded.assign(work.sets.size(), {});
  work.moved = false;
  if (!work.object.status.can_run || is_terminal(work.object.status)) {
    violation(work.name() + " has a plan and may not run");
  }
  check_whole(work);
  check_quota(work);
}

void QueueJudge::check_whole(const Work& work) {
  std::vector<std::int64_t> planned(work.sets.size());
  for (const model::PlannedPlace& place : work.object.status.plan->places) {
    const auto set = static_cast<std::size_t>(place.pod_set);
    if (set >= planned.size()) {
      violation(work.name() + " has a plan for pods that it does not have");
      return;
    }
    planned[set] += place.count;
  }
  for (std::size_t set = 0; set < planned.size(); ++set) {
    if (planned[set] != work.sets[set].count) {
      violation(work.name() + " is planned in part: " + std::to_string(planned[set]) + " of " +
                std::to_string(work.sets[set].count) + " pods of set " + std::to_string(set));
    }
  }
}

void QueueJudge::check_quota(const Work& work) {
  const auto charge_of = [](const Work& one) {
    QuotaBook::Charge charge{one.object.metadata.labels};
    for (std::size_t set = 0; set < one.sets.size(); ++set) {
      charge.millicores += one.needed(set) * one.sets[set].millicores;
    }
    return charge;
  };
  std::vector<QuotaBook::Charge> others;
  for (const auto& [uid, other] : works_) {
    if (other.holds() && uid != work.object.metadata.uid) {
      others.push_back(charge_of(other));
    }
  }
  const std::string where = book_.exceeded(charge_of(work), others, clock_.wall());
  if (!where.empty()) {
    violation(work.name() + " is admitted over quota: " + where);
  }
}

// Only what has ended leaves its objects for people to look at.
void QueueJudge::given_back(const Work& work, const AppWrapperStatus& before) {
  say_(work.name() + " gives its places back");
  if (!is_terminal(work.object.status)) {
    count("withdrawals");
  }
  check_nothing_runs(work, "gives its places back");
  const auto left = items_.find(work.object.metadata.uid);
  if (left != items_.end() && (is_terminal(before) || !is_terminal(work.object.status))) {
    violation(work.name() + " gives its places back, and " + *left->second.begin() +
              " is still there");
  }
}

void QueueJudge::check_nothing_runs(const Work& work, const std::string& when) {
  for (const auto& [key, pod] : pods_) {
    if (owner_of(pod) == work.object.metadata.uid && is_active(pod) &&
        !pod.spec.node_name.empty()) {
      violation(work.name() + " " + when + ", and pod " + key.name + " is still on " +
                pod.spec.node_name);
    }
  }
}

// --- wrapped objects ---

void QueueJudge::item_changed(std::string_view collection, const Event& event) {
  if (!event.object->owner_references().contains(R"("AppWrapper")")) {
    return;
  }
  const std::string uid = label(*event.object, queue::kUidLabel);
  const std::string what = std::string(collection) + " " + std::string(event.object->name());
  if (event.op == Write::Op::create) {
    say_(what + " is created");
    items_[uid].insert(what);
    item_made(uid, what);
  } else if (event.op == Write::Op::remove) {
    items_[uid].erase(what);
    if (items_[uid].empty()) {
      items_.erase(uid);
    }
    // With its node, before the queue could hear that it was created: it may be created again, even
    // a pod that has succeeded.
    const auto work = works_.find(uid);
    if (work != works_.end() && work->second.object.status.can_run &&
        work->second.object.status.state == model::app_wrapper_state::kPending) {
      work->second.made.erase(what);
      // Not for one that is to stop: what has succeeded of it needs no quota again.
      const model::AppWrapper& object = work->second.object;
      if (!object.spec.suspend.value_or(false) && !object.metadata.deletion_timestamp) {
        for (std::set<std::string>& done : work->second.succeeded) {
          done.erase(std::string(event.object->uid()));
        }
      }
    }
  }
}

void QueueJudge::item_made(const std::string& uid, const std::string& what) {
  count("wrapped objects made");
  const auto found = works_.find(uid);
  if (found == works_.end()) {
    violation(what + " is created for an AppWrapper that is gone");
    return;
  }
  Work& work = found->second;
  const AppWrapperStatus& status = work.object.status;
  if (!status.plan || !status.can_run || is_terminal(status)) {
    violation(what + " is created, and " + work.name() + " has no plan to run");
  }
  if (++work.made[what] > 1) {
    violation(what + " is created twice in one dispatch of " + work.name());
  }
  if (work.made.size() > work.object.spec.resources.generic_items.size()) {
    violation(what + " is more than " + work.name() + " wraps");
  }
}

// --- pods and nodes ---

void QueueJudge::pod_changed(const Event& event) {
  const model::ObjectKey key = key_of(*event.object);
  if (event.op == Write::Op::remove) {
    pods_.erase(key);
    return;
  }
  model::Pod pod = decode<model::Pod>(*event.object);
  const auto known = pods_.find(key);
  const bool bound =
      !pod.spec.node_name.empty() && (known == pods_.end() || known->second.spec.node_name.empty());
  const auto work = works_.find(owner_of(pod));
  if (work != works_.end() && set_of(pod) < work->second.pods.size()) {
    work->second.pods[set_of(pod)].insert(pod.metadata.uid);
    if (pod.status.phase == "Succeeded") {
      work->second.succeeded[set_of(pod)].insert(pod.metadata.uid);
    }
  }
  const model::Pod& kept = pods_.insert_or_assign(key, std::move(pod)).first->second;
  if (bound) {
    check_binding(kept);
  }
}

void QueueJudge::check_binding(const model::Pod& pod) {
  say_(pod.metadata.name + " is bound to " + pod.spec.node_name);
  count("bindings");
  // One that has just gone may still be believed in.
  if (const auto node = nodes_.find(pod.spec.node_name); node != nodes_.end()) {
    check_room(node->second, pod);
  }
  const std::string uid = owner_of(pod);
  if (uid.empty()) {
    return;
  }
  const auto work = works_.find(uid);
  if (work == works_.end() || !work->second.holds()) {
    violation("pod " + pod.metadata.name + " is bound for an AppWrapper that holds no places");
    return;
  }
  check_place(work->second, pod);
}

model::ResourceList QueueJudge::used_on(const std::string& node) const {
  model::ResourceList used;
  std::int64_t pods = 0;
  for (const auto& [key, pod] : pods_) {
    if (pod.spec.node_name == node && is_active(pod)) {
      used += model::pod_requests(pod.spec);
      ++pods;
    }
  }
  used.set("pods", model::Quantity(pods));
  return used;
}

void QueueJudge::check_room(const model::Node& node, const model::Pod& newcomer) {
  if (node.status.allocatable.empty()) {
    return;  // it has just come back, and its size follows in a moment
  }
  if (!used_on(node.metadata.name).fits_in(node.status.allocatable)) {
    violation("node " + node.metadata.name + " has more than fits, with pod " +
              newcomer.metadata.name);
  }
}

std::int64_t QueueJudge::siblings_on(const std::string& node, const model::Pod& pod) const {
  return std::ranges::count_if(pods_, [&](const auto& entry) {
    const model::Pod& other = entry.second;
    return owner_of(other) == owner_of(pod) && set_of(other) == set_of(pod) && is_active(other) &&
           other.spec.node_name == node;
  });
}

// A place for the pod is free, and its node has room. After a restart a node may be promised more
// than it has; a pod that finds all its places filled may go elsewhere.
bool QueueJudge::has_place(const Work& work, const model::Pod& pod) const {
  return std::ranges::any_of(
      work.object.status.plan->places, [&](const model::PlannedPlace& place) {
        const auto node = nodes_.find(place.node);
        if (static_cast<std::size_t>(place.pod_set) != set_of(pod) || node == nodes_.end() ||
            siblings_on(place.node, pod) >= place.count) {
          return false;
        }
        model::ResourceList used = used_on(place.node);
        used += model::pod_requests(pod.spec);
        return used.fits_in(node->second.status.allocatable);
      });
}

void QueueJudge::check_place(Work& work, const model::Pod& pod) {
  const std::size_t set = set_of(pod);
  const std::int64_t here = siblings_on(pod.spec.node_name, pod);
  std::int64_t planned = 0;
  for (const model::PlannedPlace& place : work.object.status.plan->places) {
    const bool same =
        static_cast<std::size_t>(place.pod_set) == set && place.node == pod.spec.node_name;
    planned += same ? place.count : 0;
  }
  work.moved = work.moved || set >= work.pods.size() ||
               std::cmp_greater(work.pods[set].size(), work.sets[set].count);
  if (!work.moved && here > planned && has_place(work, pod)) {
    violation("pod " + pod.metadata.name + " is bound to " + pod.spec.node_name + ", where " +
              work.name() + " has " + std::to_string(planned) + " places for " +
              std::to_string(here) + " pods");
  }
}

void QueueJudge::node_changed(const Event& event) {
  const std::string name(event.object->name());
  if (event.op != Write::Op::remove) {
    nodes_.insert_or_assign(name, decode<model::Node>(*event.object));
    return;
  }
  nodes_.erase(name);
  for (auto& [uid, work] : works_) {
    for (const model::PlannedPlace& place :
         work.holds() ? work.object.status.plan->places : std::vector<model::PlannedPlace>()) {
      work.moved = work.moved || place.node == name;
    }
  }
}

void QueueJudge::violation(const std::string& what) {
  say_("VIOLATION: " + what);
  violations_.push_back(what);
}

}  // namespace codeflare::sim
