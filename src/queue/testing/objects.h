#pragma once

#include "base/check.h"
#include "model/app_wrapper.h"
#include "model/node.h"
#include "model/pod.h"
#include "model/quota_subtree.h"
#include "queue/marks.h"
#include "queue/queue.h"

#include <chrono>
#include <string>
#include <vector>

// API objects for tests of the queue.
namespace codeflare::queue::testing {

inline constexpr Time kNow = Time(std::chrono::seconds(1'700'000'000));

inline model::Quantity amount(const std::string& text) {
  auto parsed = model::Quantity::parse(text);
  CHECK(parsed.has_value());
  return *parsed;
}

inline model::ResourceList resources(const std::string& cpu, const std::string& memory = "",
                                     const std::string& gpus = "") {
  model::ResourceList list;
  if (!cpu.empty()) {
    list.set("cpu", amount(cpu));
  }
  if (!memory.empty()) {
    list.set("memory", amount(memory));
  }
  if (!gpus.empty()) {
    list.set("nvidia.com/gpu", amount(gpus));
  }
  return list;
}

inline model::Node node(const std::string& name, model::ResourceList allocatable) {
  model::Node node;
  node.metadata.name = name;
  if (allocatable.find("pods") == nullptr) {
    allocatable.set("pods", model::Quantity(110));
  }
  node.status.allocatable = std::move(allocatable);
  node.status.conditions.push_back({.type = "Ready", .status = "True"});
  return node;
}

// `replicas` pods of this size.
struct Pods {
  std::int32_t replicas = 1;
  model::ResourceList requests;
};

// An object of a kind that nobody knows, so that only the declared pods count. Its uid is
// "uid-<name>"; it was created at kNow plus `age` seconds and submitted by somebody.
inline model::AppWrapper wrapper(const std::string& name, const std::vector<Pods>& pods,
                                 int age = 0) {
  model::AppWrapper wrapper;
  wrapper.metadata.name = name;
  wrapper.metadata.ns = "team-a";
  wrapper.metadata.uid = "uid-" + name;
  wrapper.metadata.creation_timestamp = kNow + std::chrono::seconds(age);
  wrapper.metadata.annotations.emplace(kUserAnnotation, R"({"username":"ann"})");
  model::GenericItem item;
  item.generic_template.text =
      R"({"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":")" + name +
      R"(","namespace":"team-a"}})";
  for (const Pods& each : pods) {
    model::CustomPodResources declared;
    declared.replicas = each.replicas;
    declared.requests = each.requests;
    item.custom_pod_resources.push_back(std::move(declared));
  }
  wrapper.spec.resources.generic_items.push_back(std::move(item));
  return wrapper;
}

inline model::AppWrapper job(const std::string& name, int parallelism, int completions,
                             const std::string& cpu) {
  model::AppWrapper made = wrapper(name, {});
  made.spec.resources.generic_items[0].generic_template.text =
      R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":")" + name +
      R"("},"spec":{"parallelism":)" + std::to_string(parallelism) + R"(,"completions":)" +
      std::to_string(completions) +
      R"(,"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i",)"
      R"("resources":{"requests":{"cpu":")" +
      cpu + R"("}}}]}}}})";
  return made;
}

inline model::Pod pod(const std::string& name, model::ResourceList requests,
                      const std::string& node_name = "") {
  model::Pod pod;
  pod.metadata.name = name;
  pod.metadata.ns = "team-a";
  pod.metadata.uid = "uid-" + name;
  pod.metadata.creation_timestamp = kNow;
  model::Container container;
  container.name = "c";
  container.resources.requests = std::move(requests);
  pod.spec.containers.push_back(std::move(container));
  pod.spec.node_name = node_name;
  pod.spec.scheduler_name = "default-scheduler";
  pod.status.phase = "Pending";
  return pod;
}

inline model::Pod pod_of(const model::AppWrapper& owner, int pod_set, const std::string& name,
                         model::ResourceList requests, const std::string& node_name = "") {
  model::Pod made = pod(name, std::move(requests), node_name);
  made.metadata.ns = owner.metadata.ns;
  made.metadata.labels[std::string(kUidLabel)] = owner.metadata.uid;
  made.metadata.labels[std::string(kPodSetLabel)] = std::to_string(pod_set);
  made.spec.scheduler_name = kSchedulerName;
  return made;
}

// As the controller writes it when the queue has started it.
inline void record_start(model::AppWrapper& wrapper, const Standing& standing) {
  CHECK(standing.kind == Standing::Kind::started);
  wrapper.status.can_run = true;
  wrapper.status.state = "Running";
  wrapper.status.plan.emplace();
  wrapper.status.plan->places = standing.plan;
  wrapper.status.plan->started = model::MicroTime{*standing.since};
}

inline model::QuotaSubtree quota_subtree(const std::string& name, const std::string& tree,
                                         const std::string& parent) {
  model::QuotaSubtree subtree;
  subtree.metadata.name = name;
  subtree.metadata.ns = "quota";
  subtree.metadata.uid = "uid-" + name;
  subtree.metadata.creation_timestamp = kNow;
  if (!tree.empty()) {
    subtree.metadata.labels.emplace(model::kQuotaTreeLabel, tree);
  }
  subtree.spec.parent = parent;
  return subtree;
}

inline model::QuotaChild quota_child(const std::string& name, model::ResourceList requests,
                                     bool hard = false) {
  model::QuotaChild child;
  child.name = name;
  child.quotas.requests = std::move(requests);
  child.quotas.hard_limit = hard;
  return child;
}

// The free amount on the node, by resource.
inline sched::Amount free_on(Queue& queue, const std::string& node_name,
                             const std::string& resource = "cpu") {
  const auto id = queue.core().find_node(node_name);
  if (!id) {
    return -1;
  }
  for (const sched::Resource& each : queue.core().free(*id)) {
    if (each.name == resource) {
      return each.amount;
    }
  }
  return 0;
}

}  // namespace codeflare::queue::testing
