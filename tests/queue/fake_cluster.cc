#include "tests/queue/fake_cluster.h"

#include "queue/marks.h"
#include "queue/status_words.h"
#include "queue/testing/objects.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

namespace codeflare::queue {

using namespace testing;  // NOLINT
using Kind = Standing::Kind;

FakeCluster::FakeCluster(std::uint64_t seed, Habits habits)
    : dice_(seed), habits_(habits), now_(kNow), queue_(new_queue()) {
  for (int i = 0; i < 3; ++i) {
    change_nodes();
  }
}

Queue FakeCluster::new_queue() const {
  return Queue(QueueOptions{.core = {.preemption = habits_.preemption}, .binds = habits_.binds});
}

void FakeCluster::feed(Queue& queue) const {
  queue.set_paused(queue_.paused());
  for (const auto& [name, node] : nodes_) {
    queue.upsert_node(node);
  }
  if (quota_) {
    queue.upsert_quota(*quota_);
  }
  for (const auto& [uid, pod] : pods_) {
    queue.upsert_pod(pod);
  }
  for (const auto& [uid, work] : works_) {
    ASSERT_TRUE(queue.upsert(work.object, now_)) << uid;
  }
}

template <typename Map>
std::string FakeCluster::any(const Map& map) {
  if (map.empty()) {
    return "";
  }
  auto at = map.begin();
  std::advance(at, dice_.roll(0, static_cast<std::int64_t>(map.size()) - 1));
  return at->first;
}

bool FakeCluster::is_foreign(const model::Pod& pod) const {
  return !pod.metadata.labels.contains(std::string(kUidLabel));
}

sched::Amount FakeCluster::cpu_of(const model::Pod& pod) const {
  return pod.spec.containers[0].resources.requests.get("cpu").milli_value();
}

std::vector<std::string> FakeCluster::pods_of(const Work& work) const {
  std::vector<std::string> uids;
  for (const auto& [uid, pod] : pods_) {
    const auto label = pod.metadata.labels.find(std::string(kUidLabel));
    if (label != pod.metadata.labels.end() && label->second == work.object.metadata.uid) {
      uids.push_back(uid);
    }
  }
  return uids;
}

std::string FakeCluster::text(Queue& queue, const std::string& uid) const {
  const Standing standing = queue.standing(uid);
  std::string out = uid + " " + std::string(queue::word(standing.reason)) + " lost " +
                    std::to_string(standing.pods_lost);
  for (const model::PlannedPlace& place : standing.plan) {
    out += "\n  plan " + std::to_string(place.pod_set) + " " + place.node + " x" +
           std::to_string(place.count);
  }
  if (const auto gang = queue.gang(uid)) {
    for (const sched::Slot& slot : *queue.core().reserved(*gang)) {
      out += "\n  reserved " + std::to_string(slot.pod_set) + " " +
             queue.core().node_name(slot.node) + " x" + std::to_string(slot.count);
    }
  }
  for (const std::string& pod : pods_of(works_.at(uid))) {
    out += "\n  " + pod + " " + pods_.at(pod).spec.node_name + " " + pods_.at(pod).status.phase;
  }
  for (const Queue::Unplanned& each : queue.unplanned(uid)) {
    out += "\n  unplanned " + each.pod;
  }
  return out + "\n";
}

// --- what happens ---

void FakeCluster::happen() {
  now_ += std::chrono::seconds(dice_.roll(0, 3));
  const auto what = dice_.roll(1, 100);
  if (what <= 14) {
    create_work();
  } else if (what <= 24) {
    change_work();
  } else if (what <= 29) {
    change_nodes();
  } else if (what <= 37) {
    change_foreign();
  } else if (what <= 49) {
    end_pod();
  } else if (what <= 52 && habits_.surges) {
    add_surge();
  } else if (what <= 54) {
    change_quota();
  } else if (what <= 55) {
    queue_.set_paused(!queue_.paused());
  } else if (what <= 60) {
    (void)collect_garbage();
  } else if (what <= 75) {
    for (auto events = dice_.roll(1, 4); events > 0; --events) {
      (void)deliver_one();
    }
  } else if (what <= 85) {
    (void)schedule_one();
  } else {
    for (int i = 0; i < 4; ++i) {
      if (const std::string uid = any(works_); !uid.empty()) {
        (void)reconcile(uid);
      }
    }
  }
  if (dice_.chance(70)) {
    step();
  }
  check_books();
}

void FakeCluster::step() {
  const StepOutcome outcome = queue_.step(now_);
  for (const Binding& binding : outcome.bindings) {
    if (dice_.chance(50)) {
      apply_binding(binding);
    } else {
      bindings_.push_back(binding);
    }
  }
}

void FakeCluster::check_books() {
  const auto sound = queue_.core().check_invariants();
  ASSERT_TRUE(sound) << sound.error().message;
  // A gang that is to have the place of others is counted there before they are gone.
  if (habits_.preemption) {
    return;
  }
  for (const auto& [name, node] : nodes_) {
    ASSERT_GE(free_on(queue_, name), 0) << name;
    ASSERT_GE(free_on(queue_, name, "pods"), 0) << name;
  }
}

void FakeCluster::create_work() {
  if (works_.size() > 14) {
    return;
  }
  const std::string name = "w" + std::to_string(counter_++);
  Work work;
  if (dice_.chance(40)) {
    const int parallel = static_cast<int>(dice_.roll(1, 3));
    // After a restart nobody knows whose place was reused when a node was lost in between; where we
    // bind, lost places are found anew.
    const auto more = habits_.binds == Binds::nothing ? 0 : dice_.roll(0, 2);
    work.object =
        job(name, parallel, parallel + static_cast<int>(more), std::to_string(dice_.roll(1, 3)));
  } else {
    std::vector<Pods> sets;
    for (auto i = dice_.roll(1, 2); i > 0; --i) {
      sets.push_back({static_cast<std::int32_t>(dice_.roll(1, 3)),
                      resources(std::to_string(dice_.roll(1, 3)))});
    }
    work.object = wrapper(name, sets);
  }
  work.object.metadata.creation_timestamp = now_;
  work.object.spec.priority = static_cast<std::int32_t>(dice_.roll(0, 2));
  if (dice_.chance(50)) {
    work.object.metadata.labels["team"] = "gold";
  }
  write(work);
  works_.emplace("uid-" + name, std::move(work));
}

void FakeCluster::change_work() {
  const std::string uid = any(works_);
  if (uid.empty()) {
    return;
  }
  Work& work = works_.at(uid);
  switch (dice_.roll(1, 6)) {
    case 1:
      work.object.metadata.deletion_timestamp = now_;
      break;
    case 2:
      work.object.spec.suspend = !work.object.spec.suspend.value_or(false);
      break;
    case 3:
      work.object.spec.priority = static_cast<std::int32_t>(dice_.roll(0, 2));
      break;
    case 4:
      // Admitted work stays charged by the labels that it was admitted with, which the object does
      // not show; admission rejects others. So they change, and are heard of, while work waits.
      if (work.object.status.plan || queue_.standing(uid).kind != Kind::waiting ||
          std::ranges::find(wrapper_events_, uid, &WrapperEvent::uid) != wrapper_events_.end()) {
        return;
      }
      work.object.metadata.labels["team"] = dice_.chance(50) ? "gold" : "default";
      ASSERT_TRUE(queue_.upsert(work.object, now_));
      return;
    case 5:
      work.stop = work.object.status.plan.has_value();
      return;
    default:
      work.stop = work.completed = work.object.status.plan.has_value();
      return;
  }
  write(work);
}

void FakeCluster::remove_node(const std::string& name) {
  // Earlier messages arrive earlier.
  apply_bindings();
  deliver_pods();
  nodes_.erase(name);
  queue_.remove_node(name);
}

void FakeCluster::change_nodes() {
  const std::string name = "n" + std::to_string(dice_.roll(0, 4));
  const auto known = nodes_.find(name);
  if (known == nodes_.end()) {
    nodes_[name] = node(name, resources(name < "n3" ? "8" : "5"));
  } else if (dice_.chance(60)) {
    known->second.spec.unschedulable = !known->second.spec.unschedulable;
  } else {
    remove_node(name);
    return;
  }
  queue_.upsert_node(nodes_[name]);
}

void FakeCluster::change_foreign() {
  std::set<std::string> foreign;
  for (const auto& [uid, pod] : pods_) {
    if (is_foreign(pod)) {
      foreign.insert(uid);
    }
  }
  if (foreign.size() > 4 || (!foreign.empty() && dice_.chance(40))) {
    auto at = foreign.begin();
    std::advance(at, dice_.roll(0, static_cast<std::int64_t>(foreign.size()) - 1));
    model::Pod& pod = pods_.at(*at);
    if (!pod.spec.node_name.empty() && dice_.chance(50)) {
      pod.status.phase = dice_.chance(50) ? "Succeeded" : "Failed";
      queue_.upsert_pod(pod);
    } else {
      queue_.remove_pod(pod.metadata.key(), pod.metadata.uid);
      pods_.erase(*at);
    }
    return;
  }
  model::Pod pod =
      testing::pod("f" + std::to_string(counter_++), resources(std::to_string(dice_.roll(1, 2))));
  if (habits_.binds != Binds::all) {
    const std::string where = any(nodes_);
    if (where.empty() || free_on(queue_, where) < cpu_of(pod)) {
      return;
    }
    pod.spec.node_name = where;
  }
  pods_[pod.metadata.uid] = pod;
  queue_.upsert_pod(pod);
}

void FakeCluster::end_pod() {
  const std::string uid = any(pods_);
  if (uid.empty()) {
    return;
  }
  model::Pod& pod = pods_.at(uid);
  if (is_foreign(pod)) {
    return;
  }
  const std::string owner = pod.metadata.labels.at(std::string(kUidLabel));
  // A pod that succeeded is kept as a Job keeps it.
  if (pod.status.phase != "Pending") {
    return;
  }
  if (pod.spec.node_name.empty() || dice_.chance(20)) {
    remove_pod(uid);
    return;
  }
  const auto work = works_.find(owner);
  const bool of_job =
      work != works_.end() &&
      work->second.object.spec.resources.generic_items[0].custom_pod_resources.empty();
  pod.status.phase = of_job && dice_.chance(70) ? "Succeeded" : "Failed";
  write(pod);
}

void FakeCluster::add_surge() {
  const std::string owner = any(works_);
  if (owner.empty() || !works_.at(owner).created) {
    return;
  }
  Work& work = works_.at(owner);
  const std::string uid = add_pod(work, 0);
  if (habits_.binds != Binds::nothing) {
    return;
  }
  const std::string where = any(nodes_);
  deliver_pods();
  model::Pod& pod = pods_.at(uid);
  if (where.empty() || free_on(queue_, where) < cpu_of(pod)) {
    return;
  }
  pod.spec.node_name = where;
  write(pod);
  deliver_pods();
}

void FakeCluster::change_quota() {
  if (quota_ && dice_.chance(30)) {
    queue_.remove_quota(quota_->metadata.key());
    quota_.reset();
    return;
  }
  quota_ = quota_subtree("q", "team", "");
  for (const char* name : {"gold", "default"}) {
    quota_->spec.children.push_back(
        quota_child(name, resources(std::to_string(dice_.roll(2, 20))), dice_.chance(50)));
  }
  queue_.upsert_quota(*quota_);
}

// --- the controller ---

bool FakeCluster::reconcile(const std::string& uid) {
  const auto found = works_.find(uid);
  if (found == works_.end()) {
    return false;
  }
  Work& work = found->second;
  model::AppWrapperStatus& status = work.object.status;
  const Standing standing = queue_.standing(uid);
  const bool deleted = work.object.metadata.deleting();
  if (standing.kind == Kind::stopping || (status.plan && (deleted || work.stop))) {
    return take_back(work, deleted || work.completed);
  }
  if (deleted || is_terminal(status)) {
    queue_.remove(uid);
    if (!deleted && dice_.chance(50)) {
      return false;
    }
    wrapper_events_.push_back({uid, std::nullopt});
    works_.erase(found);
    return true;
  }
  if (standing.kind != Kind::started) {
    return false;
  }
  if (!status.plan || status.plan->places != standing.plan) {
    record_start(work.object, standing);
    write(work);
    return true;
  }
  if (queue_.plan_written(uid, standing.plan)) {
    return true;
  }
  work.created = true;
  return create_missing_pods(work);
}

bool FakeCluster::take_back(Work& work, bool for_good) {
  const std::string& uid = work.object.metadata.uid;
  model::AppWrapperStatus& status = work.object.status;
  queue_.stopping(uid);
  work.created = false;
  if (status.can_run) {
    status.can_run = false;
    status.state = "Pending";
    write(work);
    return true;
  }
  const auto pods = pods_of(work);
  for (const std::string& pod : pods) {
    remove_pod(pod);
  }
  if (!pods.empty()) {
    return true;
  }
  deliver_pods();
  status.plan.reset();
  work.stop = false;
  if (for_good) {
    status.state = "Completed";
  }
  write(work);
  if (for_good) {
    queue_.remove(uid);
  } else {
    queue_.withdrawn(uid, now_);
  }
  return true;
}

std::string FakeCluster::add_pod(Work& work, int pod_set) {
  const Demand* demand = queue_.demand(work.object.metadata.uid);
  if (demand == nullptr) {
    return "";
  }
  const auto& set = demand->pod_sets[static_cast<std::size_t>(pod_set)];
  auto requests = to_resource_list(set.pods.requests);
  requests.erase("pods");
  model::Pod pod = pod_of(work.object, pod_set,
                          work.object.metadata.name + "-" + std::to_string(work.pods++), requests);
  pod.metadata.creation_timestamp = now_;
  write(pod);
  pods_[pod.metadata.uid] = pod;
  return pod.metadata.uid;
}

bool FakeCluster::create_missing_pods(Work& work) {
  const Demand* demand = queue_.demand(work.object.metadata.uid);
  if (demand == nullptr) {
    return false;
  }
  bool any_created = false;
  for (std::size_t set = 0; set < demand->pod_sets.size(); ++set) {
    std::int64_t alive = 0;
    std::int64_t succeeded = 0;
    for (const std::string& uid : pods_of(work)) {
      const model::Pod& pod = pods_.at(uid);
      if (pod.metadata.labels.at(std::string(kPodSetLabel)) != std::to_string(set)) {
        continue;
      }
      alive += pod.status.phase == "Pending" ? 1 : 0;
      succeeded += pod.status.phase == "Succeeded" ? 1 : 0;
    }
    const PodSetDemand& wanted = demand->pod_sets[set];
    const std::int64_t total = wanted.total.value_or(wanted.pods.count);
    const std::int64_t more = std::min(wanted.pods.count, total - succeeded) - alive;
    for (std::int64_t i = 0; i < more; ++i) {
      (void)add_pod(work, static_cast<int>(set));
      any_created = true;
    }
  }
  return any_created;
}

// Pods of nodes that are gone, as the API server's housekeeping removes them.
bool FakeCluster::collect_garbage() {
  const auto stray = std::ranges::find_if(pods_, [&](const auto& entry) {
    const std::string& where = entry.second.spec.node_name;
    return !where.empty() && !nodes_.contains(where) && entry.second.status.phase == "Pending";
  });
  if (stray == pods_.end()) {
    return false;
  }
  const std::string uid = stray->first;
  if (is_foreign(stray->second)) {
    queue_.remove_pod(stray->second.metadata.key(), uid);
    pods_.erase(stray);
  } else {
    remove_pod(uid);
  }
  return true;
}

// --- schedulers ---

// Another scheduler that finds the very places that were planned.
bool FakeCluster::schedule_one() {
  if (habits_.binds != Binds::nothing) {
    if (bindings_.empty()) {
      return false;
    }
    apply_binding(bindings_.front());
    bindings_.erase(bindings_.begin());
    return true;
  }
  for (auto& [uid, pod] : pods_) {
    if (!pod.spec.node_name.empty() || is_foreign(pod)) {
      continue;
    }
    // As an informer would have it.
    deliver_pods();
    const auto gang = queue_.gang(pod.metadata.labels.at(std::string(kUidLabel)));
    if (!gang) {
      continue;
    }
    const auto slots = queue_.core().reserved(*gang);
    if (!slots) {
      continue;
    }
    for (const sched::Slot& slot : *slots) {
      if (std::to_string(slot.pod_set) != pod.metadata.labels.at(std::string(kPodSetLabel))) {
        continue;
      }
      pod.spec.node_name = queue_.core().node_name(slot.node);
      write(pod);
      deliver_pods();
      return true;
    }
  }
  return false;
}

void FakeCluster::apply_binding(const Binding& binding) {
  const auto found = pods_.find(binding.uid);
  if (found == pods_.end()) {
    return;
  }
  model::Pod& pod = found->second;
  if (!pod.spec.node_name.empty() || !nodes_.contains(binding.node) || dice_.chance(10)) {
    queue_.binding_failed(binding.uid);
    return;
  }
  pod.spec.node_name = binding.node;
  if (is_foreign(pod)) {
    queue_.upsert_pod(pod);
  } else {
    write(pod);
  }
}

void FakeCluster::apply_bindings() {
  for (const Binding& binding : std::exchange(bindings_, {})) {
    apply_binding(binding);
  }
}

// --- events ---

void FakeCluster::write(const Work& work) {
  wrapper_events_.push_back({work.object.metadata.uid, work.object});
}

void FakeCluster::write(const model::Pod& pod) {
  pod_events_.push_back({pod, false});
}

void FakeCluster::remove_pod(const std::string& uid) {
  const model::Pod pod = pods_.at(uid);
  if (dice_.chance(50)) {
    model::Pod going = pod;
    going.metadata.deletion_timestamp = now_;
    write(going);
  }
  pods_.erase(uid);
  pod_events_.push_back({pod, true});
}

bool FakeCluster::deliver_one() {
  if (!pod_events_.empty() && (wrapper_events_.empty() || dice_.chance(60))) {
    const PodEvent event = pod_events_.front();
    pod_events_.pop_front();
    if (event.gone) {
      queue_.remove_pod(event.pod.metadata.key(), event.pod.metadata.uid);
    } else {
      queue_.upsert_pod(event.pod);
    }
    return true;
  }
  if (wrapper_events_.empty()) {
    return false;
  }
  const WrapperEvent event = wrapper_events_.front();
  wrapper_events_.pop_front();
  if (!event.object) {
    queue_.forget(event.uid);
  } else {
    const auto taken = queue_.upsert(*event.object, now_);
    EXPECT_TRUE(taken) << event.uid << ": " << (taken ? "" : taken.error().message);
  }
  return true;
}

void FakeCluster::deliver_pods() {
  for (; !pod_events_.empty(); pod_events_.pop_front()) {
    const PodEvent& event = pod_events_.front();
    if (event.gone) {
      queue_.remove_pod(event.pod.metadata.key(), event.pod.metadata.uid);
    } else {
      queue_.upsert_pod(event.pod);
    }
  }
}

// --- rest ---

void FakeCluster::come_to_rest() {
  // Paused, a gang that waits for victims would keep their places indefinitely.
  if (habits_.preemption) {
    queue_.set_paused(false);
  }
  for (bool busy = true; busy && !::testing::Test::HasFailure();) {
    busy = false;
    while (deliver_one()) {
      busy = true;
    }
    const StepOutcome outcome = queue_.step(now_);
    busy = busy || outcome.more || !outcome.changed.empty() || !outcome.bindings.empty();
    bindings_.insert(bindings_.end(), outcome.bindings.begin(), outcome.bindings.end());
    busy = busy || !bindings_.empty();
    apply_bindings();
    while (collect_garbage()) {
      busy = true;
    }
    while (habits_.binds == Binds::nothing && schedule_one()) {
      busy = true;
    }
    std::vector<std::string> uids;
    for (const auto& [uid, work] : works_) {
      uids.push_back(uid);
    }
    for (const std::string& uid : uids) {
      busy = reconcile(uid) || busy;
    }
    check_books();
  }
}

void FakeCluster::check_rest(bool take_over) {
  // Every pod, and every place that is kept, once.
  std::map<std::string, sched::Amount> used;
  for (const auto& [uid, pod] : pods_) {
    if (pod.status.phase == "Pending") {
      used[pod.spec.node_name] += cpu_of(pod);
    }
  }
  for (const auto& [uid, work] : works_) {
    const auto gang = queue_.gang(uid);
    if (!gang || queue_.standing(uid).kind == Kind::waiting) {
      continue;
    }
    for (const sched::Slot& slot : *queue_.core().reserved(*gang)) {
      used[queue_.core().node_name(slot.node)] +=
          slot.count * queue_.demand(uid)->pod_sets[slot.pod_set].pods.requests[0].amount;
    }
  }
  for (const auto& [name, node] : nodes_) {
    const sched::Amount all = node.status.allocatable.get("cpu").milli_value();
    ASSERT_EQ(free_on(queue_, name), all - used[name]) << name;
  }

  // Under another scheduler pods beyond the plan may take over its places elsewhere; the plan is
  // not written for that.
  const bool drifts = habits_.surges && habits_.binds == Binds::nothing;
  Queue again = new_queue();
  feed(again);
  const auto compare = [&](const char* when) {
    for (const auto& [uid, work] : works_) {
      ASSERT_EQ(again.standing(uid).kind, queue_.standing(uid).kind) << uid << " " << when;
      ASSERT_EQ(again.standing(uid).plan, queue_.standing(uid).plan)
          << when << "\n"
          << text(again, uid) << text(queue_, uid);
    }
    if (drifts) {
      return;
    }
    for (const auto& [name, node] : nodes_) {
      ASSERT_EQ(free_on(again, name), free_on(queue_, name)) << name << " " << when << [&] {
        std::string all;
        for (const auto& [uid, work] : works_) {
          if (work.object.status.plan) {
            all += "\n" + text(again, uid) + text(queue_, uid);
          }
        }
        return all;
      }();
    }
  };
  compare("when fed");
  const StepOutcome outcome = again.step(now_);
  ASSERT_TRUE(outcome.bindings.empty());
  compare("after a step");
  if (take_over && !drifts) {
    queue_ = std::move(again);
  }
}

}  // namespace codeflare::queue
