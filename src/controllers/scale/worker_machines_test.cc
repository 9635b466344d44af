#include "controllers/appwrapper/conditions.h"
#include "controllers/dispatch/testing/dispatch_world.h"
#include "controllers/scale/scale_controllers.h"
#include "model/codec/machines.h"
#include "model/codec/node.h"
#include "model/condition.h"
#include "model/machine_request.h"
#include "model/machine_type.h"
#include "model/resources.h"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

// A hub that knows which machines its workers can have.
namespace codeflare::controllers::scale {
namespace {

using dispatch::testing::DispatchWorld;
using dispatch::testing::kAppWrappers;
using dispatch::testing::kNodes;
using std::chrono::minutes;
using std::chrono::seconds;

const model::ResourceType kTypes = model::resource_type<model::MachineType>();
const model::ResourceType kRequests = model::resource_type<model::MachineRequest>();

// A cloud whose Nodes come when the test says so.
class Cloud final : public Provider {
 public:
  explicit Cloud(runtime::Manager& manager)
      : client_(manager.client()), nodes_(manager.cache().informer(kNodes)) {}

  Task<Result<void>> ask(std::vector<MachineOrder> orders) override {
    for (MachineOrder& order : orders) {
      asked_.insert_or_assign(order.name, std::move(order));
    }
    co_return Result<void>();
  }
  std::vector<MachineView> look(const std::vector<MachineOrder>& orders) const override {
    std::vector<MachineView> views;
    for (const MachineOrder& order : orders) {
      const kube::ObjectRef object = nodes_.store().get({"", order.name});
      MachineView view{.there = object != nullptr, .node = object == nullptr ? "" : order.name};
      if (object != nullptr) {
        const Result<model::Node> node = object->as<model::Node>();
        view.ready = node && model::is_condition_true(node->status.conditions, "Ready");
      }
      views.push_back(std::move(view));
    }
    return views;
  }
  Task<Result<bool>> give_back(MachineOrder order) override {
    const Result<kube::ObjectRef> removed = co_await client_.remove(kNodes, {"", order.name});
    if (!removed && removed.error().code != ErrorCode::not_found) {
      co_return fail(removed.error());
    }
    co_return true;
  }

  const std::map<std::string, MachineOrder>& asked() const { return asked_; }

 private:
  kube::Client& client_;
  runtime::Informer& nodes_;
  std::map<std::string, MachineOrder> asked_;
};

// As a fake kubelet takes it.
std::string node_json(const MachineOrder& order) {
  model::Node node;
  node.metadata.name = order.name;
  node.metadata.labels = order.labels;
  node.metadata.labels.insert_or_assign("codeflare.dev/fake-node", "true");
  node.spec.taints = order.taints;
  return model::to_json_text(node);
}

// Clusters with nodes of 4 CPUs; the hub has none. Workers have a cloud each.
struct World {
  std::map<std::string, std::unique_ptr<Cloud>> clouds;
  DispatchWorld world;

  explicit World(std::vector<std::string> workers) : world(workers, options()) {
    for (const std::string& name : workers) {
      world.manage(name);
    }
    world.settle(seconds(10));
  }
  DispatchWorld::Options options() {
    DispatchWorld::Options options{.hub_nodes = 0};
    options.equip_worker = [this](const std::string& name, runtime::Manager& manager,
                                  QueueDriver& driver) {
      clouds[name] = std::make_unique<Cloud>(manager);
      add_scale_controllers(manager, driver, {{"cloud", clouds[name].get()}},
                            {.patience = {.timeout = minutes(4), .down_after = seconds(20)}});
    };
    options.equip_hub = [](runtime::Manager& manager, QueueDriver& driver,
                           dispatch::ClusterLinks& links) {
      ScaleOptions scale;
      scale.planner.clusters = [&links] { return links.machines(); };
      add_scale_controllers(manager, driver, {}, std::move(scale));
    };
    return options;
  }

  void offer(const std::string& cluster, const std::string& cost, int max = 3) {
    world.worker(cluster).create(
        kTypes, R"({"metadata":{"name":"big"},"spec":{"provider":"cloud","capacity":{"cpu":"8"},)"
                R"("costPerHour":)" +
                    cost + R"(,"max":)" + std::to_string(max) + "}}");
    world.settle(seconds(5));
  }
  void deliver(const std::string& cluster) {
    for (const auto& [name, order] : clouds.at(cluster)->asked()) {
      dispatch::testing::Site& site = world.worker(cluster);
      if (site.get(kNodes, name) != nullptr) {
        continue;
      }
      site.create(kNodes, node_json(order));
      site.patch(kNodes, name,
                 R"({"status":{"allocatable":{"cpu":"8","pods":"110"},)"
                 R"("capacity":{"cpu":"8","pods":"110"}}})",
                 "status");
    }
    world.settle(seconds(10));
  }
  std::vector<model::MachineRequest> requests(const std::string& cluster) {
    std::vector<model::MachineRequest> all;
    for (const kube::ObjectRef& object : world.worker(cluster).list(kRequests)) {
      all.push_back(*object->as<model::MachineRequest>());
    }
    return all;
  }
  // "east 2": where machines were asked for, and how many.
  std::string asked() {
    std::string text;
    for (const auto& [name, cloud] : clouds) {
      std::int64_t machines = 0;
      for (const model::MachineRequest& request : requests(name)) {
        for (const model::MachineAmount& amount : request.spec.machines) {
          machines += amount.count;
        }
      }
      text +=
          machines == 0 ? "" : (text.empty() ? "" : " ") + name + " " + std::to_string(machines);
    }
    return text;
  }
  std::string queued(const std::string& name) {
    const std::optional<model::AppWrapper> wrapper = world.hub->wrapper(name);
    const model::AppWrapperCondition* queued =
        wrapper ? newest(wrapper->status, condition::kQueued) : nullptr;
    return queued == nullptr ? "" : queued->message;
  }
  std::string places(const std::string& name) {
    std::string text;
    const std::optional<model::AppWrapper> wrapper = world.hub->wrapper(name);
    for (const model::PlannedPlace& place :
         wrapper->status.plan ? wrapper->status.plan->places : model::List<model::PlannedPlace>()) {
      text += (text.empty() ? "" : " ") + place.node + "*" + std::to_string(place.count);
    }
    return text;
  }
};

TEST(WorkerMachines, work_that_fits_nowhere_goes_where_machines_for_all_of_it_cost_least) {
  World w({"east", "west"});
  w.offer("east", "5");
  w.offer("west", "2");
  w.world.hub->submit("a", 12, 60);
  w.world.settle(seconds(10));
  // Four of the pods fit on the node that is there.
  EXPECT_EQ(w.asked(), "west 1");
  EXPECT_EQ(w.places("a"), "west/codeflare-fake-0*4 west/new:big*8");
  const std::string message = w.world.hub->wrapper("a")->status.message;
  EXPECT_TRUE(message.starts_with("ScalingUp: cluster west asked for 1 machine of type big"))
      << message;
  // Machines take longer than the patience of the hub.
  w.world.settle(seconds(60));
  EXPECT_EQ(w.world.where("a"), "");
  EXPECT_EQ(w.world.worker("east").list(kAppWrappers).size(), 0u);
  w.deliver("west");
  EXPECT_EQ(w.world.where("a"), "west");
  EXPECT_EQ(w.world.hub->state("a"), "Running");
  EXPECT_FALSE(w.places("a").contains("new:")) << w.places("a");
  w.world.settle(minutes(3));
  EXPECT_EQ(w.world.hub->state("a"), "Completed");
  EXPECT_EQ(w.asked(), "");
  EXPECT_EQ(w.world.worker("west").list(kNodes).size(), 1u);
}

TEST(WorkerMachines, a_hub_that_restarts_meanwhile_leaves_the_work_there) {
  World w({"east"});
  w.offer("east", "5");
  w.world.hub->submit("a", 12, 60);
  w.world.settle(seconds(10));
  w.world.hub->kill();
  w.world.settle(seconds(20));
  w.world.hub->start();
  w.world.settle(seconds(60));
  EXPECT_EQ(w.places("a"), "east/codeflare-fake-0*4 east/new:big*8");
  w.deliver("east");
  EXPECT_EQ(w.world.where("a"), "east");
  EXPECT_EQ(w.world.hub->state("a"), "Running");
}

TEST(WorkerMachines, a_limit_of_the_worker_is_told_by_the_hub) {
  World w({"east"});
  w.offer("east", "1", 1);
  w.world.hub->submit("a", 20, 60);
  w.world.settle(seconds(40));
  EXPECT_EQ(w.asked(), "");
  EXPECT_EQ(w.world.worker("east").list(kAppWrappers).size(), 0u);
  EXPECT_TRUE(w.queued("a").contains(
      "needs 2 machines of type east/big, but MachineType east/big allows max 1 (0 in use)"))
      << w.queued("a");
}

TEST(WorkerMachines, that_do_not_come_let_the_work_try_elsewhere) {
  World w({"east", "west"});
  w.offer("east", "1");
  w.world.hub->submit("a", 6, 60);
  w.world.settle(seconds(20));
  EXPECT_EQ(w.asked(), "east 1");
  EXPECT_EQ(w.places("a"), "east/codeflare-fake-0*4 east/new:big*2");
  // The request fails after four minutes, and its cluster says so; half a minute later the hub
  // takes the copy back, and looks for room again.
  w.world.settle(minutes(6));
  EXPECT_EQ(w.places("a"), "");
  EXPECT_EQ(w.world.worker("east").list(kAppWrappers).size(), 0u);
  w.world.worker("west").add_nodes(2, 4);
  w.world.settle(seconds(20));
  EXPECT_EQ(w.world.where("a"), "west");
}

TEST(WorkerMachines, are_not_counted_twice_by_gangs_that_come_together) {
  World w({"east"});
  w.offer("east", "1", 2);
  for (const char* name : {"a", "b", "c"}) {
    w.world.hub->submit(name, 8, 60);
  }
  w.world.settle(seconds(20));
  EXPECT_EQ(w.asked(), "east 2");
  EXPECT_EQ(w.world.worker("east").list(kAppWrappers).size(), 2u);
  w.deliver("east");
  w.world.settle(minutes(8));
  for (const char* name : {"a", "b", "c"}) {
    EXPECT_EQ(w.world.hub->state(name), "Completed") << name << ": " << w.queued(name);
  }
}

TEST(WorkerMachines, take_no_time_from_the_dispatch_duration) {
  World w({"east"});
  w.offer("east", "1");
  w.world.hub->submit("a", 6, 20, "",
                      R"("schedulingSpec":{"dispatchDuration":{"expected":20,"limit":50}},)");
  w.world.settle(minutes(2));
  EXPECT_EQ(w.world.hub->state("a"), "Running");
  w.deliver("east");
  w.world.settle(minutes(1));
  EXPECT_EQ(w.world.hub->state("a"), "Completed");
}

TEST(WorkerMachines, of_a_worker_that_does_not_serve_them_are_no_obstacle) {
  World w({"east"});
  w.world.worker("east").remove({"apiextensions.k8s.io", "v1", "CustomResourceDefinition",
                                 "customresourcedefinitions", false},
                                "machinetypes.scale.codeflare.dev");
  w.world.settle(minutes(2));
  w.world.hub->submit("a", 4, 60);
  w.world.settle(seconds(10));
  EXPECT_EQ(w.world.where("a"), "east");
  w.world.hub->submit("b", 12, 60);
  w.world.settle(seconds(10));
  EXPECT_EQ(w.world.hub->state("b"), "Pending");
  EXPECT_EQ(w.places("b"), "");
}

}  // namespace
}  // namespace codeflare::controllers::scale
