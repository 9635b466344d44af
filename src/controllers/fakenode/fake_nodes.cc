#include "controllers/fakenode/fake_nodes.h"

#include "base/async/task_group.h"
#include "controllers/fakenode/node_table.h"
#include "controllers/pods_type.h"
#include "kube/typed.h"
#include "model/codec/meta.h"
#include "model/codec/node.h"
#include "model/codec/pod.h"
#include "model/condition.h"
#include "model/resources.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>
#include <vector>

namespace codeflare::controllers::fakenode {

namespace {

using model::Condition;
using model::Node;
using runtime::Action;
using runtime::Plan;

const runtime::ResourceType kNodes = model::resource_type<Node>();

constexpr std::string_view kNotReadyTaint = "node.kubernetes.io/not-ready";
constexpr int kPodWorkers = 64;
constexpr std::size_t kRegistrars = 16;

std::string name_of(std::size_t index) {
  return std::string(kFakeNamePrefix) + std::to_string(index);
}

std::string address_of(std::size_t index) {
  return "10.245." + std::to_string(index / 254 % 256) + "." + std::to_string(index % 254 + 1);
}

struct Health {
  std::string_view type;
  bool holds;
  std::string_view reason;
  std::string_view message;
};

std::vector<Health> health(bool ready) {
  return {
      {"MemoryPressure", false, "KubeletHasSufficientMemory", "fake node has sufficient memory"},
      {"DiskPressure", false, "KubeletHasNoDiskPressure", "fake node has no disk pressure"},
      {"PIDPressure", false, "KubeletHasSufficientPID", "fake node has sufficient PIDs"},
      ready ? Health{"Ready", true, "KubeletReady", "pods on this node only pretend to run"}
            : Health{"Ready", false, "KubeletNotReady", "set by annotation codeflare.dev/ready"},
  };
}

void set_health(Node& node, bool ready, WallTime now) {
  for (const Health& one : health(ready)) {
    Condition* known = model::find_condition(node.status.conditions, one.type);
    const std::string_view status = one.holds ? "True" : "False";
    if (known != nullptr && known->status == status && known->reason == one.reason &&
        known->message == one.message) {
      continue;
    }
    const Condition wanted{.type = std::string(one.type),
                           .status = std::string(status),
                           .reason = std::string(one.reason),
                           .message = std::string(one.message),
                           .last_heartbeat_time = now};
    model::set_condition(node.status.conditions, wanted, now);
  }
}

void set_taints(Node& node, bool ready, WallTime now) {
  if (ready) {
    std::erase_if(node.spec.taints,
                  [](const model::Taint& taint) { return taint.key == kNotReadyTaint; });
    return;
  }
  for (std::string_view effect : {"NoSchedule", "NoExecute"}) {
    const bool there = std::ranges::any_of(node.spec.taints, [&](const model::Taint& taint) {
      return taint.key == kNotReadyTaint && taint.effect == effect;
    });
    if (!there) {
      node.spec.taints.push_back({.key = std::string(kNotReadyTaint),
                                  .effect = std::string(effect),
                                  .time_added = std::chrono::floor<std::chrono::seconds>(now)});
    }
  }
}

std::optional<std::size_t> index_of(std::string_view name) {
  if (!name.starts_with(kFakeNamePrefix)) {
    return std::nullopt;
  }
  name.remove_prefix(kFakeNamePrefix.size());
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), index);
  return error == std::errc() && end == name.data() + name.size() ? std::optional(index)
                                                                  : std::nullopt;
}

template <typename T>
std::string list_text(const std::vector<T>& items) {
  std::string text = "[";
  for (const T& item : items) {
    text += (text.size() > 1 ? "," : "") + model::to_json_text(item);
  }
  return text + "]";
}

bool same_size(const Node& a, const Node& b) {
  return a.status.capacity == b.status.capacity && a.status.allocatable == b.status.allocatable;
}

bool same_labels(const Node& a, const Node& b) {
  return a.metadata.labels == b.metadata.labels && a.metadata.annotations == b.metadata.annotations;
}

// Registrations, shared by the tasks that carry them out.
struct Registration {
  kube::Client& client;
  FakeNodeOptions options;
  std::map<std::string, Node> known;
  std::size_t next = 0;
  Result<void> outcome{};
};

Task<Result<void>> register_one(Registration& work, std::size_t index) {
  kube::Api<Node> nodes(work.client);
  Node wanted = fake_node(index, work.options);
  auto found = work.known.find(wanted.metadata.name);
  Node node;
  if (found != work.known.end()) {
    node = found->second;
  } else {
    CO_TRY_ASSIGN(node, co_await nodes.create(wanted));
  }
  Node renewed = node;
  model::renew_extras(renewed, wanted);
  if (!same_labels(node, renewed)) {
    Node labelled = node;
    labelled.metadata = renewed.metadata;
    CO_TRY_ASSIGN(node, co_await nodes.update(std::move(labelled)));
  }
  if (same_size(node, renewed) && !node.status.addresses.empty()) {
    co_return Result<void>();
  }
  node.status.capacity = renewed.status.capacity;
  node.status.allocatable = renewed.status.allocatable;
  node.status.addresses = wanted.status.addresses;
  node.status.node_info = wanted.status.node_info;
  CO_TRY(co_await nodes.update_status(std::move(node)));
  co_return Result<void>();
}

Task<void> registrar(Registration& work) {
  while (work.next < work.options.count && work.outcome) {
    Result<void> done = co_await register_one(work, work.next++);
    if (!done) {
      work.outcome = std::move(done);
    }
  }
}

}  // namespace

Node fake_node(std::size_t index, const FakeNodeOptions& options) {
  Node node;
  node.metadata.name = name_of(index);
  node.metadata.labels = {{"beta.kubernetes.io/arch", "amd64"},
                          {"beta.kubernetes.io/os", "linux"},
                          {std::string(kFakeLabel), "true"},
                          {"kubernetes.io/arch", "amd64"},
                          {"kubernetes.io/hostname", node.metadata.name},
                          {"kubernetes.io/os", "linux"}};
  model::ResourceList& capacity = node.status.capacity;
  capacity.set("cpu", options.cpus);
  capacity.set("memory", options.memory);
  capacity.set("pods", model::Quantity(options.pods));
  if (!options.gpus.is_zero()) {
    capacity.set(model::kGpuResource, options.gpus);
  }
  node.status.allocatable = capacity;
  model::add_extras(node, options.extras);
  node.status.addresses = {{.type = "InternalIP", .address = address_of(index)},
                           {.type = "Hostname", .address = node.metadata.name}};
  model::NodeSystemInfo& info = node.status.node_info.emplace();
  info.kubelet_version = "fake";
  info.container_runtime_version = "fake://0";
  info.os_image = "none";
  info.operating_system = "linux";
  info.architecture = "amd64";
  return node;
}

Task<Result<void>> register_fake_nodes(kube::Client& client, FakeNodeOptions options) {
  kube::Api<Node> nodes(client);
  kube::ListOptions fake{.label_selector = std::string(kFakeLabel) + "=true"};
  CO_TRY_ASSIGN(kube::Api<Node>::List list, co_await nodes.list(std::move(fake)));
  Registration work{.client = client, .options = options, .known = {}};
  for (Node& node : list.items) {
    const auto index = index_of(node.metadata.name);
    if (index && *index >= options.count) {
      CO_TRY(co_await nodes.remove(node.metadata.name));
    } else {
      std::string name = node.metadata.name;
      work.known.emplace(std::move(name), std::move(node));
    }
  }
  const TaskContext& context = co_await current_context();
  TaskGroup group(*context.loop, context.stop);
  for (std::size_t i = 0; i < std::min(kRegistrars, options.count); ++i) {
    group.spawn(registrar(work));
  }
  co_await group.join();
  co_return work.outcome;
}

FakeNodeKeeper::FakeNodeKeeper(const runtime::ControllerContext& context)
    : StoryReconciler(context.env, context.actor), nodes_(context.subject.store()) {}

std::optional<Node> FakeNodeKeeper::observe(const runtime::ObjectKey& key) const {
  const runtime::ObjectRef object = nodes_.get(key);
  if (object == nullptr || object->deleting()) {
    return std::nullopt;
  }
  Result<Node> node = object->as<Node>();
  return node && is_fake(*node) ? std::optional(*std::move(node)) : std::nullopt;
}

Node FakeNodeKeeper::desired(const Node& observed, WallTime now) const {
  Node node = observed;
  const bool ready = wanted_ready(observed);
  set_health(node, ready, now);
  set_taints(node, ready, now);
  return node;
}

Plan FakeNodeKeeper::diff(const Node& observed, const Node& desired) const {
  Plan plan;
  const auto patch = [&](std::string body, std::string why, std::string subresource) {
    plan.actions.push_back({.verb = Action::Verb::patch,
                            .type = kNodes,
                            .key = observed.metadata.key(),
                            .body = std::move(body),
                            .why = std::move(why),
                            .write = {.subresource = std::move(subresource)}});
  };
  if (!(observed.spec.taints == desired.spec.taints)) {
    patch(R"({"spec":{"taints":)" + list_text(desired.spec.taints) + "}}",
          "taints follow readiness", "");
  }
  if (!(observed.status.conditions == desired.status.conditions)) {
    patch(R"({"status":{"conditions":)" + list_text(desired.status.conditions) + "}}",
          "conditions follow readiness", "status");
  }
  return plan;
}

FakeNodeControllers add_fake_node_controllers(runtime::Manager& manager) {
  FakeNodeKeeper& keeper =
      manager.controller("fake-nodes").reconciles(kNodes).with<FakeNodeKeeper>();
  auto ledger = std::make_shared<FakeNodePods>();
  const auto pods_of_node = [ledger](const kube::Object& node,
                                     std::vector<model::ObjectKey>& keys) {
    const std::set<model::ObjectKey>& pods = ledger->pods_on(node.name());
    keys.insert(keys.end(), pods.begin(), pods.end());
  };
  FakeKubelet& kubelet = manager.controller("fake-kubelet")
                             .reconciles(kPods)
                             .watches(kNodes, pods_of_node)
                             .workers(kPodWorkers)
                             .with<FakeKubelet>(ledger);
  return {keeper, kubelet};
}

}  // namespace codeflare::controllers::fakenode
