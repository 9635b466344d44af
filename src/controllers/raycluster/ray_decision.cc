#include "controllers/raycluster/ray_decision.h"

#include "controllers/raycluster/ray_autoscaler.h"
#include "controllers/raycluster/ray_token.h"
#include "model/condition.h"
#include "model/validation.h"

#include <algorithm>
#include <ranges>
#include <set>
#include <tuple>
#include <utility>

namespace codeflare::controllers::raycluster {

namespace {

using model::RayCluster;
using model::RayWorkerGroup;

// "-serve-svc" must fit behind it in a service's name.
constexpr std::size_t kNameMax = 53;

bool holds(const RayCluster& cluster, std::string_view condition) {
  return model::is_condition_true(cluster.status.conditions, condition);
}

std::string because(const RayPod& pod) {
  return pod.over() ? "it is " + pod.phase : "Ray container has ended";
}

void remove_all(const std::vector<RayPod>& pods, std::string_view why, Desired& desired) {
  for (const RayPod& pod : pods) {
    if (!pod.deleting) {
      desired.remove.push_back({pod, std::string(why)});
    }
  }
}

// The work on pods of one look.
class Pods {
 public:
  Pods(const Observed& observed, Desired& desired) : observed_(observed), desired_(desired) {}

  void remove_second_heads() {
    const std::vector<RayPod> all = heads();
    if (std::ranges::count_if(all, [](const RayPod& pod) { return !pod.deleting; }) > 1) {
      keep_one(all);
    }
  }

  void manage() {
    const RayCluster& cluster = observed_.cluster;
    if (holds(cluster, "RayClusterSuspending")) {
      remove_all(observed_.pods, "the cluster is suspended", desired_);
      return;
    }
    if (holds(cluster, "RayClusterSuspended") || cluster.spec.suspend.value_or(false)) {
      return;  // the conditions change first
    }
    desired_.create_workers.assign(cluster.spec.worker_groups.size(), 0);
    if (!manage_head()) {
      return;
    }
    for (std::size_t i = 0; i < cluster.spec.worker_groups.size(); ++i) {
      if (!manage_group(i)) {
        return;
      }
    }
    remove_strangers();
  }

 private:
  std::vector<RayPod> heads() const {
    std::vector<RayPod> found;
    std::ranges::copy_if(observed_.pods, std::back_inserter(found),
                         [](const RayPod& pod) { return pod.type == NodeType::head; });
    return found;
  }

  // The one that works stays.
  void keep_one(std::vector<RayPod> heads) {
    std::ranges::sort(heads, {}, [](const RayPod& pod) {
      return std::tuple(pod.deleting, pod.unhealthy(), !pod.running(), pod.name);
    });
    for (const RayPod& pod : heads | std::views::drop(1)) {
      if (!pod.deleting) {
        desired_.remove.push_back({pod, "another head exists"});
      }
    }
  }

  // False when workers have to wait for the next look.
  bool manage_head() {
    const std::vector<RayPod> found = heads();
    if (found.empty()) {
      // A head that comes back does not bring its job back.
      const bool of_job =
          model::find_or_empty(observed_.cluster.metadata.labels, kOriginLabel) == "RayJob";
      desired_.create_head = !(of_job && holds(observed_.cluster, "RayClusterProvisioned"));
      desired_.create_autoscaler = desired_.create_head && autoscales(observed_.cluster.spec);
      desired_.create_token = desired_.create_head && uses_token(observed_.cluster.spec);
      return desired_.create_head;
    }
    if (found.size() > 1) {
      keep_one(found);  // the answer to a create may have been lost
      return false;
    }
    if (found[0].unhealthy() && !found[0].deleting) {
      desired_.remove.push_back({found[0], because(found[0])});
      return false;
    }
    return true;
  }

  bool manage_group(std::size_t position) {
    const RayWorkerGroup& group = observed_.cluster.spec.worker_groups[position];
    std::vector<RayPod> pods;
    std::ranges::copy_if(observed_.pods, std::back_inserter(pods), [&](const RayPod& pod) {
      return pod.type == NodeType::worker && pod.group == group.group_name;
    });
    if (group.suspend.value_or(false)) {
      remove_all(pods, "worker group is suspended", desired_);
      return true;
    }
    if (remove_unhealthy(pods)) {
      return false;  // replaced when they are gone
    }
    const std::set<std::string> unwanted(group.scale_strategy.workers_to_delete.begin(),
                                         group.scale_strategy.workers_to_delete.end());
    std::vector<RayPod> rest;
    for (const RayPod& pod : pods) {
      if (!unwanted.contains(pod.name)) {
        rest.push_back(pod);
      } else if (!pod.deleting) {
        desired_.remove.push_back({pod, "workersToDelete names it"});
      }
    }
    scale(position, std::max<std::int64_t>(model::desired_pods(group), 0), std::move(rest));
    return true;
  }

  bool remove_unhealthy(const std::vector<RayPod>& pods) {
    bool any = false;
    for (const RayPod& pod : pods) {
      if (pod.unhealthy() && !pod.deleting) {
        desired_.remove.push_back({pod, because(pod)});
        any = true;
      }
    }
    return any;
  }

  // Pods on their way out still count: their place is filled when they are gone.
  void scale(std::size_t position, std::int64_t want, std::vector<RayPod> pods) {
    const auto have = static_cast<std::int64_t>(pods.size());
    if (have < want) {
      desired_.create_workers[position] = static_cast<std::size_t>(want - have);
      return;
    }
    if (autoscales(observed_.cluster.spec)) {
      return;  // it names the workers that are idle
    }
    const std::int64_t leaving = std::ranges::count_if(pods, &RayPod::deleting);
    std::erase_if(pods, [](const RayPod& pod) { return pod.deleting; });
    const auto progress = [](const RayPod& pod) {
      return std::tuple(pod.running(), pod.ready == "True", std::string_view(pod.name));
    };
    std::ranges::sort(pods, {}, progress);
    for (std::int64_t i = 0; i < have - leaving - want; ++i) {
      desired_.remove.push_back(
          {pods[static_cast<std::size_t>(i)], "worker group has fewer replicas now"});
    }
  }

  void remove_strangers() {
    std::set<std::string> groups;
    for (const RayWorkerGroup& group : observed_.cluster.spec.worker_groups) {
      groups.insert(group.group_name);
    }
    std::vector<RayPod> strangers;
    std::ranges::copy_if(observed_.pods, std::back_inserter(strangers), [&](const RayPod& pod) {
      return pod.type == NodeType::worker && !groups.contains(pod.group);
    });
    remove_all(strangers, "worker group is no longer in the spec", desired_);
  }

  const Observed& observed_;
  Desired& desired_;
};

}  // namespace

std::string invalid(const RayCluster& cluster) {
  if (cluster.metadata.name.size() > kNameMax) {
    return "RayCluster name should be no more than 53 characters";
  }
  if (const auto wrong = model::check_dns1035_label(cluster.metadata.name); !wrong.empty()) {
    return "RayCluster name should be a valid DNS1035 label: " + wrong.front();
  }
  if (cluster.spec.head_group.pod_template.spec.containers.empty()) {
    return "headGroupSpec should have at least one container";
  }
  if (const std::string problem = invalid_authentication(cluster); !problem.empty()) {
    return problem;
  }
  if (const std::string problem = invalid_autoscaling(cluster.spec); !problem.empty()) {
    return problem;
  }
  std::set<std::string> names;
  for (const RayWorkerGroup& group : cluster.spec.worker_groups) {
    if (group.pod_template.spec.containers.empty()) {
      return "workerGroupSpec should have at least one container";
    }
    if (!names.insert(group.group_name).second) {
      return "worker group " + group.group_name + " is defined twice";
    }
  }
  return {};
}

std::vector<std::string> ignored_fields(const RayCluster& cluster) {
  std::vector<std::string> fields;
  if (cluster.spec.head_group.enable_ingress.value_or(false)) {
    fields.emplace_back("headGroupSpec.enableIngress");
  }
  for (std::string_view name : {"gcsFaultToleranceOptions"}) {
    if (!cluster.spec.extra.find(name).empty()) {
      fields.emplace_back(name);
    }
  }
  return fields;
}

Desired decide(const Observed& observed, WallTime now) {
  Desired desired;
  const RayCluster& cluster = observed.cluster;
  if (observed.handed_over) {
    Pods(observed, desired).remove_second_heads();
    return desired;
  }
  if (const std::string problem = invalid(cluster); !problem.empty()) {
    desired.events.push_back(
        {true, "InvalidRayClusterSpec",
         "The RayCluster spec is invalid " + cluster.metadata.key().to_string() + ": " + problem});
    return desired;
  }
  const bool first_look = cluster.status.observed_generation != cluster.metadata.generation;
  if (const auto fields = ignored_fields(cluster); first_look && !fields.empty()) {
    std::string list;
    for (const std::string& field : fields) {
      list += (list.empty() ? "spec." : ", spec.") + field;
    }
    desired.events.push_back(
        {true, "NotSupported", list + ": not supported by this controller, ignored"});
  }
  desired.create_service = !observed.head_service;
  Pods(observed, desired).manage();
  // Half of the status is about the service.
  if (observed.head_service) {
    model::RayClusterStatus status = status_of(observed, now);
    if (!(status == cluster.status)) {
      status.last_update_time = now;
      desired.status = std::move(status);
    }
  }
  return desired;
}

}  // namespace codeflare::controllers::raycluster
