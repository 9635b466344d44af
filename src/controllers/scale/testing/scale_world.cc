#include "controllers/scale/testing/scale_world.h"

#include "base/check.h"
#include "controllers/appwrapper/queue_controllers.h"
#include "controllers/crds/ensure_crds.h"
#include "controllers/pods_type.h"
#include "model/codec/machines.h"
#include "model/codec/node.h"
#include "model/codec/pod.h"
#include "model/custom_resource_definition.h"
#include "model/machine_type.h"
#include "queue/machines.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

namespace codeflare::controllers::scale::testing {

using controllers::testing::kAppWrappers;
using controllers::testing::kNodes;

namespace {

constexpr Duration kStep = std::chrono::milliseconds(100);
constexpr Patience kPatience{.timeout = std::chrono::minutes(1),
                             .down_after = std::chrono::seconds(10)};

}  // namespace

struct ScaleWorld::Process {
  Process(Env env, controllers::testing::Wire& wire, const Logger& logger)
      : client(env, wire, {.attempts_max = 2, .transport_attempts_max = 1}),
        manager(env, client, {.name = "codeflare", .logger = logger}),
        group(env.loop) {}
  kube::Client client;
  std::unique_ptr<Provider> provider;
  runtime::Manager manager;
  TaskGroup group;
};

ScaleWorld::ScaleWorld(Options options) : options_(std::move(options)), wire_(cluster_.service()) {
  CHECK(run(cluster_.env.loop, ensure_crds(cluster_.client, {}))->has_value());
  const model::ResourceType definitions = model::resource_type<model::CustomResourceDefinition>();
  for (const std::string& definition : options_.definitions) {
    create(definitions, "", definition);
  }
  cluster_.settle();
}

ScaleWorld::~ScaleWorld() {
  if (process_) {
    crash();
  }
}

Task<void> ScaleWorld::run_manager(runtime::Manager& manager) {
  static_cast<void>(co_await manager.run());
}

void ScaleWorld::start() {
  wire_.mend();
  begin();
}

void ScaleWorld::start_and_kill(std::uint64_t at_write, bool lost_reply) {
  wire_.mend();
  wire_.cut(at_write, lost_reply);
  begin();
}

void ScaleWorld::begin() {
  const Logger logger = cluster_.log.logger(cluster_.env.clock);
  process_ = std::make_unique<Process>(cluster_.env, wire_, logger);
  QueueControllersOptions options{.trim_caches = false, .logger = logger};
  options.queue.binds = queue::Binds::gangs;
  options.queue.user_check = false;
  const std::shared_ptr<QueueDriver> driver =
      add_queue_controllers(process_->manager, std::move(options));
  process_->provider = options_.make(process_->manager, *driver);
  ScaleOptions scale{.planner = {}, .patience = kPatience};
  scale.planner.logger = logger;
  add_scale_controllers(process_->manager, *driver, {{options_.provider, process_->provider.get()}},
                        std::move(scale));
  process_->group.spawn(run_manager(process_->manager));
  cluster_.settle();
}

void ScaleWorld::crash() {
  CHECK(run(cluster_.env.loop, process_->group.close()));
  process_.reset();
}

void ScaleWorld::follow(Duration time) {
  follow_until([] { return false; }, time);
}

bool ScaleWorld::follow_until(const std::function<bool()>& test, Duration time) {
  for (Duration passed{}; passed < time; passed += kStep) {
    if (test()) {
      return true;
    }
    if (options_.stand_in) {
      options_.stand_in();
    }
    cluster_.settle(kStep);
  }
  return test();
}

void ScaleWorld::add_type(const std::string& name, const std::string& spec) {
  create(
      model::resource_type<model::MachineType>(), "",
      R"({"apiVersion":"scale.codeflare.dev/v1alpha1","kind":"MachineType","metadata":{"name":")" +
          name + R"("},"spec":{"max":4,"provider":")" + options_.provider + R"(",)" + spec + "}}");
}

void ScaleWorld::submit(const std::string& name, int pods) {
  std::string items;
  for (int i = 0; i < pods; ++i) {
    items += (i == 0 ? "" : ",");
    items += R"({"generictemplate":{"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
             "-" + std::to_string(i) +
             R"("},"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":)"
             R"({"cpu":"6"}}}]}}})";
  }
  create(kAppWrappers, "default",
         R"({"apiVersion":"workload.codeflare.dev/v1beta1","kind":"AppWrapper","metadata":{)"
         R"("name":")" +
             name + R"("},"spec":{"resources":{"GenericItems":[)" + items + "]}}}");
}

kube::ObjectRef ScaleWorld::create(const model::ResourceType& type, const std::string& ns,
                                   std::string body) {
  auto made = *run(cluster_.env.loop, cluster_.client.create(type, ns, std::move(body)));
  EXPECT_TRUE(made) << made.error().to_string();
  return made ? *made : nullptr;
}

void ScaleWorld::patch(const model::ResourceType& type, const model::ObjectKey& key,
                       std::string body, std::string subresource) {
  auto done = *run(cluster_.env.loop,
                   cluster_.client.patch(type, key, kube::PatchKind::merge, std::move(body),
                                         {.subresource = std::move(subresource)}));
  EXPECT_TRUE(done) << done.error().to_string();
}

void ScaleWorld::remove(const model::ResourceType& type, const model::ObjectKey& key) {
  auto done =
      *run(cluster_.env.loop, cluster_.client.remove(type, key, {.grace_period_seconds = 0}));
  EXPECT_TRUE(done || done.error().code == ErrorCode::not_found) << done.error().to_string();
}

std::vector<kube::ObjectRef> ScaleWorld::list(const model::ResourceType& type) {
  auto found = *run(cluster_.env.loop, cluster_.client.list_all(type, {}));
  EXPECT_TRUE(found) << found.error().to_string();
  return found ? found->items : std::vector<kube::ObjectRef>();
}

kube::ObjectRef ScaleWorld::get(const model::ResourceType& type, const model::ObjectKey& key) {
  auto found = *run(cluster_.env.loop, cluster_.client.get(type, key));
  return found ? *found : nullptr;
}

void ScaleWorld::add_node(const std::string& name, const std::string& labels,
                          const std::string& cpus) {
  create(kNodes, "", R"({"metadata":{"name":")" + name + R"(","labels":{)" + labels + "}}}");
  const std::string amounts = R"({"cpu":")" + cpus + R"(","memory":"64Gi","pods":"110"})";
  patch(kNodes, {"", name},
        R"({"status":{"conditions":[{"type":"Ready","status":"True","reason":"r","message":"m"}],)"
        R"("allocatable":)" +
            amounts + R"(,"capacity":)" + amounts + "}}",
        "status");
  patch(kNodes, {"", name}, R"({"spec":{"taints":null}})");
}

std::vector<model::MachineRequest> ScaleWorld::requests() {
  std::vector<model::MachineRequest> all;
  for (const kube::ObjectRef& object : list(model::resource_type<model::MachineRequest>())) {
    all.push_back(*object->as<model::MachineRequest>());
  }
  return all;
}

std::string ScaleWorld::state() {
  std::string text;
  for (const model::MachineRequest& request : requests()) {
    text += (text.empty() ? "" : "\n") + request.status.phase + ": " + request.status.message;
  }
  return text;
}

std::vector<std::string> ScaleWorld::adopted() {
  std::vector<std::string> names;
  for (const kube::ObjectRef& node : list(kNodes)) {
    if (node->labels_json().contains(queue::kRequestLabel)) {
      names.emplace_back(node->name());
    }
  }
  return names;
}

std::vector<std::string> ScaleWorld::closed() {
  std::vector<std::string> names;
  for (const kube::ObjectRef& object : list(kNodes)) {
    const Result<model::Node> node = object->as<model::Node>();
    const bool pending = std::ranges::any_of(node->spec.taints, [](const model::Taint& taint) {
      return taint.key == queue::kPendingTaint;
    });
    if (pending || node->spec.unschedulable) {
      names.push_back(node->metadata.name);
    }
  }
  return names;
}

std::string ScaleWorld::places() {
  std::multiset<std::string> nodes;
  for (const kube::ObjectRef& pod : list(kPods)) {
    nodes.insert(pod->string_at({"spec", "nodeName"}));
  }
  std::string text;
  for (const std::string& node : nodes) {
    text += (text.empty() ? "" : " ") + node;
  }
  return text;
}

}  // namespace codeflare::controllers::scale::testing
