#include "tests/sim/sim_queue_rest.h"

#include "model/condition.h"
#include "model/pod_requests.h"
#include "queue/status_words.h"

namespace codeflare::sim {

namespace {

using Work = QueueJudge::Work;
using queue::Standing;

bool is_endless(const Work& work) {
  return !model::find_or_empty(work.object.metadata.annotations, kEndlessAnnotation).empty();
}

// A gang is bound as a whole.
std::string in_part(const QueueJudge& judge, const std::string& uid, const Work& work) {
  std::vector<std::int64_t> bound(work.sets.size());
  for (const auto& [key, pod] : judge.pods()) {
    if (owner_of(pod) != uid || !is_active(pod)) {
      continue;
    }
    if (pod.spec.node_name.empty() || set_of(pod) >= bound.size()) {
      return work.name() + " is bound in part: pod " + key.name + " has no node";
    }
    ++bound[set_of(pod)];
  }
  for (std::size_t set = 0; set < bound.size(); ++set) {
    if (bound[set] != work.needed(set)) {
      return work.name() + " is bound in part: " + std::to_string(bound[set]) + " of " +
             std::to_string(work.needed(set)) + " pods of set " + std::to_string(set);
    }
  }
  return {};
}

std::string unrest_of(const QueueJudge& judge, const std::string& uid, const Work& work) {
  const model::AppWrapperStatus& status = work.object.status;
  if (work.object.metadata.deleting()) {
    return work.name() + " is still being deleted";
  }
  if (!work.holds()) {
    return {};
  }
  if (is_terminal(status)) {
    return work.name() + " has ended and still holds its places";
  }
  if (!status.can_run) {
    return work.name() + " still has to give its places back";
  }
  std::string part = in_part(judge, uid, work);
  if (part.empty() && !is_endless(work)) {
    part = work.name() + " does not end";
  }
  return part;
}

// Something that belongs to nobody who may have it.
bool is_stray(const QueueJudge& judge, const std::string& uid) {
  const auto work = judge.works().find(uid);
  return work == judge.works().end() ||
         (!work->second.holds() && !is_terminal(work->second.object.status));
}

std::string stray(const QueueJudge& judge) {
  for (const auto& [uid, items] : judge.items()) {
    if (is_stray(judge, uid)) {
      return *items.begin() + " is left over";
    }
  }
  for (const auto& [key, pod] : judge.pods()) {
    if (!owner_of(pod).empty() && is_stray(judge, owner_of(pod))) {
      return "pod " + key.name + " is left over";
    }
  }
  return {};
}

std::string unready_node(const QueueJudge& judge) {
  for (const auto& [name, node] : judge.nodes()) {
    const model::Condition* ready = model::find_condition(node.status.conditions, "Ready");
    if (ready == nullptr || ready->status != "True" || !node.spec.taints.empty()) {
      return "node " + name + " is not ready";
    }
  }
  return {};
}

}  // namespace

std::string unrest(const QueueJudge& judge) {
  if (std::string what = unready_node(judge); !what.empty()) {
    return what;
  }
  for (const auto& [uid, work] : judge.works()) {
    if (std::string what = unrest_of(judge, uid, work); !what.empty()) {
      return what;
    }
  }
  return stray(judge);
}

std::string could_run(const QueueJudge& judge, const queue::QueueOptions& options, WallTime now) {
  queue::Queue queue(options);
  for (const auto& [key, subtree] : judge.quotas()) {
    queue.upsert_quota(subtree);
  }
  for (const auto& [name, node] : judge.nodes()) {
    queue.upsert_node(node);
  }
  for (const auto& [uid, work] : judge.works()) {
    if (Result<void> taken = queue.upsert(work.object, now); !taken) {
      return work.name() + " is not understood: " + taken.error().message;
    }
  }
  for (const auto& [key, pod] : judge.pods()) {
    queue.upsert_pod(pod);
  }
  for (bool more = true; more;) {
    const queue::StepOutcome outcome = queue.step(now);
    if (!outcome.bindings.empty()) {
      const queue::Binding& binding = outcome.bindings.front();
      return "pod " + binding.pod.name + " waits and could be bound to " + binding.node;
    }
    more = outcome.more;
  }
  for (const auto& [uid, work] : judge.works()) {
    const Standing standing = queue.standing(uid);
    if (standing.kind == Standing::Kind::started && !work.holds()) {
      return work.name() + " waits and could run";
    }
    if (standing.kind == Standing::Kind::stopping) {
      return work.name() + " runs and should stop: " + std::string(queue::word(standing.reason)) +
             " " + standing.message;
    }
  }
  return {};
}

std::string left_over(const QueueJudge& judge) {
  if (!judge.works().empty()) {
    return judge.works().begin()->second.name() + " is still being deleted";
  }
  if (std::string what = stray(judge); !what.empty()) {
    return what;
  }
  for (const auto& [key, subtree] : judge.quotas()) {
    for (const model::QuotaChildStatus& child : subtree.status.children) {
      if (!child.allocated.get("cpu").is_zero()) {
        return "quota node " + child.name + " is charged for nothing";
      }
    }
  }
  return {};
}

std::map<std::string, std::int64_t> free_millicores(const QueueJudge& judge) {
  std::map<std::string, std::int64_t> free;
  for (const auto& [name, node] : judge.nodes()) {
    free[name] = node.status.allocatable.get("cpu").milli_value();
  }
  for (const auto& [key, pod] : judge.pods()) {
    if (const auto node = free.find(pod.spec.node_name); node != free.end() && is_active(pod)) {
      node->second -= model::pod_requests(pod.spec).get("cpu").milli_value();
    }
  }
  return free;
}

}  // namespace codeflare::sim
